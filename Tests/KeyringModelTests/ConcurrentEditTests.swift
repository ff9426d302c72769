import Encoding
import Testing

@testable import KeyringModel

/// Tests that edits of people apply to a policy that was changed concurrently.
@Suite struct ConcurrentEditTests {
  private let alice = ConcurrentEditTests.person("A")
  private let bob = ConcurrentEditTests.person("B")
  private let carol = ConcurrentEditTests.person("C")
  private let new = ConcurrentEditTests.person("D")
  private let base: Policy

  private static func person(_ letter: Character) -> Fingerprint {
    guard let fingerprint = Fingerprint(String(repeating: letter, count: 40)) else { preconditionFailure() }
    return fingerprint
  }

  init() throws {
    let admin = alice
    let people = [alice, bob, carol].map { person in
      (
        person,
        Person(
          name: person.text, role: person == admin ? .admin : .member, added: Timestamp(microseconds: 0),
          key: ContentDigest(of: [0]), encryptTo: [person])
      )
    }
    base = Policy(
      keyring: try #require(KeyringID(hex: String(repeating: "0", count: 32))), generation: 1,
      previous: nil, people: Dictionary(uniqueKeysWithValues: people),
      groups: ["default": [alice, bob, carol], "ops": [alice]])
  }

  private func next(_ edits: [PolicyEdit], after policy: Policy? = nil) throws -> Policy {
    try (policy ?? base).successor(by: edits, previous: ContentDigest(of: []), at: .latest)
  }

  private func adding(_ person: Fingerprint, _ role: Person.Role = .member) -> PolicyEdit {
    .add(person, name: "New", role: role, key: ContentDigest(of: [1]), encryptTo: [person])
  }

  private func replacement(of person: Fingerprint) -> [PolicyEdit] {
    [adding(new), .join(new, group: "default"), .replace(person, by: new)]
  }

  /// Returns the policy that results from the edits of both sides, and the removed people because of whom some were left out.
  private func merge(
    _ ours: [PolicyEdit], onto theirs: [PolicyEdit]
  ) throws -> (policy: Policy, removed: [Fingerprint]) {
    let policy = try next(theirs)
    let adapted = ConcurrentEdits(of: try next(ours), to: policy, since: base)
    return (try next(adapted.edits, after: policy), adapted.removed)
  }

  @Test func `edits of a person whose key was replaced apply to the new key`() throws {
    let theirs = replacement(of: carol)
    let joined = try merge([.join(carol, group: "ops")], onto: theirs)
    #expect(joined.policy.groups["ops"] == [alice, new] && joined.removed == [])
    let promoted = try merge([.role(carol, .admin)], onto: theirs)
    #expect(promoted.policy.admins == [alice, new] && promoted.policy.people[carol]?.role == .member)
    let left = try merge([.leave(carol, group: "default")], onto: theirs)
    #expect(left.policy.groups["default"] == [alice, bob] && left.policy.isMember(new))
    // A new file of the old key is not needed any more.
    let renewed = try merge([.key(carol, ContentDigest(of: [2])), .name(carol, "C")], onto: theirs)
    #expect(try renewed.policy.people == next(theirs).people && renewed.removed == [])
  }

  @Test func `a person is removed although their key was replaced`() throws {
    let merged = try merge([.remove(carol)], onto: replacement(of: carol))
    #expect(!merged.policy.isMember(carol) && !merged.policy.isMember(new))
    #expect(merged.policy.groups["default"] == [alice, bob] && merged.removed == [])
  }

  @Test func `a removed person does not return with a key that replaces theirs`() throws {
    for removal in [[PolicyEdit.remove(carol)], [.replace(carol, by: bob), .remove(bob)]] {
      let merged = try merge(replacement(of: carol) + [.join(new, group: "ops")], onto: removal)
      #expect(merged.policy.people[new] == nil && merged.removed == [carol])
      #expect(try merged.policy.groups == next(removal).groups)
    }
    // The same for the key of another member.
    let merged = try merge([.join(bob, group: "ops"), .replace(carol, by: bob)], onto: [.remove(carol)])
    #expect(merged.policy.groups["ops"] == [alice, bob] && merged.removed == [carol])
  }

  @Test func `changes of a removed person are left out, and the others are applied`() throws {
    let ours: [PolicyEdit] = [
      .join(carol, group: "ops"), .role(carol, .admin), .key(carol, ContentDigest(of: [2])),
      .create(group: "web"), .join(bob, group: "ops"),
    ]
    let merged = try merge(ours, onto: [.remove(carol)])
    #expect(merged.policy.groups == ["default": [alice, bob], "ops": [alice, bob], "web": []])
    #expect(merged.policy.people[carol]?.role == .member && merged.removed == [carol])
  }

  @Test func `both sides may replace a key by the same one or by different ones`() throws {
    let same = try merge(replacement(of: carol), onto: replacement(of: carol))
    #expect(same.policy.groups["default"] == [alice, bob, new] && same.removed == [])
    let other = Self.person("E")
    let theirs: [PolicyEdit] = [adding(other), .join(other, group: "default"), .replace(carol, by: other)]
    let both = try merge(replacement(of: carol), onto: theirs)
    #expect(both.policy.groups["default"] == [alice, bob, new, other] && both.removed == [])
    #expect(both.policy.newestKey(of: carol) == other)
  }

  @Test func `a person who is added again on one side keeps the groups of that side`() throws {
    let base = try next([.remove(carol)])
    let ours = try next([adding(carol), .join(carol, group: "ops")], after: base)
    let theirs = try next([.create(group: "web")], after: base)
    let adapted = ConcurrentEdits(of: ours, to: theirs, since: base)
    #expect(try next(adapted.edits, after: theirs).groups["ops"] == [alice, carol] && adapted.removed == [])
  }

  @Test func `a compromised key is replaced like any other`() throws {
    let theirs: [PolicyEdit] = [
      adding(new), .join(new, group: "default"), .replace(carol, by: new, isCompromised: true),
    ]
    let removed = try merge([.remove(carol)], onto: theirs)
    #expect(!removed.policy.isMember(new) && removed.policy.people[carol]?.isCompromised == true)
    let back = try merge(theirs, onto: [.remove(carol)])
    #expect(back.policy.people[new] == nil && back.removed == [carol])
    #expect(try merge(theirs, onto: [.create(group: "web")]).policy.people[carol]?.isCompromised == true)
  }

  @Test func `a person whom the other side has added and removed does not return`() throws {
    let ours: [PolicyEdit] = [adding(new), .join(new, group: "ops")]
    let theirs = try next([.remove(new)], after: next(ours))
    let adapted = ConcurrentEdits(of: try next(ours), to: theirs, since: base)
    #expect(adapted.edits == [] && adapted.removed == [new])
  }

  @Test func `a key that the other side has replaced does not return`() throws {
    let other = Self.person("E")
    let theirs = try next(
      [adding(other), .join(other, group: "default"), .replace(new, by: other)],
      after: next(replacement(of: carol)))
    let adapted = ConcurrentEdits(of: try next(replacement(of: carol)), to: theirs, since: base)
    let merged = try next(adapted.edits, after: theirs)
    #expect(
      !merged.isMember(new) && merged.groups["default"] == [alice, bob, other] && adapted.removed == [])
  }

  @Test func `a removal does not move to a member whose key replaces that of the person`() throws {
    let merged = try merge([.remove(carol)], onto: [.replace(carol, by: bob)])
    #expect(merged.policy.isMember(bob) && !merged.policy.isMember(carol))
  }

  @Test func `a person whose new key the other side has removed keeps the old one`() throws {
    let merged = try merge([.replace(carol, by: bob)], onto: [.remove(bob)])
    #expect(merged.policy.isMember(carol) && !merged.policy.isMember(bob) && merged.removed == [bob])
  }

  @Test func `a group that one side has deleted stays if the other one has changed its members`() throws {
    let grown: [PolicyEdit] = [.join(carol, group: "ops")]
    let ours = ConcurrentEdits(of: try next(grown), to: try next([.delete(group: "ops")]), since: base)
    #expect(try next(ours.edits, after: next([.delete(group: "ops")])).groups["ops"] == [alice, carol])
    #expect(ours.keptGroups == ["ops"])
    let theirs = ConcurrentEdits(of: try next([.delete(group: "ops")]), to: try next(grown), since: base)
    #expect(theirs.edits == [] && theirs.keptGroups == ["ops"])
    #expect(try merge([.delete(group: "ops")], onto: [.create(group: "web")]).policy.groups["ops"] == nil)
  }
}
