package import KeyringModel
internal import OpenPGP
internal import Synchronization

/// The listed people whose secret keys this user has. They are listed once, and only when the preferred one is not
/// enough.
final class OwnPeople: Sendable {
  private let known = Mutex<[Fingerprint]?>(nil)

  /// Returns the people.
  ///
  /// - Parameter list: Lists the primary fingerprints of the user's secret keys.
  func all(_ list: () throws(EngineError) -> [Fingerprint]) throws(EngineError) -> [Fingerprint] {
    if let known = known.withLock({ $0 }) { return known }
    let found = try list()
    known.withLock { $0 = found }
    return found
  }
}

extension Keyring {
  /// Returns the current members whose secret keys this user has, the preferred one first. One person may have several
  /// keys in the policy, for example while one key replaces another.
  ///
  /// - Throws: `KeyringError.engine` when the user's keys cannot be listed.
  package func ownPeople() throws(KeyringError) -> [Fingerprint] {
    do throws(EngineError) {
      let own = try ownPeopleCache.all { () throws(EngineError) in try engine.ownPeople() }
        .filter(policy.isMember)
      return own.filter { $0 == trusted.signer } + own.filter { $0 != trusted.signer }.sorted()
    } catch {
      throw .engine(error, nil)
    }
  }

  /// The groups that this user can read and write, with any of their keys.
  ///
  /// - Throws: `KeyringError.engine` when the user's keys cannot be listed.
  package func ownGroups() throws(KeyringError) -> Set<String> {
    Set(try ownPeople().flatMap(policy.groups(of:)))
  }

  /// Returns the person as whom this user writes items of some groups: the preferred one, or another member with all of
  /// the groups whose secret key this user has.
  ///
  /// - Parameter groups: The groups.
  /// - Throws: `KeyringError.unknownGroup` for a group that is not in the policy; `.team` with `notInGroup` for a group
  ///   that none of the user's keys is in, since its members would reject the signature; `.engine`.
  package func signer(for groups: Set<String>) throws(KeyringError) -> Fingerprint {
    for group in groups.sorted() where policy.groups[group] == nil { throw .unknownGroup(group) }
    func isIn(_ person: Fingerprint) -> Bool {
      groups.allSatisfy { policy.groups[$0]?.contains(person) ?? false }
    }
    if isIn(trusted.signer) { return trusted.signer }
    if let other = try ownPeople().first(where: isIn) { return other }
    let missing = groups.sorted().first { !policy.isMember(trusted.signer, ofAny: [$0]) }
    throw .team(.notInGroup(missing ?? GroupName.default))
  }

  /// Signs something as the person whom ``signer(for:)`` returns, or as another member of the groups whose secret key
  /// this user has, if the key of the first one cannot be used here.
  ///
  /// - Parameters:
  ///   - groups: The groups of the items.
  ///   - body: Signs as a person.
  /// - Returns: The signature, and the person who has signed.
  /// - Throws: The errors of ``signer(for:)``; `.engine` with the error for the first person.
  func signing<Signature>(
    for groups: Set<String>, _ body: (Fingerprint) throws(EngineError) -> Signature
  ) throws(KeyringError) -> (signature: Signature, signer: Fingerprint) {
    let first = try signer(for: groups)
    return try signing(
      as: first,
      or: { () throws(KeyringError) in
        try ownPeople().filter { other in
          groups.allSatisfy { policy.isMember(other, ofAny: [$0]) }
        }
      }, body)
  }

  /// Signs something as a person, or as another one whose secret key this user has, if the key of the first one cannot
  /// be used here.
  ///
  /// - Parameters:
  ///   - first: The preferred person.
  ///   - others: Returns the others.
  ///   - body: Signs as a person.
  /// - Returns: The signature, and the person who has signed.
  /// - Throws: `KeyringError.team` with `keyEnded`, or `.engine`, with the problem of the preferred person; the errors of
  ///   `others`.
  func signing<Signature>(
    as first: Fingerprint, or others: () throws(KeyringError) -> [Fingerprint],
    _ body: (Fingerprint) throws(EngineError) -> Signature
  ) throws(KeyringError) -> (signature: Signature, signer: Fingerprint) {
    do throws(EngineError) {
      return (try body(first), first)
    } catch {
      guard case .unusableKey(first, _) = error else { throw .engine(error, nil) }
      for other in try others() where other != first {
        // The problem with the preferred key is reported, not those with the others.
        if let signature = try? body(other) { return (signature, other) }
      }
      if let obstacle = try obstacle(of: first, group: nil) { throw .team(.keyEnded(obstacle)) }
      throw .engine(error, nil)
    }
  }

  /// Returns true if any of this user's keys is that of an admin.
  ///
  /// - Throws: `KeyringError.engine`.
  package func isAdmin() throws(KeyringError) -> Bool {
    if policy.admins.contains(trusted.signer) { return true }
    return !Set(policy.admins).isDisjoint(with: try ownPeople())
  }

  /// Returns the admins as whom this user can sign a policy, those first who stay admins: newcomers judge a policy by its
  /// own people.
  ///
  /// - Parameter next: The new policy.
  /// - Returns: The admins; only the preferred one if no secret key of an admin is listed.
  /// - Throws: `KeyringError.team` with `notAnAdmin`; `.engine`.
  func policySigners(for next: Policy) throws(KeyringError) -> [Fingerprint] {
    let (admins, staying) = (Set(policy.admins), Set(next.admins))
    let own = try ownPeople().filter(admins.contains)
    if own.isEmpty, admins.contains(trusted.signer) { return [trusted.signer] }
    guard !own.isEmpty else { throw .team(.notAnAdmin) }
    return own.filter(staying.contains) + own.filter { !staying.contains($0) }
  }
}

extension OpenPGPEngine {
  /// Returns the person as whom this user acts under a policy: the preferred one while it is a member, else another
  /// member whose secret key this user has.
  ///
  /// - Parameters:
  ///   - signer: The preferred person.
  ///   - policy: The policy.
  /// - Returns: The preferred person if there is no other.
  /// - Throws: `KeyringError.engine` if the preferred person is not a member, and the user's keys cannot be listed. They
  ///   could otherwise seem to be removed.
  func preferred(_ signer: Fingerprint, in policy: Policy) throws(KeyringError) -> Fingerprint {
    if policy.isMember(signer) { return signer }
    do throws(EngineError) {
      return try ownPeople().filter(policy.isMember).min() ?? signer
    } catch {
      throw .engine(error, nil)
    }
  }
}
