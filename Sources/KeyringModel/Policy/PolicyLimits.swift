/// The limits of the lists in a policy. Reading, comparing and encrypting take time for each entry, and the author of
/// an untrusted store can write any number of entries.
package enum PolicyLimits {
  /// The maximum number of people, including those who were removed.
  package static let people = 4096
  /// The maximum number of groups.
  package static let groups = 1024
  /// The maximum number of members of a group, and of the subkeys that its items are encrypted to, which is the maximum
  /// number of recipients of a message.
  package static let members = 1024
  /// The maximum number of subkeys that items are encrypted to for one person.
  package static let subkeys = 16
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
  /// The subkeys that items are encrypted to for a person.
  case subkeys(Fingerprint)
}

extension Policy {
  /// Rejects lists and names that are longer than their limits.
  ///
  /// - Throws: ``PolicyError/tooMany(_:limit:)`` and ``PolicyError/nameTooLong(_:limit:)``.
  func checkLimits() throws(PolicyError) {
    guard people.count <= PolicyLimits.people else { throw .tooMany(.people, limit: PolicyLimits.people) }
    guard groups.count <= PolicyLimits.groups else { throw .tooMany(.groups, limit: PolicyLimits.groups) }
    for (fingerprint, person) in people {
      guard person.encryptTo.count <= PolicyLimits.subkeys else {
        throw .tooMany(.subkeys(fingerprint), limit: PolicyLimits.subkeys)
      }
      guard person.name.utf8.count <= PolicyLimits.name else {
        throw .nameTooLong(fingerprint, limit: PolicyLimits.name)
      }
    }
    for (group, members) in groups {
      let recipients = members.reduce(0) { $0 + max(1, people[$1]?.encryptTo.count ?? 0) }
      guard recipients <= PolicyLimits.members else {
        throw .tooMany(.members(group: group), limit: PolicyLimits.members)
      }
    }
  }
}
