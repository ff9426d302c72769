internal import Keyring
internal import KeyringModel

/// The records that commits have added or removed.
struct ChangedRecords {
  /// The kinds of changes.
  enum Kind: String {
    case added = "A"
    case removed = "D"
  }

  /// The paths of the items, by the full name of the commit.
  private(set) var paths: [String: [ItemPath]] = [:]

  /// The maximum size of a list of files in bytes.
  private static let limit = 1 << 28

  /// Lists the records that commits have added or removed, compared with some of their parents.
  ///
  /// - Parameters:
  ///   - kind: Added or removed.
  ///   - commits: For each commit a list of full names: only its own, to compare it with all of its parents, or its own
  ///     and those of the parents to compare it with.
  ///   - folders: The folders of the store to look in.
  ///   - repository: The repository of the store.
  /// - Throws: The errors of `Git.run`.
  init(
    _ kind: Kind, in commits: [[String]], below folders: [String], _ repository: Repository
  ) throws {
    try CommitBatches.forEach(of: commits[...]) { commits, walks in
      if walks {
        for names in commits { try walk(kind, names, below: folders, repository) }
      } else {
        try list(kind, commits, below: folders, repository)
      }
    }
  }

  private mutating func list(
    _ kind: Kind, _ commits: ArraySlice<[String]>, below folders: [String], _ repository: Repository
  ) throws {
    let names = Set(commits.compactMap(\.first))
    let output = try repository.git.records(
      [
        "diff-tree", "--stdin", "-m", "-r", "-z", "--root", "--name-only", "--diff-filter=\(kind.rawValue)",
        "--no-renames", "--no-textconv", "--",
      ] + folders.map { repository.prefix + $0 },
      input: commits.flatMap { Array("\($0.joined(separator: " "))\n".utf8) }, limit: Self.limit,
      memoryLimit: Git.shortListMemoryLimit)
    var current: String?
    // The name of a commit, then the paths. Only a path contains a `/`, so the two cannot be confused.
    for field in output {
      guard let text = String(validating: field, as: UTF8.self) else { continue }
      if names.contains(text) {
        current = text
      } else if let current, let path = Self.path(text, below: repository.prefix) {
        paths[current, default: []].append(path)
      }
    }
  }

  /// Looks at a commit that names too many files for git. Those of a folder that names too many are left out: such a
  /// commit is refused, and a merge never takes them.
  private mutating func walk(
    _ kind: Kind, _ names: [String], below folders: [String], _ repository: Repository
  ) throws {
    guard let commit = names.first else { return }
    let parents = names.count > 1 ? Array(names.dropFirst()) : nil
    for changes in try TreeDifference.walks(to: commit, from: parents, in: repository) {
      for (file, entry) in changes.entries {
        let isWanted = kind == .added ? entry.oldMode == TreeDifference.noMode : entry.name == nil
        guard isWanted, folders.contains(where: { file.hasPrefix("\(repository.prefix)\($0)/") }),
          let path = Self.path(file, below: repository.prefix)
        else { continue }
        paths[commit, default: []].append(path)
      }
    }
  }

  /// Returns the item path of a record file; nil for any other file.
  private static func path(_ file: String, below prefix: String) -> ItemPath? {
    guard file.hasPrefix(prefix), file.hasSuffix(StoreLayout.recordExtension) else { return nil }
    return StoreLayout.itemPath(ofFile: String(file.dropFirst(prefix.count)))
  }
}
