internal import Keyring
package import KeyringModel

/// Items that once had a file in the store where there is none any more, or another one: deleted, renamed, or kept on
/// a machine alone.
package struct RemovedItems: Sendable {
  /// What they were before, the last one that was taken away first; an item is there once for each name that it lost.
  package private(set) var records: [ItemRecord] = []

  /// An item under one of its names.
  private struct Name: Hashable {
    let id: ItemID
    let path: ItemPath
  }

  /// A file that a commit took away.
  private struct Removal {
    let commit: PastCommit
    let path: ItemPath
  }

  private let repository: Repository
  private let objects: ObjectReader

  /// How many files of the index are read at once.
  private static let pieceSize = 128
  /// The most bytes of a list of files.
  private static let limit = 1 << 28

  /// Looks through the history of items' files; only the lines of those that were taken away are read.
  ///
  /// - Parameters:
  ///   - folders: Where to look, by paths in the store: `items`, or folders in it.
  ///   - repository: The repository of the store.
  /// - Throws: as `Git.run`.
  package init(below folders: [String], in repository: Repository) throws(SyncError) {
    self.repository = repository
    objects = ObjectReader(git: repository.git)
    let removals: [Removal]
    do throws(GitError) {
      removals = try Self.removals(folders.map { repository.prefix + $0 }, repository)
    } catch {
      throw .git(error)
    }
    var names: Set<Name> = []
    for record in try records(of: removals)
    where names.insert(Name(id: record.id, path: record.path)).inserted { records.append(record) }
  }

  private static func removals(
    _ folders: [String], _ repository: Repository
  ) throws(GitError) -> [Removal] {
    let commits = try PastCommit.list(touching: folders, in: repository.git)
    if commits.isEmpty { return [] }
    let byName = Dictionary(commits.map { ($0.name, $0) }) { first, _ in first }
    let output = try repository.git.records(
      [
        "diff-tree", "--stdin", "-m", "-r", "-z", "--name-only", "--diff-filter=D", "--no-renames",
        "--no-textconv", "--",
      ] + folders,
      input: commits.flatMap { Array("\($0.name)\n".utf8) }, limit: limit)
    var removals: [Removal] = []
    var current: PastCommit?
    // The name of a commit, and then the paths; a path has a `/`, so that neither is taken for the other.
    for field in output {
      guard let text = String(validating: field, as: UTF8.self) else { continue }
      if let commit = byName[text] {
        current = commit
      } else if let current, let path = path(text, below: repository.prefix) {
        removals.append(Removal(commit: current, path: path))
      }
    }
    return removals
  }

  /// The path of the item whose file it is; nil for any other file.
  private static func path(_ file: String, below prefix: String) -> ItemPath? {
    let (start, ending) = ("\(prefix)\(StoreLayout.items)/", ".gpg")
    guard file.hasPrefix(start), file.hasSuffix(ending) else { return nil }
    return ItemPath(validating: String(file.dropFirst(start.count).dropLast(ending.count)))
  }

  /// What the index said of files before they were taken away.
  private func records(of removals: [Removal]) throws(SyncError) -> [ItemRecord] {
    func places(_ removal: Removal) -> [String] {
      removal.commit.parents.map { parent in
        "\(parent):\(repository.prefix)\(StoreLayout.shardFile(removal.path.shard, isLocal: false))"
      }
    }
    let names = try objects.names(of: Set(removals.flatMap(places)))
    let files = Array(Set(names.values)).sorted()
    var byFile: [String: [ItemPath: ItemRecord]] = [:]
    let wanted = Set(removals.map(\.path))
    for start in stride(from: 0, to: files.count, by: Self.pieceSize) {
      let piece = files[start..<min(start + Self.pieceSize, files.count)]
      for (name, bytes) in try objects.contents(of: piece) {
        let records = Shard(parsing: bytes, number: 0).records.filter { wanted.contains($0.path) }
        byFile[name] = Dictionary(records.map { ($0.path, $0) }) { first, _ in first }
      }
    }
    return removals.flatMap { removal in
      places(removal).compactMap { place in names[place].flatMap { byFile[$0]?[removal.path] } }
    }
  }
}
