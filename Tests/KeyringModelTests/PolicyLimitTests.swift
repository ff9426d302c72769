import Encoding
import KeyringModel
import Testing

/// The limits of the lists in a policy. Anyone who provides a folder can fill these lists (threat T46).
@Suite("Limits of a policy", .serialized) struct PolicyLimitTests {
  private static func fingerprint(_ number: Int) throws -> Fingerprint {
    let digits = String(number, radix: 16, uppercase: true)
    return try #require(Fingerprint(String(repeating: "0", count: 40 - digits.utf8.count) + digits))
  }

  /// Returns a policy with some people, of whom the first is an admin and the only member of `default`.
  private static func policy(people count: Int) throws -> Policy {
    var people: [Fingerprint: Person] = [:]
    for number in 1...count {
      people[try fingerprint(number)] = Person(
        name: "x", role: number == 1 ? .admin : .member, added: Timestamp(microseconds: 0),
        encryptTo: [try fingerprint(number)])
    }
    let id = try #require(KeyringID(hex: "0123456789abcdef0123456789abcdef"))
    return Policy(
      keyring: id, generation: 1, previous: nil, people: people, groups: ["default": [try fingerprint(1)]])
  }

  @Test func `a policy with 4096 people is valid, and one with more is not`() throws {
    try Self.policy(people: 4096).validate()
    let policy = try Self.policy(people: 4097)
    #expect(throws: PolicyError.tooMany(.people, limit: 4096)) { try policy.validate() }
  }

  @Test func `a policy with 1024 groups is valid, and one with more is not`() throws {
    var policy = try Self.policy(people: 1)
    for number in 1..<1024 { policy.groups["g\(number)"] = [] }
    try policy.validate()
    policy.groups["one-more"] = []
    #expect(throws: PolicyError.tooMany(.groups, limit: 1024)) { try policy.validate() }
  }

  @Test func `a group has as many members as a message has recipients, and no more`() throws {
    var policy = try Self.policy(people: 1025)
    policy.groups["ops"] = try (1...1024).map(Self.fingerprint)
    try policy.validate()
    policy.groups["ops"]?.append(try Self.fingerprint(1025))
    #expect(throws: PolicyError.tooMany(.members(group: "ops"), limit: 1024)) { try policy.validate() }
  }

  @Test func `the subkeys of the members of a group count, too, and a person has at most 16`() throws {
    var policy = try Self.policy(people: 1024)
    policy.groups["ops"] = try (1...1024).map(Self.fingerprint)
    try policy.validate()
    let person = try Self.fingerprint(7)
    policy.people[person]?.encryptTo.append(try Self.fingerprint(5000))
    #expect(throws: PolicyError.tooMany(.members(group: "ops"), limit: 1024)) { try policy.validate() }
    policy.groups["ops"]?.removeLast()
    try policy.validate()
    policy.groups["ops"] = []
    policy.people[person]?.encryptTo = try (5000..<5016).map(Self.fingerprint)
    try policy.validate()
    policy.people[person]?.encryptTo.append(try Self.fingerprint(5016))
    #expect(throws: PolicyError.tooMany(.subkeys(person), limit: 16)) { try policy.validate() }
  }

  @Test func `a name has at most 2048 bytes`() throws {
    var policy = try Self.policy(people: 1)
    let person = try Self.fingerprint(1)
    policy.people[person]?.name = String(repeating: "\u{e9}", count: 1024)
    try policy.validate()
    policy.people[person]?.name += "x"
    #expect(throws: PolicyError.nameTooLong(person, limit: 2048)) { try policy.validate() }
  }

  @Test func `the limits hold for a policy that is read`() throws {
    let bytes = try Self.policy(people: 4097).encode()
    #expect(throws: PolicyError.tooMany(.people, limit: 4096)) { try Policy.parse(bytes) }
  }

  @Test func `the edits between two policies lead from one to the other`() throws {
    var base = try Self.policy(people: 300)
    base.groups["old"] = [try Self.fingerprint(2)]
    base.groups["ops"] = try (1...200).map(Self.fingerprint)
    var next = base
    next.groups["old"] = nil
    next.groups["new"] = [try Self.fingerprint(3)]
    next.groups["ops"] = try (100...300).map(Self.fingerprint)
    next.people[try Self.fingerprint(4)]?.name = "y"
    next.people[try Self.fingerprint(5)]?.encryptTo = [
      try Self.fingerprint(5000), try Self.fingerprint(5001),
    ]
    let edits = next.edits(since: base)
    // 99 leave, 100 join, one group is added with its member, one group is removed, and two people are changed.
    #expect(edits.count == 204)
    let result = try base.successor(
      by: edits, previous: ContentDigest(of: []), at: Timestamp(microseconds: 1))
    #expect(result.groups == next.groups && result.people == next.people)
  }
}
