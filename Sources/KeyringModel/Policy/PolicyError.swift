public import Encoding

/// The reasons why a policy or a pin cannot be read or accepted.
public enum PolicyError: Error, Hashable, Sendable {
  /// The bytes are not JSON as the store allows it.
  case malformed(JSONError)
  /// A newer version wrote the file; this one cannot know what it means.
  case unknownFormat(Int64)
  /// A member is missing.
  case missing(String)
  /// A member has a value of the wrong type or form.
  case invalid(String)
  /// A member that format 1 does not have.
  case unexpected(String)
  /// The content is valid, but the bytes are not the ones that the writer gives for it.
  case notCanonical
  /// A person has no name to show.
  case unnamedPerson(Fingerprint)
  /// Nobody could change the policy.
  case noAdmin
  /// The group `default` is missing.
  case noDefaultGroup
  /// The group `default` has no people.
  case emptyDefaultGroup
  /// A group has a name that groups cannot have.
  case badGroupName(String)
  /// A file has a name that cannot be allowed.
  case badFileName(String)
  /// A group names somebody who is not among the people.
  case unknownPerson(Fingerprint, group: String)
  /// A group names somebody who was removed.
  case removedPerson(Fingerprint, group: String)
  /// A list has more entries than are accepted.
  case tooMany(PolicyList, limit: Int)
  /// The name of a person has more bytes than are accepted.
  case nameTooLong(Fingerprint, limit: Int)
}
