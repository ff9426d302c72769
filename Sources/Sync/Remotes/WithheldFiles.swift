internal import Encoding
package import Keyring
internal import KeyringModel

extension Repository {
  /// Checks out the files of the store that a clone has fetched, and withholds all others from the work tree. Git's
  /// index contains the withheld files, too, so that a commit does not remove them.
  ///
  /// - Parameter allowed: The files that are allowed in the work tree.
  /// - Returns: The files whose executable permission was not received.
  /// - Throws: `tooLarge` if the total size of the files is far larger than their size in the repository; the errors of
  ///   `Git.run`.
  func checkOut(only allowed: AllowedFiles) throws -> [RefusedChange] {
    _ = try git.run(["read-tree", "HEAD"])
    let entries = try indexEntries(below: prefix)
    let infos = try ObjectReader(git: git).infos(of: Set(entries.map(\.name)), mayBeMissing: true)
    var withheld: [UInt8] = []
    var executables: [String] = []
    var placed: [String: ObjectReader.Info] = [:]
    for entry in entries {
      let path = String(validating: entry.path, as: UTF8.self)
      let reason = allowed.reason(path, mode: entry.mode)
      let isPlain = reason == nil || reason == .executable && path.map(StoreLayout.isStoreFile) ?? false
      guard isPlain, let path, let info = infos[entry.name], info.size <= StoreLayout.sizeLimit(of: path)
      else {
        withheld += entry.path + [0]
        continue
      }
      if reason == .executable { executables.append(path) }
      // Shards are not counted. They differ little from their previous versions, so they take little space in the
      // repository.
      if !path.hasPrefix("\(StoreLayout.index)/") { placed[entry.name] = info }
    }
    try ObjectReader.requireProportion(placed.values)
    if !withheld.isEmpty {
      try git.run(["update-index", "--skip-worktree", "-z", "--stdin"], input: withheld)
    }
    if !executables.isEmpty {
      try git.run(
        ["update-index", "--chmod=-x", "-z", "--stdin"], input: executables.flatMap { Array($0.utf8) + [0] })
    }
    try git.run(["checkout-index", "--all", "--index", "--quiet"])
    return executables.sorted().map { RefusedChange(path: $0, reason: .executable) }
  }

  /// Returns the paths of the files that are withheld from the work tree, relative to its top, except for ambiguous
  /// names, which no merge handles.
  ///
  /// - Throws: The errors of `Git.run`.
  func withheldFiles() throws -> Set<String> {
    Set(
      try indexEntries(below: "").filter(\.isWithheld).compactMap {
        String(validating: $0.path, as: UTF8.self)
      }.filter(\.isUnambiguousName))
  }

  /// Checks out withheld files that are allowed now.
  ///
  /// - Parameters:
  ///   - allowed: The files that are allowed in the work tree.
  ///   - store: The folder of the store.
  ///   - timeout: The time to wait for another process that changes the repository, in seconds.
  /// - Returns: The files that are still withheld.
  /// - Throws: `KeyringError` with `busy` or a file error, and the errors of `Git.run`.
  package func placeWithheldFiles(
    _ allowed: AllowedFiles, in store: FileTree, timeout: Double
  ) throws -> [UnexpectedFile] {
    if try withheldEntries().isEmpty { return [] }
    return try GitTurn.take(.commits, in: self, store, timeout: timeout) {
      let hash = try self.hash()
      let entries = try withheldEntries()
      let sizes = try ObjectReader(git: git).sizes(of: Set(entries.map(\.name)))
      var missing: [UInt8] = []
      var present: [UInt8] = []
      var rest: [UnexpectedFile] = []
      for entry in entries {
        let path = String(validating: entry.path.dropFirst(prefix.utf8.count), as: UTF8.self)
        var reason = allowed.reason(path, mode: entry.mode)
        if reason == nil, let path {
          let limit = StoreLayout.sizeLimit(of: path)
          if sizes[entry.name].map({ $0 > limit }) ?? true {
            reason = .tooLarge
          } else if try !exists(path, in: store) {
            missing += entry.path + [0]
          } else if try isContent(entry.name, path, in: store, limit, hash) {
            present += entry.path + [0]
          } else {
            reason = .obstructed
          }
        }
        if let reason {
          rest.append(UnexpectedFile(path: String(decoding: entry.path, as: UTF8.self), reason: reason))
        }
      }
      if !missing.isEmpty {
        try git.run(
          ["checkout-index", "--ignore-skip-worktree-bits", "--quiet", "-z", "--stdin"], input: missing)
      }
      if !(missing + present).isEmpty {
        try git.run(["update-index", "--no-skip-worktree", "-z", "--stdin"], input: missing + present)
      }
      return rest
    }
  }

  private func withheldEntries() throws -> [IndexEntry] {
    try indexEntries(below: prefix).filter(\.isWithheld)
  }

  private func exists(_ path: String, in store: FileTree) throws -> Bool {
    return try store.status(path) != nil
  }

  /// Returns true if a file has the content with a given object name.
  private func isContent(
    _ name: String, _ path: String, in store: FileTree, _ limit: Int, _ hash: GitHash
  ) throws -> Bool {
    do {
      return try store.read(path, limit: limit).map(hash.blobName) == name
    } catch {
      // The path is a link or a different, larger file.
      if case .system = error.reason { throw error }
      return false
    }
  }

}
