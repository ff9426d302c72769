public import Encoding

/// The reasons why a policy or a pin cannot be read or accepted.
public enum PolicyError: Error, Hashable, Sendable {
  /// The bytes are not JSON in the strict form that the store accepts.
  case malformed(JSONError)
  /// The file has an unknown format, which a newer version wrote.
  case unknownFormat(Int64)
  /// A member is missing.
  case missing(String)
  /// A member has a value of the wrong type or form.
  case invalid(String)
  /// The file has a member that format 1 does not have.
  case unexpected(String)
  /// The content is valid, but the bytes are not in canonical form.
  case notCanonical
  /// A person has no name.
  case unnamedPerson(Fingerprint)
  /// A person has no subkey that items are encrypted to.
  case noEncryptionSubkey(Fingerprint)
  /// A subkey is listed for two members.
  case sharedSubkey(Fingerprint)
  /// The policy has no admin, so it could never be changed.
  case noAdmin
  /// The group `default` is missing.
  case noDefaultGroup
  /// The group `default` has no people.
  case emptyDefaultGroup
  /// A group has a name that groups cannot have.
  case badGroupName(String)
  /// A file has a name that cannot be allowed.
  case badFileName(String)
  /// A group has a member who is not among the people.
  case unknownPerson(Fingerprint, group: String)
  /// A group has a member who was removed.
  case removedPerson(Fingerprint, group: String)
  /// A list has more entries than the limit.
  case tooMany(PolicyList, limit: Int)
  /// The name of a person has more bytes than the limit.
  case nameTooLong(Fingerprint, limit: Int)
}
