package import KeyringModel
internal import Keyring

/// Sealed messages that were in a store once, found by their digests: no key is needed.
package struct PastMessages: Sendable {
  private let repository: Repository
  private let objects: ObjectReader

  /// How many paths a command line has at most, and how many messages are read at once.
  private static let pieceSize = 256
  /// The most bytes of a list of messages.
  private static let limit = 1 << 28

  /// The messages in the history of a repository.
  package init(in repository: Repository) {
    self.repository = repository
    objects = ObjectReader(git: repository.git)
  }

  /// Whether the repository has a message, wherever it was: then it is not lost without a place in the store.
  ///
  /// - Throws: as `Git.run`.
  package func hasAny(_ messages: [[UInt8]]) throws(SyncError) -> Set<ContentDigest> {
    if messages.isEmpty { return [] }
    let hash: GitHash
    do throws(GitError) {
      hash = try repository.hash()
    } catch {
      throw .git(error)
    }
    let names = Dictionary(messages.map { (hash.blobName(of: $0), ContentDigest(of: $0)) }) { first, _ in
      first
    }
    return Set(try objects.names(of: Array(names.keys)).keys.compactMap { names[$0] })
  }

  /// Finds the messages of items where their files have been, on any branch and in what reflogs still know.
  ///
  /// - Parameter records: The items.
  /// - Returns: The messages by their digests; one that nobody has committed is not there.
  /// - Throws: as `Git.run`.
  package func find(_ records: [ItemRecord]) throws(SyncError) -> [ContentDigest: [UInt8]] {
    var found: [ContentDigest: [UInt8]] = [:]
    for start in stride(from: 0, to: records.count, by: Self.pieceSize) {
      let piece = records[start..<min(start + Self.pieceSize, records.count)]
      let wanted = Set(piece.map(\.sealed))
      // The message of a conflict copy was in the place of the item before.
      let names = try contents(
        at: piece.flatMap { [$0.path, $0.path.original] }.map { StoreLayout.itemFile($0, isLocal: false) })
      for start in stride(from: 0, to: names.count, by: Self.pieceSize) {
        let some = names[start..<min(start + Self.pieceSize, names.count)]
        for message in try objects.contents(of: some).values {
          let digest = ContentDigest(of: message)
          if wanted.contains(digest) { found[digest] = message }
        }
      }
    }
    return found
  }

  /// The names of all contents that some files of the store have ever had.
  private func contents(at files: [String]) throws(SyncError) -> [String] {
    let paths = Set(files.map { repository.prefix + $0 })
    let output: [UInt8]
    do throws(GitError) {
      output = try repository.git.run(
        ["rev-list", "--all", "--reflog", "--full-history", "--objects", "--"] + paths.sorted(),
        limit: Self.limit)
    } catch {
      throw .git(error)
    }
    // `<name> <path>` for what is in commits; a commit has no path.
    return output.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let words = line.split(separator: UInt8(ascii: " "), maxSplits: 1)
      guard words.count == 2, paths.contains(String(decoding: words[1], as: UTF8.self)) else { return nil }
      return String(decoding: words[0], as: UTF8.self)
    }
  }
}
