package import KeyringModel
package import OpenPGP

/// A member of some groups to whom nothing can be encrypted any more.
package struct UnusableKey: Sendable, Equatable {
  /// The fingerprint of the member's key.
  package let person: Fingerprint
  /// The reason why the key cannot be used.
  package let problem: KeyProblem
  /// The groups with this member, sorted.
  package let groups: [String]
}

extension Keyring {
  /// Returns the members of groups whose keys cannot be used, for example because they have expired. Nothing is
  /// decrypted.
  ///
  /// - Parameter groups: The names of groups. A name without a group in the policy is ignored.
  /// - Returns: The members, sorted by their fingerprints.
  /// - Throws: `KeyringError.engine` if GnuPG cannot list the keys.
  package func unusableKeys(ofMembersOf groups: Set<String>) throws(KeyringError) -> [UnusableKey] {
    var membership: [Fingerprint: [String]] = [:]
    for group in groups.sorted() {
      for member in policy.groups[group] ?? [] { membership[member, default: []].append(group) }
    }
    var unusable: [UnusableKey] = []
    for (person, groups) in membership.sorted(by: { $0.key < $1.key }) {
      do throws(EngineError) {
        try engine.checkRecipients([policy.recipient(person)])
      } catch {
        guard case .unusableKey(let person, let problem) = error else { throw .engine(error, nil) }
        unusable.append(UnusableKey(person: person, problem: problem, groups: groups))
      }
    }
    return unusable
  }

  /// Checks that GnuPG on this machine can read the keys of all people. Otherwise nothing can be merged: a change of such
  /// a person would look like one that no member has signed.
  ///
  /// - Throws: `KeyringError.team` with `unreadableKey`; `.engine` if GnuPG cannot list the keys.
  package func requireReadableKeys() throws(KeyringError) {
    for (person, facts) in policy.people.sorted(by: { $0.key < $1.key }) where facts.removed == nil {
      do throws(EngineError) {
        try engine.checkRecipients([policy.recipient(person)])
      } catch {
        switch error {
        // All other problems concern only what is encrypted to the person.
        case .unusableKey(_, .missing), .unusableKey(_, .unreadable), .unusableKey(_, .tooManyParts),
          .unusableKey(_, .tooManySignatures), .unusableKey(_, .tooManyBits):
          throw policy.error(error)
        case .unusableKey: break
        default: throw policy.error(error)
        }
      }
    }
  }
}

extension Policy {
  /// Returns the error for a signature that GnuPG could not verify, with the person whose key prevents it.
  func error(_ error: EngineError) -> KeyringError {
    switch error {
    case .unusableKey(let person, let problem):
      guard let facts = people[person] else { return .engine(error, nil) }
      return .team(.unreadableKey(person, name: facts.name, problem))
    case .foreignSubkey(let foreign): return .policyNotTrusted(.foreignSubkey(foreign))
    default: return .engine(error, nil)
    }
  }
}
