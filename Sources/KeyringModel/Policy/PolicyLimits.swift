/// The limits of the lists in a policy. Reading, comparing and encrypting cost time for each entry, and anyone who can
/// hand over a folder can write them.
package enum PolicyLimits {
  /// The most people, those included who were removed.
  package static let people = 4096
  /// The most groups.
  package static let groups = 1024
  /// The most members of a group, which is the most recipients of a message.
  package static let members = 1024
  /// The most bytes of a person's name: those of a user id of GnuPG.
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
  /// Refuses lists and names that are longer than their limits.
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
