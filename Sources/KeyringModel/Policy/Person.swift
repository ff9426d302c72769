public import Encoding

/// The entry of one person in the policy.
public struct Person: Sendable {
  /// The roles of people.
  public enum Role: String, Sendable {
    /// Reads, writes and signs policies.
    case admin
    /// Reads and writes.
    case member
  }

  /// The name shown to others; not empty.
  public var name: String
  /// The role of the person.
  public var role: Role
  /// The time when the person was added.
  public var added: Timestamp
  /// The time when the person was removed; nil for a member.
  public var removed: Timestamp?
  /// The entry with the new key of the same person; nil unless the person was removed because that key replaces this one.
  /// What this key could decrypt, the person may still read, unless it is compromised.
  package var replacedBy: Fingerprint?
  /// True if others may have used this key before the new key replaced it, so that they may know what it could decrypt.
  package var isCompromised = false
  /// The digest of the person's key file. With it, the signature of the policy also covers the key file. Nil in a
  /// policy from before digests were stored.
  package var key: ContentDigest?
  /// The fingerprints of the subkeys, or of the primary key, that items are encrypted to for this person; not empty. A
  /// subkey for each device is possible. The list does not depend on the time, so neither do the checks that use it.
  package var encryptTo: [Fingerprint]

  /// Makes an entry from its parts.
  package init(
    name: String, role: Role, added: Timestamp, removed: Timestamp? = nil, replacedBy: Fingerprint? = nil,
    isCompromised: Bool = false, key: ContentDigest? = nil, encryptTo: [Fingerprint]
  ) {
    self.name = name
    self.role = role
    self.added = added
    self.removed = removed
    self.replacedBy = replacedBy
    self.isCompromised = isCompromised
    self.key = key
    self.encryptTo = encryptTo
  }
}

extension Person: Equatable {
  /// Returns true if both are equal; names are compared as bytes.
  public static func == (left: Person, right: Person) -> Bool {
    left.name.hasSameBytes(as: right.name) && left.role == right.role && left.added == right.added
      && left.removed == right.removed && left.key == right.key
      && left.replacedBy == right.replacedBy && left.isCompromised == right.isCompromised
      && Set(left.encryptTo) == Set(right.encryptTo)
  }
}

extension Person {
  var json: JSONValue {
    var members = [
      JSONMember("name", .string(name)),
      JSONMember("role", .string(role.rawValue)),
      JSONMember("added", .string(added.rfc3339)),
      JSONMember("encryptTo", PolicyFields.json(of: encryptTo)),
    ]
    if let removed { members.append(JSONMember("removed", .string(removed.rfc3339))) }
    if let replacedBy { members.append(JSONMember("replacedBy", .string(replacedBy.text))) }
    if isCompromised { members.append(JSONMember("compromised", .bool(true))) }
    if let key { members.append(JSONMember("key", .string(key.base64url))) }
    return .object(members)
  }

  init(_ json: JSONValue) throws(PolicyError) {
    guard case .object(let members) = json else { throw .invalid("people") }
    var fields = PolicyFields(members)
    name = try fields.takeString("name")
    guard let role = Role(rawValue: try fields.takeString("role")) else { throw .invalid("role") }
    self.role = role
    guard let added = Timestamp(rfc3339: try fields.takeString("added")) else { throw .invalid("added") }
    self.added = added
    if let text = try fields.takeOptionalString("removed") {
      guard let moment = Timestamp(rfc3339: text) else { throw .invalid("removed") }
      removed = moment
    }
    if let text = try fields.takeOptionalString("replacedBy") {
      guard let fingerprint = Fingerprint(text) else { throw .invalid("replacedBy") }
      replacedBy = fingerprint
    }
    switch fields.take("compromised") {
    case nil: break
    case .bool(true)?: isCompromised = true
    default: throw .invalid("compromised")
    }
    if let text = try fields.takeOptionalString("key") {
      guard let digest = ContentDigest(base64url: text) else { throw .invalid("key") }
      key = digest
    }
    encryptTo = try fields.takeFingerprints("encryptTo")
    try fields.finish()
  }
}
