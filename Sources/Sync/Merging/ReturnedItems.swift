internal import Keyring
internal import KeyringModel

/// Finds items that a remote has put back where a newer item was, under an id that is not the newer one's: after `rm` and
/// `add` the old password and the new one have different ids.
struct ReturnedItems {
  /// The most bytes of a list of contents.
  private static let limit = 1 << 28

  let repository: Repository
  /// The commits that both sides come from.
  let bases: [String]

  /// Lists the items that have taken the place of a newer one and that the history had before it.
  ///
  /// - Parameters:
  ///   - incoming: The versions that come in.
  ///   - base: What both sides come from.
  ///   - isKnown: Returns true for an item that is in the store.
  /// - Throws: as `Git.run`.
  func find(
    among incoming: [ItemPath: VerifiedRecord], instead base: [ItemPath: VerifiedRecord],
    _ isKnown: (ItemID) -> Bool
  ) throws(SyncError) -> [VerifiedRecord] {
    let ids = Set(incoming.values.map(\.record.id))
    let candidates = incoming.values.filter { version in
      guard let newer = base[version.record.path]?.record, !ids.contains(newer.id) else { return false }
      return !isKnown(version.record.id) && version.record.isOlder(than: newer)
    }
    if candidates.isEmpty { return [] }
    let output: [UInt8]
    let hash: GitHash
    do throws(GitError) {
      hash = try repository.hash()
      output = try repository.git.run(
        ["rev-list", "--full-history", "--objects", "--filter=object:type=blob"] + bases + ["--"]
          + candidates.map { repository.prefix + ItemFiles.recordFile($0.record.path) }.sorted(),
        limit: Self.limit)
    } catch {
      throw .git(error)
    }
    // `<name> <path>` for the contents of files; a commit has no path.
    let names = Set(
      output.split(separator: UInt8(ascii: "\n")).compactMap { line in
        line.firstIndex(of: UInt8(ascii: " ")).map { String(decoding: line[..<$0], as: UTF8.self) }
      })
    return candidates.filter { names.contains(hash.blobName(of: $0.file.bytes)) }
      .sorted { $0.record.path < $1.record.path }
  }
}
