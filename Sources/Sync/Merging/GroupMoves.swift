internal import Keyring
internal import KeyringModel

/// Decides whether a member of an item's old group moved it to its new group.
///
/// A person outside the old group does not know the secret, so their record describes another one, and the next
/// secret would
/// be encrypted to the wrong group.
struct GroupMoves {
  /// The most contents that are read at once.
  private static let pieceSize = 4096

  private let repository: Repository
  private let objects: ObjectReader
  /// The commits whose versions are believed.
  private let start: [String]
  /// The commit that is merged.
  private let theirs: String
  /// The keyrings by whose policies somebody may have been a member.
  private let judges: [Keyring]

  /// Prepares the decision.
  ///
  /// - Parameters:
  ///   - start: The commits whose versions of the items are believed.
  ///   - theirs: The commit that is merged.
  ///   - repository: Where they are.
  ///   - judges: The keyrings by whose policies somebody may have been a member; one is enough.
  init(
    since start: [String], to theirs: String, in repository: Repository, _ objects: ObjectReader,
    _ judges: [Keyring]
  ) {
    (self.start, self.theirs, self.repository, self.objects) = (start, theirs, repository, objects)
    self.judges = judges
  }

  /// Lists the versions that are in another group without a move by a member of the group before.
  ///
  /// - Parameters:
  ///   - incoming: Verified versions.
  ///   - known: The versions that are believed; an item without one may be in any group.
  /// - Returns: The versions to refuse, in no order.
  /// - Throws: `KeyringError` with `policyNotTrusted` for a move when no policy is accepted, and when GnuPG cannot
  ///   be used; and
  ///   as `Git.run`.
  func refused(
    among incoming: some Sequence<VerifiedRecord>, comparedWith known: [ItemID: [ItemRecord]]
  ) throws -> [VerifiedRecord] {
    var doubtful: [VerifiedRecord] = []
    for version in incoming {
      if let known = known[version.record.id], !isMoved(version, from: known, by: []) {
        doubtful.append(version)
      }
    }
    if doubtful.isEmpty { return [] }
    // Without an accepted policy nobody can decide, and to refuse would take back what others may have done rightly.
    if judges.allSatisfy({ $0.distrust != nil }), let distrust = judges[0].distrust {
      throw KeyringError.policyNotTrusted(distrust)
    }
    // A member of both groups may have moved the item, and a member of the new group alone have changed it since.
    let between = Dictionary(grouping: try versions(of: Set(doubtful.map(\.record.id))), by: \.record.id)
    return doubtful.filter { version in
      let id = version.record.id
      return !isMoved(version, from: known[id] ?? [], by: between[id] ?? [])
    }
  }

  /// Returns true if members have moved an item from the group of a known version to that of another version.
  ///
  /// The versions are followed in the order of their times: a move counts until another member moves the item on.
  private func isMoved(
    _ version: VerifiedRecord, from known: [ItemRecord], by versions: [VerifiedRecord]
  ) -> Bool {
    var current = Set(known.map(\.group))
    if current.contains(version.record.group) { return true }
    // A version that is older, or has lost against a known one, proves nothing: the item has left its group since.
    let later = versions.filter { move in known.allSatisfy { move.record.isLater(than: $0, bySecret: true) } }
    // A policy that is not accepted yet makes nobody a member.
    let policies = judges.filter { $0.distrust == nil }.map(\.policy)
    for move in (later + [version]).sorted(by: { $1.record.isLater(than: $0.record, bySecret: false) })
    where !current.contains(move.record.group) {
      let isByMember = policies.contains { $0.isMember(move.signer, ofAny: current) }
      if isByMember { current = [move.record.group] }
    }
    return current.contains(version.record.group)
  }

  /// The verified versions of some items that the commits of the remote have had since the start.
  ///
  /// - Throws: `KeyringError` when GnuPG cannot be used; and as `Git.run`.
  private func versions(of ids: Set<ItemID>) throws -> [VerifiedRecord] {
    // All records that are new: an item that was moved twice was at a place that neither side names.
    let names = try objects.pastNames(
      of: ["\(repository.prefix)\(StoreLayout.items)"], in: [theirs, "--not"] + start)
    var claims: [RecordClaim] = []
    try objects.forEachContent(of: names, limit: RecordFile.maximumSize) { _, bytes in
      // What is not a record is no version of an item.
      guard let file = try? RecordFile(parsing: Array(bytes)), ids.contains(file.record.id) else { return }
      claims.append(RecordClaim(file.bytes, path: nil))
    }
    var versions: [VerifiedRecord] = []
    for judge in judges {
      // What is not believed proves nothing.
      versions += try judge.verify(claims).compactMap { try? $0.get() }
    }
    return versions
  }
}
