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
  private func first() throws -> Node {
    let people = [alice, bob, carol].map { person in
      (person, Person(name: person.text, role: .admin, added: time, key: nil, encryptTo: [person]))
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

  /// Follows some policies from the first one, on a branch that also has others.
  private func follow(
    _ way: [Node], after first: Node, leavingOut others: [Node],
    _ engines: ((KeyFiles) -> EngineDouble)? = nil
  ) throws -> Policy {
    let engine = engine
    return try PolicyChain(engines: engines ?? { _ in engine }).followBranch(
      way.map(\.step), from: first.link, in: HistoricalPolicies(([first] + way + others).map(\.step))
    ).policy
  }

  @Test func `a policy that its own admins have left out changes nothing`() throws {
    let first = try first()
    let (ours, theirs) = (
      try next(first, by: alice, .create(group: "a")), try next(first, by: bob, .create(group: "b"))
    )
    let merged = try next(ours, by: bob, .create(group: "b"))
    #expect(try follow([ours, merged], after: first, leavingOut: [theirs]) == merged.link.policy)
  }

  @Test func `an admin who was added after a fork may sign`() throws {
    let first = try first()
    let left = try next(first, by: bob, .create(group: "b"))
    let ours = try next(first, by: alice, .create(group: "a"))
    let wider = try next(
      ours, by: bob, adding(eve, "Eve"))
    let last = try next(wider, by: eve, .create(group: "e"))
    #expect(try follow([ours, wider, last], after: first, leavingOut: [left]) == last.link.policy)
  }

  @Test func `a person does not leave out the policy that has removed them`() throws {
    let first = try first()
    let removal = try next(first, by: alice, .remove(carol))
    let fork = try next(first, by: carol, .create(group: "c"))
    let later = try next(fork, by: bob, .create(group: "b"))
    for way in [[fork], [fork, later]] {
      let error = KeyringError.policyNotTrusted(.leavesOut(generation: 1 + way.count, other: 2))
      #expect(throws: error) { try follow(way, after: first, leavingOut: [removal]) }
    }
    // The removal itself, and what follows it, leaves out the policy of the removed person.
    let newer = try next(removal, by: alice, .create(group: "a"))
    #expect(
      try follow([removal, newer], after: first, leavingOut: [fork, later]) == newer.link.policy)
  }

  @Test func `the newest policy of a line decides, and not one before it`() throws {
    let first = try first()
    let removal = try next(first, by: alice, .remove(carol))
    let readded = try next(
      removal, by: alice, adding(carol, "Carol"))
    let fork = try next(first, by: carol, .create(group: "c"))
    #expect(try follow([fork], after: first, leavingOut: [removal, readded]) == fork.link.policy)
  }

  @Test func `a signature by a key that the policy left out has revoked is not enough`() throws {
    let first = try first()
    let revoked = Array("revoked".utf8)
    let left = try next(
      first, by: alice, .key(bob, ContentDigest(of: revoked)), keys: [bob: revoked])
    let fork = try next(first, by: bob, .create(group: "b"))
    let (good, bad) = (engine, EngineDouble(readers: []))
    bad.hasRevokedKeys = true
    #expect(throws: KeyringError.policyNotTrusted(.leavesOut(generation: 2, other: 2))) {
      // The key file of the policy that was left out is asked about Bob's signature alone.
      try follow([fork], after: first, leavingOut: [left]) { $0 == [bob: revoked] ? bad : good }
    }
    #expect(try follow([fork], after: first, leavingOut: []) == fork.link.policy)
  }

  @Test func `a policy that no admin has signed can be left out`() throws {
    let first = try first()
    let unsigned = try next(first, by: eve, .remove(alice))
    let next = try next(first, by: alice, .create(group: "a"))
    #expect(try follow([next], after: first, leavingOut: [unsigned]) == next.link.policy)
  }

  @Test func `the newest policy is the last of the only line, and two lines are refused`() throws {
    let first = try first()
    let (one, two) = (
      try next(first, by: alice, .create(group: "a")), try next(first, by: bob, .create(group: "b"))
    )
    let last = try next(one, by: bob, .create(group: "c"))
    let engine = engine
    let chain = PolicyChain { _ in engine }
    let past = HistoricalPolicies([first, one, last].map(\.step))
    #expect(try chain.newest(after: first.link, in: past)?.link == last.link)
    #expect(try chain.newest(after: last.link, in: past) == nil)
    #expect(throws: KeyringError.policyNotTrusted(.restored(generation: 1, newer: 3))) {
      try chain.newest(after: first.link, in: HistoricalPolicies([first, one, last, two].map(\.step)))
    }
  }
}
