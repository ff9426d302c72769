package import Encoding
internal import Keyring
package import KeyringModel

/// Items whose record was removed by a commit because they were deleted, renamed, or made local. Nothing is verified.
package struct RemovedItems: Sendable {
  /// A record that a commit has removed.
  package struct Removal: Equatable, Sendable {
    /// The record before the removal.
    package let record: ItemRecord
    /// The full name of the commit that removed the record.
    package let commit: String
    /// The author of that commit, which can be any text.
    package let author: String
    /// The time of that commit according to its author's clock.
    package let time: Timestamp
    /// The full name of its parent, which contains the item.
    package let parent: String
  }

  /// The removals, latest first. A merge may repeat the removal of an earlier commit.
  package private(set) var removals: [Removal] = []

  /// The records before the removals, latest first. An item occurs once for each path that was removed.
  package var records: [ItemRecord] {
    var names: Set<Name> = []
    return removals.map(\.record).filter { names.insert(Name(id: $0.id, path: $0.path)).inserted }
  }

  /// An item and one of its paths.
  private struct Name: Hashable {
    let id: ItemID
    let path: ItemPath
  }

  /// The number of records that are read at once.
  private static let pieceSize = 1024

  /// Searches the history for removed records. Only these records are read.
  ///
  /// - Parameters:
  ///   - folders: The folders of the store to search: `items` or folders in it.
  ///   - repository: The repository of the store.
  /// - Throws: The errors of `Git.run`.
  package init(below folders: [String], in repository: Repository) throws {
    let commits: [HistoricalCommit]
    let changed: ChangedRecords
    commits = try HistoricalCommit.list(touching: folders.map { repository.prefix + $0 }, in: repository.git)
    changed = try ChangedRecords(.removed, in: commits.map { [$0.name] }, below: folders, repository)
    let objects = ObjectReader(git: repository.git)
    func place(_ commit: String, _ path: ItemPath) -> String {
      "\(commit):\(repository.prefix)\(StoreLayout.recordFile(path, isLocal: false))"
    }
    let places = commits.flatMap { commit in
      Set(changed.paths[commit.name] ?? []).sorted().flatMap { path in
        commit.parents.map { (commit: commit, parent: $0, path: path) }
      }
    }
    let names = try objects.names(of: Set(places.map { place($0.parent, $0.path) }))
    let files = Set(names.values).sorted()
    var records: [String: ItemRecord] = [:]
    for start in stride(from: 0, to: files.count, by: Self.pieceSize) {
      let piece = files[start..<min(start + Self.pieceSize, files.count)]
      for (name, bytes) in try objects.contents(of: piece, limit: RecordFile.maximumSize) {
        records[name] = ItemRecord(firstLineOf: bytes)
      }
    }
    removals = places.compactMap { commit, parent, path in
      guard let record = names[place(parent, path)].flatMap({ records[$0] }), record.path == path else {
        return nil
      }
      return Removal(
        record: record, commit: commit.name, author: commit.author, time: commit.time, parent: parent)
    }
  }
}
