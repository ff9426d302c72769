internal import Keyring
internal import KeyringModel

/// Decides whether an item that comes in for another group was moved there by somebody who could read it.
///
/// Whoever is not a member of an item's group does not know its secret. A record of theirs with the item's id names another
/// secret, and what is stored for the item next would be encrypted to another group.
struct GroupMoves {
  /// The most bytes of a list of contents.
  private static let limit = 1 << 28

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

  /// Lists the versions in another group to which no member of the group before has moved the item.
  ///
  /// - Parameters:
  ///   - incoming: Verified versions.
  ///   - known: The versions that are believed; an item without one may be in any group.
  /// - Throws: `keyring` when GnuPG cannot be used; and as `Git.run`.
  func refused(
    among incoming: some Sequence<VerifiedRecord>, instead known: [ItemID: [ItemRecord]]
  ) throws(SyncError) -> [VerifiedRecord] {
    var doubtful: [VerifiedRecord] = []
    for version in incoming {
      if let known = known[version.record.id], !isMoved(version, from: known, by: []) {
        doubtful.append(version)
      }
    }
    if doubtful.isEmpty { return [] }
    // Somebody may have moved the item, and a member of the new group alone have changed it since.
    let between = Dictionary(grouping: try versions(of: Set(doubtful.map(\.record.id))), by: \.record.id)
    return doubtful.filter { version in
      let id = version.record.id
      return !isMoved(version, from: known[id] ?? [], by: between[id] ?? [])
    }
  }

  /// Whether members have moved an item from the group of a known version to the group of another one.
  private func isMoved(
    _ version: VerifiedRecord, from known: [ItemRecord], by versions: [VerifiedRecord]
  ) -> Bool {
    var groups = Set(known.map(\.group))
    // An older version that was signed for the new group proves nothing: the item has left that group since.
    let start = known.map(\.modified).max()
    var rest = versions.filter { move in start.map { $0 < move.record.modified } ?? true } + [version]
    while !groups.contains(version.record.group) {
      let moves = rest.filter { move in
        judges.contains { judge in
          groups.contains { judge.policy.groups[$0]?.contains(move.signer) ?? false }
        }
      }
      if moves.isEmpty { return false }
      groups.formUnion(moves.map(\.record.group))
      rest.removeAll { moves.contains($0) }
    }
    return true
  }

  /// The verified versions of some items that their commits since have had.
  private func versions(of ids: Set<ItemID>) throws(SyncError) -> [VerifiedRecord] {
    let output: [UInt8]
    do throws(GitError) {
      output = try repository.git.run(
        ["rev-list", "--full-history", "--objects", "--filter=object:type=blob", theirs, "--not"] + start
          + ["--", "\(repository.prefix)\(StoreLayout.items)"], limit: Self.limit)
    } catch {
      throw .git(error)
    }
    // `<name> <path>` for the contents of files; a commit has no path.
    let ending = Array(StoreLayout.recordExtension.utf8)
    let names = output.split(separator: UInt8(ascii: "\n")).compactMap { line in
      line.suffix(ending.count).elementsEqual(ending)
        ? line.firstIndex(of: UInt8(ascii: " ")).map { String(decoding: line[..<$0], as: UTF8.self) } : nil
    }
    var claims: [RecordClaim] = []
    try objects.forEachContent(of: Set(names)) { _, bytes in
      // What is not a record is no version of an item.
      guard let file = try? RecordFile(parsing: Array(bytes)), ids.contains(file.record.id) else { return }
      claims.append(RecordClaim(file.bytes, path: nil))
    }
    var versions: [VerifiedRecord] = []
    do throws(KeyringError) {
      for judge in judges {
        // What is not believed proves nothing.
        versions += try judge.verify(claims).compactMap { try? $0.get() }
      }
    } catch {
      throw .keyring(error)
    }
    return versions
  }
}
