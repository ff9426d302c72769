package import Encoding

/// The people, groups and rules of a keyring: the signed file `policy.json` as a value.
///
/// The file is canonical JSON and a line feed. The reader is strict, because a signature covers the exact bytes and two
/// readers must never interpret them differently.
public struct Policy: Equatable, Sendable {
  /// The keyring that the policy is for.
  public var keyring: KeyringID
  /// The number of the policy: 1 for the first policy of a keyring, one more for each that follows.
  package var generation: Int
  /// The digest of the previous policy; nil in the first one.
  package var previous: ContentDigest?
  /// The current and former members, by the fingerprint of the person's primary key.
  public var people: [Fingerprint: Person]
  /// The people of each group; `default` always exists.
  public var groups: [String: [Fingerprint]]
  /// The decisions not to change secrets that a removed person could have read, by item.
  package var accepted: [ItemID: AcceptedRisk]
  /// The names of files that the history may have beside the store; see `AllowedName`.
  package var files: Set<String>

  /// The format that this version writes.
  package static let format: Int64 = 1
  /// The maximum size of a policy in bytes, enough for several thousand people.
  package static let maximumSize = 1024 * 1024

  /// Makes a policy from its parts. ``validate()`` checks them.
  package init(
    keyring: KeyringID, generation: Int, previous: ContentDigest?,
    people: [Fingerprint: Person], groups: [String: [Fingerprint]], accepted: [ItemID: AcceptedRisk] = [:],
    files: Set<String> = []
  ) {
    self.keyring = keyring
    self.generation = generation
    self.previous = previous
    self.people = people
    self.groups = groups
    self.accepted = accepted
    self.files = files
  }

  /// The current members of the keyring.
  package var activePeople: Set<Fingerprint> { Set(people.filter { $0.value.removed == nil }.map(\.key)) }

  /// The current admins, sorted.
  public var admins: [Fingerprint] {
    people.filter { $0.value.role == .admin && $0.value.removed == nil }.map(\.key).sorted()
  }

  /// Checks the rules that the format of the file cannot express.
  ///
  /// - Throws: ``PolicyError`` for the first violated rule.
  package func validate() throws(PolicyError) {
    guard generation >= 1, Int64(generation) <= AttributeSchema.maximumInteger else {
      throw .invalid("generation")
    }
    guard (previous == nil) == (generation == 1) else { throw .invalid("previous") }
    try checkLimits()
    for (fingerprint, person) in people {
      guard !person.name.isEmpty else { throw .unnamedPerson(fingerprint) }
      if let removed = person.removed, removed < person.added { throw .invalid("removed") }
      if let next = person.replacedBy, person.removed == nil || next == fingerprint || people[next] == nil {
        throw .invalid("replacedBy")
      }
      if person.isCompromised, person.replacedBy == nil { throw .invalid("compromised") }
      if person.encryptTo.isEmpty { throw .noEncryptionSubkey(fingerprint) }
    }
    if let subkey = sharedSubkey { throw .sharedSubkey(subkey) }
    guard files.count <= AllowedName.maximumCount else { throw .invalid("files") }
    if let name = files.filter({ !AllowedName.isValid($0) }).min() { throw .badFileName(name) }
    guard !admins.isEmpty else { throw .noAdmin }
    guard let everyone = groups[GroupName.default] else { throw .noDefaultGroup }
    guard !everyone.isEmpty else { throw .emptyDefaultGroup }
    for (name, members) in groups.sorted(by: { $0.key.precedesInBytes($1.key) }) {
      guard GroupName.isValid(name) else { throw .badGroupName(name) }
      for member in members {
        guard let person = people[member] else { throw .unknownPerson(member, group: name) }
        guard person.removed == nil else { throw .removedPerson(member, group: name) }
      }
    }
  }

  /// A subkey that is listed for two members; nil if there is none. It would not be possible to tell which of them can
  /// read an item.
  private var sharedSubkey: Fingerprint? {
    var listed: Set<Fingerprint> = []
    for member in activePeople.sorted() {
      for subkey in Set(people[member]?.encryptTo ?? []) where !listed.insert(subkey).inserted {
        return subkey
      }
    }
    return nil
  }

  /// Writes the policy as canonical JSON with a line feed; equal policies give equal bytes.
  package func encode() -> [UInt8] {
    var members = [
      JSONMember("format", .integer(Policy.format)),
      JSONMember("generation", .integer(Int64(generation))),
      JSONMember("keyring", .string(keyring.hex)),
      JSONMember("people", .object(people.map { JSONMember($0.key.text, $0.value.json) })),
      JSONMember(
        "groups",
        .object(groups.map { JSONMember($0.key, PolicyFields.json(of: $0.value)) })),
    ]
    if let previous { members.append(JSONMember("previous", .string(previous.base64url))) }
    if !accepted.isEmpty {
      members.append(JSONMember("accepted", .object(accepted.map { JSONMember($0.key.hex, $0.value.json) })))
    }
    if !files.isEmpty {
      let names = files.sorted { $0.precedesInBytes($1) }
      members.append(JSONMember("files", .array(names.map { .string($0) })))
    }
    return JSONValue.object(members).canonicalBytes + [UInt8(ascii: "\n")]
  }

  /// Reads a policy from the exact bytes of its file.
  ///
  /// - Parameter bytes: The whole file.
  /// - Throws: ``PolicyError``; ``PolicyError/unknownFormat(_:)`` if a newer version wrote the file,
  ///   ``PolicyError/notCanonical`` if the bytes differ from the result of ``encode()``.
  package static func parse(_ bytes: [UInt8]) throws(PolicyError) -> Policy {
    var fields = try PolicyFields(parsing: bytes, size: maximumSize, format: format)
    let previous: ContentDigest?
    if let text = try fields.takeOptionalString("previous") {
      guard let digest = ContentDigest(base64url: text) else { throw .invalid("previous") }
      previous = digest
    } else {
      previous = nil
    }
    guard let keyring = KeyringID(hex: try fields.takeString("keyring")) else { throw .invalid("keyring") }
    var people: [Fingerprint: Person] = [:]
    for member in try fields.takeObject("people") {
      guard let fingerprint = Fingerprint(member.name) else { throw .invalid("people") }
      people[fingerprint] = try Person(member.value)
    }
    var groups: [String: [Fingerprint]] = [:]
    for member in try fields.takeObject("groups") {
      guard GroupName.isValid(member.name) else { throw .badGroupName(member.name) }
      groups[member.name] = try PolicyFields.fingerprints(member.value, of: "groups")
    }
    var accepted: [ItemID: AcceptedRisk] = [:]
    for member in try fields.takeOptionalObject("accepted") ?? [] {
      guard let item = ItemID(hex: member.name) else { throw .invalid("accepted") }
      accepted[item] = try AcceptedRisk(member.value)
    }
    let files = try fields.takeOptionalStrings("files") ?? []
    let generation = try fields.takeInteger("generation")
    try fields.finish()
    let policy = Policy(
      keyring: keyring, generation: Int(generation), previous: previous, people: people,
      groups: groups, accepted: accepted, files: Set(files))
    try policy.validate()
    guard policy.encode() == bytes else { throw .notCanonical }
    return policy
  }
}

/// The id of a keyring, written into its policy and into every signed root.
public typealias KeyringID = Identifier<Policy>
