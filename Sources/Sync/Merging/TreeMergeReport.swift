internal import Keyring
internal import KeyringModel

/// The parts of the result of a merge that are only reported.
extension TreeMerge {
  /// Returns true if the result equals the remote's commit.
  func equalsTheirs(_ result: MergedFiles) throws -> Bool {
    guard ours.changes.entries.isEmpty, result.refused.isEmpty else { return false }
    let hash: GitHash = try repository.hash()
    var theirNames: [String: String?] = [:]
    for (path, entry) in theirs.changes.entries where path.hasPrefix(prefix) {
      let inStore = String(path.dropFirst(prefix.count))
      guard StoreLayout.isTracked(inStore) else { continue }
      // The merge writes a plain file.
      if entry.mode == "100755" { return false }
      theirNames[inStore] = entry.name
    }
    for (path, name) in theirNames {
      switch result.store[path] {
      case nil: return false
      case .removed: if name != nil { return false }
      case .bytes(let bytes): if hash.blobName(of: bytes) != name { return false }
      }
    }
    return result.store.keys.allSatisfy { theirNames[$0] != nil }
  }

  /// Sets the items that files of other programs change.
  func nameItems(_ result: inout MergedFiles) throws {
    let paths = result.foreignFiles.map { file -> ItemPath? in
      guard case .bytes(let bytes) = result.store[file.path] else { return nil }
      return SecondPath.item(of: file.path, ContentDigest(of: bytes))
        ?? StoreLayout.itemPath(ofFile: file.path)
    }
    func place(_ path: ItemPath) -> String { "\(ours.commit):\(prefix)\(ItemFiles.recordFile(path))" }
    let known = try objects.names(of: Set(paths.compactMap { $0.map(place) }))
    for (index, path) in zip(result.foreignFiles.indices, paths) {
      guard let path else { continue }
      let isItem =
        switch result.store[ItemFiles.recordFile(path)] {
        case .bytes: true
        case .removed: false
        case nil: known[place(path)] != nil
        }
      if isItem { result.foreignFiles[index].item = path }
    }
  }

  /// Sets the committers of refused changes, of deletions, and of files of other programs.
  func nameCommitters(_ result: inout MergedFiles) throws {
    for index in result.refused.indices.prefix(Self.namedLimit) {
      let change = result.refused[index]
      if change.reason == .file(.tooManyFiles) {
        let commit = try commit(ofFolder: change.path)
        (result.refused[index].commit, result.refused[index].committer) = (commit?.name, commit?.committer)
      } else {
        result.refused[index].committer = try committer(of: change.path)
      }
    }
    for index in result.deletions.indices.prefix(Self.namedLimit) {
      let path = ItemFiles.recordFile(result.deletions[index].record.path)
      result.deletions[index].committer = try committer(of: path)
    }
    for index in result.foreignFiles.indices.prefix(Self.namedLimit) {
      // A merge that has kept the file at a second path did not create it.
      let file = result.foreignFiles[index]
      let first = file.item.map(ItemFiles.secretFile)
      result.foreignFiles[index].committer = try committer(
        of: [file.origin] + [first].compactMap { $0 }, "--no-merges", "--full-history")
    }
  }

  /// The number of changes whose committers are determined.
  private static let namedLimit = 50

  /// Returns the last committer of a file or an item on the remote's side; nil if none of its commits changed it.
  ///
  /// - Parameter file: The path in the store; for an item the path of its record.
  private func committer(of file: String) throws -> String? {
    // Git would treat such a path as outside the repository.
    guard RelativePath.isPlain(file) else { return nil }
    var files = [file]
    if file.hasSuffix(StoreLayout.recordExtension) {
      // A commit may have changed only the encrypted file.
      files.append(
        file.dropLast(StoreLayout.recordExtension.utf8.count) + StoreLayout.secretExtension)
    }
    return try committer(of: files)
  }

  /// Returns the abbreviated name and the committer of the first commit of the remote's side that has a folder as it is
  /// now.
  private func commit(ofFolder path: String) throws -> (name: String, committer: String)? {
    // Git reads one place in each line.
    if path.utf8.contains(UInt8(ascii: "\n")) { return nil }
    let list = try repository.git.run(
      ["rev-list", "--topo-order", "--reverse", "\(ours.commit)..\(theirs.commit)", "--"], limit: 1 << 28)
    let commits = String(decoding: list, as: UTF8.self).split(separator: "\n").map(String.init)
    func place(_ commit: String) -> String { "\(commit):\(prefix)\(path)" }
    let trees = try objects.names(of: commits.map(place), kind: .tree)
    guard let tree = trees[place(theirs.commit)],
      let first = commits.first(where: { trees[place($0)] == tree })
    else { return nil }
    // `git show` would compare all files of the commit, also if it does not print them.
    let output = try repository.git.run(["log", "-1", "--format=%h%n%cn <%ce>", first])
    let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    return lines.count == 2 ? (lines[0], lines[1]) : nil
  }

  private func committer(of files: [String], _ options: String...) throws -> String? {
    let output = try repository.git.run(
      ["log", "-1", "--format=%cn <%ce>"] + options + ["\(ours.commit)..\(theirs.commit)", "--"]
        + files.map { prefix + $0 })
    let line = String(decoding: output, as: UTF8.self).split(separator: "\n").first
    return line.map(String.init)
  }
}
