internal import Keyring
internal import KeyringModel

/// The files that a clone receives before its user has accepted a policy: those of the remote, as in a new clone.
///
/// Nothing is verified, because no policy is trusted that could tell which signatures count. Files that do not belong to
/// a store are withheld from the work tree (threat T45).
struct UnacceptedFiles {
  private let repository: Repository
  private let objects: ObjectReader
  private let changes: TreeDifference

  /// The total size of changed shards that is always accepted, in bytes: that of a store with 300,000 items.
  private static let shardSize = 128 << 20

  /// Compares the two commits.
  ///
  /// - Parameters:
  ///   - old: The local commit, which is an ancestor of the other one.
  ///   - new: The commit of the remote.
  ///   - repository: The repository of the store.
  /// - Throws: `tooManyFiles`; the errors of `Git.run`.
  init(from old: String, to new: String, in repository: Repository) throws {
    self.repository = repository
    objects = ObjectReader(git: repository.git)
    changes = try TreeDifference(from: old, to: new, in: repository.git)
    try changes.requireAllFiles()
  }

  /// Returns the changed files.
  ///
  /// - Throws: `tooLarge` if the total size of the files is far larger than their size in the repository; `unsafePath`
  ///   for a path that is not UTF-8; the errors of `Git.run`.
  func files() throws -> MergedFiles {
    if let path = changes.unreadable.first {
      throw SyncError.unsafePath(String(decoding: path, as: UTF8.self))
    }
    var result = MergedFiles()
    var wanted: [String: String] = [:]
    let infos = try objects.infos(of: Set(changes.entries.values.compactMap(\.name)), mayBeMissing: true)
    for (path, entry) in changes.entries {
      let inStore = path.hasPrefix(repository.prefix) ? String(path.dropFirst(repository.prefix.count)) : ""
      guard StoreLayout.isTracked(inStore), StoreLayout.isStoreFile(inStore) else {
        result.others[path] = OtherFile(mode: entry.mode, name: entry.name)
        continue
      }
      guard let name = entry.name else {
        result.store[inStore] = .removed
        continue
      }
      let limit = StoreLayout.sizeLimit(of: inStore)
      guard entry.mode == "100644", let info = infos[name], info.size <= limit else {
        result.others[path] = OtherFile(mode: entry.mode, name: name)
        continue
      }
      wanted[inStore] = name
    }
    let isShard = { (path: String) in path.hasPrefix("\(StoreLayout.index)/") }
    var contents = try objects.contents(
      of: Set(wanted.filter { !isShard($0.key) }.values), limit: StoreFiles.sizeLimit)
    // Shards differ little from their previous versions, so they take little space in the repository.
    contents.merge(
      try objects.contents(
        of: Set(wanted.filter { isShard($0.key) }.values), limit: StoreLayout.shardLimit,
        freeSize: Self.shardSize)
    ) { $1 }
    for (path, name) in wanted {
      guard let bytes = contents[name] else { throw GitError.unexpectedOutput(command: "cat-file") }
      result.store[path] = .bytes(bytes)
    }
    result.equalsTheirs = true
    return result
  }
}
