internal import Keyring
internal import KeyringModel

/// Checks that an item was moved to another group by a member of its old group.
///
/// A person outside the old group does not know the secret, so their record describes a different secret, and the next
/// secret would be encrypted to the wrong group.
struct GroupMoves {
  /// The maximum number of contents that are read at once.
  private static let pieceSize = 4096

  private let repository: Repository
  private let objects: ObjectReader
  /// The commits whose versions are trusted.
  private let start: [String]
  /// The commit whose versions are examined.
  private let commit: String
  /// The keyrings whose policies determine membership.
  private let judges: [Keyring]
  /// Returns further such keyrings, which are needed only if the first ones do not allow a move.
  private let earlier: () throws -> [Keyring]

  /// Creates the check.
  ///
  /// - Parameters:
  ///   - start: The commits whose versions of the items are trusted.
  ///   - commit: The commit whose versions are examined.
  ///   - repository: The repository that contains them.
  ///   - judges: The keyrings whose policies determine membership. Membership by one of them is enough.
  ///   - earlier: Returns further such keyrings, which are needed only if the first ones do not allow a move.
  init(
    since start: [String], to commit: String, in repository: Repository, _ objects: ObjectReader,
    _ judges: [Keyring], earlier: @escaping () throws -> [Keyring]
  ) {
    (self.start, self.commit, self.repository, self.objects) = (start, commit, repository, objects)
    (self.judges, self.earlier) = (judges, earlier)
  }

  /// Returns the versions that are in another group and were not moved there by a member of the previous group.
  ///
  /// - Parameters:
  ///   - incoming: Verified versions.
  ///   - known: The trusted versions. An item without one may be in any group.
  /// - Returns: The versions to refuse, in no particular order.
  /// - Throws: `KeyringError` with `policyNotTrusted` for a move if no policy is accepted; `KeyringError` if GnuPG
  ///   cannot be used; the errors of `Git.run`.
  func refused(
    among incoming: some Sequence<VerifiedRecord>, comparedWith known: [ItemID: [ItemRecord]]
  ) throws -> [VerifiedRecord] {
    var doubtful: [VerifiedRecord] = []
    for version in incoming {
      if let known = known[version.record.id], !known.contains(where: { $0.group == version.record.group }) {
        doubtful.append(version)
      }
    }
    if doubtful.isEmpty { return [] }
    // Without an accepted policy the check is impossible, and a refusal could revert a legitimate change.
    if judges.allSatisfy({ $0.distrust != nil }), let distrust = judges[0].distrust {
      throw KeyringError.policyNotTrusted(distrust)
    }
    // A member of both groups may have moved the item, and a member of only the new group may have changed it since.
    let claims = try claims(of: Set(doubtful.map(\.record.id)))
    let refused = try refused(among: doubtful, comparedWith: known, claims, by: judges)
    let earlier = refused.isEmpty ? [] : try earlier()
    return earlier.isEmpty
      ? refused : try self.refused(among: refused, comparedWith: known, claims, by: judges + earlier)
  }

  /// Returns the versions that were not moved to their group by a member of the previous one.
  private func refused(
    among incoming: [VerifiedRecord], comparedWith known: [ItemID: [ItemRecord]], _ claims: [RecordClaim],
    by judges: [Keyring]
  ) throws -> [VerifiedRecord] {
    // A record that is not verified proves nothing.
    let versions = try judges.flatMap { judge in try judge.verify(claims).compactMap { try? $0.get() } }
    let between = Dictionary(grouping: versions, by: \.record.id)
    // A policy that is not accepted yet does not grant membership.
    let policies = judges.filter { $0.distrust == nil }.map(\.policy)
    return incoming.filter { version in
      let id = version.record.id
      return !isMoved(version, from: known[id] ?? [], by: between[id] ?? [], policies)
    }
  }

  /// Returns true if members have moved an item from the group of a known version to that of another version.
  ///
  /// The versions are processed in the order of their times. A move is valid until another member moves the item again.
  ///
  /// - Parameters:
  ///   - version: The version.
  ///   - known: The known versions.
  ///   - versions: Versions that members have signed in the meantime.
  ///   - policies: The policies that determine membership.
  private func isMoved(
    _ version: VerifiedRecord, from known: [ItemRecord], by versions: [VerifiedRecord], _ policies: [Policy]
  ) -> Bool {
    var current = Set(known.map(\.group))
    if current.contains(version.record.group) { return true }
    // A version that is older than a known one, or has lost against it, proves nothing, because the item may have left
    // that group since.
    let later = versions.filter { move in known.allSatisfy { move.record.isLater(than: $0, bySecret: true) } }
    for move in (later + [version]).sorted(by: { $1.record.isLater(than: $0.record, bySecret: false) })
    where !current.contains(move.record.group) {
      let isByMember = policies.contains { $0.isMember(move.signer, ofAny: current) }
      if isByMember { current = [move.record.group] }
    }
    return current.contains(version.record.group)
  }

  /// Returns the versions of some items in the commits since the start.
  ///
  /// - Throws: The errors of `Git.run`.
  private func claims(of ids: Set<ItemID>) throws -> [RecordClaim] {
    // All new records are read, because an item that was moved twice was at a path that neither side has now.
    let names = try objects.pastNames(
      of: ["\(repository.prefix)\(StoreLayout.items)"], in: [commit, "--not"] + start)
    var claims: [RecordClaim] = []
    try objects.forEachContent(of: names, limit: RecordFile.maximumSize) { _, bytes in
      // Contents that are not records are ignored.
      guard let file = try? RecordFile(parsing: Array(bytes)), ids.contains(file.record.id) else { return }
      claims.append(RecordClaim(file.bytes, path: nil))
    }
    return claims
  }
}
