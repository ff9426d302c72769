/// The limits of the lists in a policy. Reading, comparing and encrypting take time for each entry, and the author of
/// an untrusted store can write any number of entries.
package enum PolicyLimits {
  /// The maximum number of people, including those who were removed.
  package static let people = 4096
  /// The maximum number of groups.
  package static let groups = 1024
  /// The maximum number of members of a group, which is the maximum number of recipients of a message.
  package static let members = 1024
  /// The maximum size of a person's name in bytes: that of a user id in GnuPG.
  package static let name = 2048
}

/// A list in a policy that has a limit.
public enum PolicyList: Hashable, Sendable {
  /// The people.
  case people
  /// The groups.
  case groups
  /// The members of a group.
  case members(group: String)
}

extension Policy {
  /// Rejects lists and names that are longer than their limits.
  ///
  /// - Throws: ``PolicyError/tooMany(_:limit:)`` and ``PolicyError/nameTooLong(_:limit:)``.
  func checkLimits() throws(PolicyError) {
    guard people.count <= PolicyLimits.people else { throw .tooMany(.people, limit: PolicyLimits.people) }
    guard groups.count <= PolicyLimits.groups else { throw .tooMany(.groups, limit: PolicyLimits.groups) }
    for (group, members) in groups where members.count > PolicyLimits.members {
      throw .tooMany(.members(group: group), limit: PolicyLimits.members)
    }
    for (fingerprint, person) in people where person.name.utf8.count > PolicyLimits.name {
      throw .nameTooLong(fingerprint, limit: PolicyLimits.name)
    }
  }
}
