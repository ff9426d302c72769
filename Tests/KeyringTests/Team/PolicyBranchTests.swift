import Encoding
import KeyringModel
import OpenPGP
import TestSupport
import Testing

@testable import Keyring

/// Tests which policies a branch may leave out.
@Suite struct PolicyBranchTests {
  private let alice = EngineDouble.fingerprint(1)
  private let bob = EngineDouble.fingerprint(2)
  private let carol = EngineDouble.fingerprint(3)
  private let eve = EngineDouble.fingerprint(4)
  private let time = Timestamp(microseconds: 0)
  private let engine = EngineDouble(readers: [])

  /// A policy of the branch, and the step to it.
  private struct Node {
    let link: PolicyChain.Link
    let step: PolicyStep
  }

  private func files(_ people: some Sequence<Fingerprint>) -> KeyFiles {
    KeyFiles(uniqueKeysWithValues: people.map { ($0, Array($0.text.utf8)) })
  }

  /// The first policy, whose admins are Alice, Bob and Carol.
  private func first(members: [Fingerprint] = []) throws -> Node {
    let people = ([alice, bob, carol] + members).map { person in
      (
        person,
        Person(
          name: person.text, role: members.contains(person) ? .member : .admin, added: time, key: nil,
          encryptTo: [person])
      )
    }
    let policy = Policy(
      keyring: try #require(KeyringID(hex: String(repeating: "0", count: 32))), generation: 1,
      previous: nil, people: Dictionary(uniqueKeysWithValues: people),
      groups: ["default": people.map(\.0).sorted()])
    return try node(policy, signedBy: alice)
  }

  private func node(_ policy: Policy, signedBy signer: Fingerprint, _ keys: KeyFiles = [:]) throws -> Node {
    let bytes = policy.encode()
    let keys = files(policy.people.filter { $0.value.removed == nil }.keys).merging(keys) { $1 }
    return Node(
      link: PolicyChain.Link(policy: policy, digest: ContentDigest(of: bytes), keys: keys),
      step: PolicyStep(
        bytes: bytes, signature: try engine.signDetached(bytes, signer: signer), keys: keys))
  }

  private func next(
    _ node: Node, by signer: Fingerprint, _ edits: PolicyEdit..., keys: KeyFiles = [:]
  ) throws -> Node {
    let policy = try node.link.policy.successor(by: edits, previous: node.link.digest, at: time)
    return try self.node(policy, signedBy: signer, keys)
  }

  private func adding(_ person: Fingerprint, _ name: String) -> PolicyEdit {
    .add(
      person, name: name, role: .admin, key: ContentDigest(of: Array(person.text.utf8)), encryptTo: [person])
  }

  /// Returns the newest policy of a branch after the first one.
  private func newest(
    after first: Node, of others: [Node], _ engines: ((KeyFiles) -> EngineDouble)? = nil
  ) throws -> Policy? {
    let engine = engine
    return try PolicyChain(engines: engines ?? { _ in engine }).newest(
      after: first.link, in: HistoricalPolicies(([first] + others).map(\.step)))?.link.policy
  }

  @Test func `the side that a merge has kept is the newest policy`() throws {
    let first = try first()
    #expect(try newest(after: first, of: []) == nil)
    let (ours, theirs) = (
      try next(first, by: alice, .create(group: "a")), try next(first, by: bob, .create(group: "b"))
    )
    let merged = try next(ours, by: bob, .create(group: "b"))
    #expect(try newest(after: first, of: [ours, theirs, merged]) == merged.link.policy)
    #expect(try newest(after: ours, of: [first, theirs, merged]) == merged.link.policy)
    #expect(try newest(after: theirs, of: [first, ours, merged]) == nil)
  }

  @Test func `two sides of the same generation are refused`() throws {
    let first = try first()
    let sides = [
      try next(first, by: alice, .create(group: "a")), try next(first, by: bob, .create(group: "b")),
    ]
    #expect(throws: KeyringError.policyNotTrusted(.contradictory(generation: 2, other: 2))) {
      try newest(after: first, of: sides)
    }
  }

  @Test(arguments: [false, true])
  func `a person who was made an admin on the side that is kept may sign`(isMember: Bool) throws {
    let first = try first(members: isMember ? [eve] : [])
    let left = try next(first, by: bob, .create(group: "b"))
    let ours = try next(first, by: alice, .create(group: "a"))
    let wider = try next(ours, by: bob, isMember ? .role(eve, .admin) : adding(eve, "Eve"))
    let last = try next(wider, by: eve, .create(group: "e"))
    #expect(try newest(after: first, of: [left, ours, wider, last]) == last.link.policy)
  }

  @Test func `a person does not leave out the policy that has removed them`() throws {
    let first = try first()
    let removal = try next(first, by: alice, .remove(carol))
    let fork = try next(first, by: carol, .create(group: "c"))
    let later = try next(fork, by: bob, .create(group: "b"))
    #expect(try newest(after: first, of: [removal, fork]) == removal.link.policy)
    #expect(try newest(after: first, of: [removal, fork, later]) == removal.link.policy)
    // Two people who have removed each other.
    let mutual = try next(first, by: carol, .remove(alice))
    #expect(throws: KeyringError.policyNotTrusted(.contradictory(generation: 2, other: 2))) {
      try newest(after: first, of: [removal, mutual])
    }
  }

  @Test(arguments: [false, true])
  func `both sides have replaced a key, and its owner has signed one of them with the new key`(
    isSignedWithNew: Bool
  ) throws {
    let first = try first()
    let replacement = PolicyEdit.replace(carol, by: eve)
    let added = try next(first, by: carol, adding(eve, "Eve"))
    let left = try next(added, by: eve, replacement)
    let other = try next(first, by: bob, .create(group: "b"))
    let kept = try next(other, by: carol, adding(eve, "Eve"))
    let second = try next(kept, by: isSignedWithNew ? eve : carol, replacement)
    let third = try next(second, by: isSignedWithNew ? eve : bob, .create(group: "c"))
    let sides = [added, left, other, kept, second, third]
    // The old key may be used by a person who should not have it.
    #expect(
      try newest(after: first, of: sides) == (isSignedWithNew ? third.link.policy : left.link.policy))
  }

  @Test(arguments: [false, true])
  func `a second signature by a removed person does not take a step from its signer`(isFirst: Bool) throws {
    let first = try first()
    let left = try next(first, by: alice, .remove(carol))
    let step = try next(first, by: bob, .create(group: "b"))
    let kept = try next(step, by: alice, .remove(carol))
    let last = try next(kept, by: bob, .create(group: "c"))
    let copy = try node(step.link.policy, signedBy: carol)
    #expect(copy.link.digest == step.link.digest)
    let order = isFirst ? [copy, left, step, kept, last] : [left, step, kept, last, copy]
    #expect(try newest(after: first, of: order) == last.link.policy)
  }

  @Test(arguments: 0..<4)
  func `a key that has replaced another one on both sides may change later`(change: Int) throws {
    let first = try first()
    let replacement = PolicyEdit.replace(carol, by: eve, isCompromised: change == 3)
    let left = try next(try next(first, by: carol, adding(eve, "Eve")), by: eve, replacement)
    let added = try next(first, by: carol, adding(eve, "Eve"))
    let other = try next(first, by: bob, .create(group: "b"))
    let kept = try next(other, by: carol, adding(eve, "Eve"))
    let second = try next(kept, by: eve, replacement)
    let renewed = Array("renewed".utf8)
    let third: Node
    switch change {
    case 0:
      third = try next(second, by: eve, .key(eve, ContentDigest(of: renewed)), keys: [eve: renewed])
    case 1: third = try next(second, by: bob, .remove(eve))
    case 2:
      let dave = EngineDouble.fingerprint(5)
      let more = try next(second, by: eve, adding(dave, "Dave"))
      third = try next(more, by: dave, .replace(eve, by: dave))
      #expect(
        try newest(after: first, of: [added, left, other, kept, second, more, third]) == third.link.policy)
    default: third = try next(second, by: bob, .create(group: "c"))
    }
    if change == 2 { return }
    #expect(try newest(after: first, of: [added, left, other, kept, second, third]) == third.link.policy)
  }

  @Test func `the last policy of a side decides, and not one before it`() throws {
    let first = try first()
    let removal = try next(first, by: alice, .remove(carol))
    let readded = try next(removal, by: alice, adding(carol, "Carol"))
    let fork = try next(first, by: carol, .create(group: "c"))
    let second = try next(fork, by: carol, .create(group: "d"))
    let third = try next(second, by: carol, .create(group: "e"))
    #expect(
      try newest(after: first, of: [removal, readded, fork, second, third]) == third.link.policy)
  }

  @Test func `a signature by a key that the other side has revoked is not enough`() throws {
    let first = try first()
    let revoked = Array("revoked".utf8)
    let left = try next(
      first, by: alice, .key(bob, ContentDigest(of: revoked)), keys: [bob: revoked])
    let fork = try next(first, by: bob, .create(group: "b"))
    let second = try next(fork, by: bob, .create(group: "c"))
    let (good, bad) = (engine, EngineDouble(readers: []))
    bad.hasRevokedKeys = true
    // The key file of the other side is asked about Bob's signature alone.
    let found = try newest(after: first, of: [left, fork, second]) { $0 == [bob: revoked] ? bad : good }
    #expect(found == left.link.policy)
    #expect(try newest(after: first, of: [fork, second]) == second.link.policy)
  }

  @Test func `a policy that no admin has signed is no side`() throws {
    let first = try first()
    let unsigned = try next(first, by: eve, .remove(alice))
    let last = try next(first, by: alice, .create(group: "a"))
    #expect(try newest(after: first, of: [unsigned, last]) == last.link.policy)
  }
}
