internal import Glibc
internal import Keyring
internal import KeyringModel
internal import Subprocess

/// Brings a merge into the store and into its history.
struct MergeCommit {
  let repository: Repository
  let keyring: Keyring
  let journal: CommitJournal
  let author: @Sendable () -> String?

  /// The full name of the branch that is checked out.
  let branch: String
  /// The commit that is merged into, which the store is as it was last seen.
  let ours: String
  /// The commit that is merged.
  let theirs: String

  /// Puts the files in place and commits them.
  ///
  /// The store comes first, as one transaction; from then on nothing is lost when the rest fails: what is not committed
  /// as a merge is committed by the next command as a change, and merging once more comes to the same.
  ///
  /// - Parameters:
  ///   - files: What the merge came to.
  ///   - marker: Up to where the history goes, which is all there is.
  ///   - subject: The first line of the message.
  ///   - isFastForward: Whether their commit is the result, and no other is made.
  ///   - timeout: How long to wait for writers, in seconds.
  /// - Returns: False, and nothing has happened, when the store is not any more what it was.
  /// - Throws: `uncommitted` when a file that would be replaced is not what the history says; and what git and the
  ///   store can throw.
  func make(
    _ files: MergedFiles, after marker: CommitJournal.Marker, subject: String, isFastForward: Bool,
    timeout: Double
  ) throws -> Bool {
    try requireUntouched(files.others)
    let names = try names(of: Set(files.store.keys))
    var strangers: [String] = []
    let count = try keyring.replace(files.store, ifCountIs: marker.count, subject: subject) { path, bytes in
      let isKnown = bytes.map(marker.hash.blobName) == names[path]
      if !isKnown { strangers.append(path) }
      return isKnown
    }
    guard let count else {
      guard strangers.isEmpty else { throw SyncError.uncommitted(strangers.sorted()) }
      return false
    }
    // Git may look at files whenever it writes its index.
    _ = try repository.protectFiles()
    let start = time(nil)
    try journal.begin(in: marker.repository)
    var content = CommitContent()
    for (path, file) in files.store {
      content.files[repository.prefix + path] =
        switch file {
        case .bytes(let bytes): .bytes(bytes)
        case .removed: .removed
        }
    }
    try commit(content, files.others, marker.hash, subject: subject, isFastForward: isFastForward)
    repository.synchronizeFolders(changedSince: start)
    var done = marker
    done.count = count
    let finished = done
    try journal.finish(finished, timeout: timeout)
    return true
  }

  private func commit(
    _ content: CommitContent, _ others: [String: OtherFile], _ hash: GitHash, subject: String,
    isFastForward: Bool
  ) throws {
    let git = repository.git
    // Before the commit: cut off in between, the next merge finds them in place already. Afterwards nobody would, and
    // the next commit by plain git would take them back.
    try place(others)
    if isFastForward {
      try git.run(["update-ref", "-m", subject, branch, theirs, ours])
    } else {
      var whole = content
      for (path, file) in others {
        whole.files[path] = file.name.map { .name($0) } ?? .removed
        whole.modes[path] = file.mode
      }
      try git.run(
        CommitContent.importCommand,
        input: whole.stream(
          message: subject + "\n", committer: try Identity(in: git, fallback: author()).line, isFirst: false,
          merging: MergedCommits(branch: branch, ours: ours, theirs: theirs)))
    }
    try git.run(["update-index", "-z", "--index-info"], input: content.indexEntries(hash))
  }

  /// Puts files that are no part of the store in place as their side has them, in git's index and in the work tree.
  private func place(_ others: [String: OtherFile]) throws {
    var paths = Set(others.keys)
    var gone = others.filter { $0.value.name == nil }.keys.sorted()
    if !gone.isEmpty {
      let withheld = try repository.withheldFiles()
      let hidden = gone.filter(withheld.contains)
      // Git does not touch such a file in the work tree. What is in its place is the user's own.
      try repository.git.run(
        ["update-index", "--force-remove", "-z", "--stdin"],
        input: hidden.flatMap { Array($0.utf8) + [0] })
      gone.removeAll(where: withheld.contains)
      paths.subtract(hidden)
      // Git does not take a name that it does not know any more.
      let known = try repository.git.records(["ls-files", "-z", "--cached", "--"] + gone)
      paths.subtract(Set(gone).subtracting(known.map { String(decoding: $0, as: UTF8.self) }))
    }
    if paths.isEmpty { return }
    // Files that a clone has withheld would not be found.
    let withheld = try repository.indexEntries(below: repository.prefix).filter { entry in
      entry.isWithheld && paths.contains(String(decoding: entry.path, as: UTF8.self))
    }
    if !withheld.isEmpty {
      try repository.git.run(
        ["update-index", "--no-skip-worktree", "-z", "--stdin"], input: withheld.flatMap { $0.path + [0] })
    }
    // Beside the store links are somebody's own, as the files are.
    let links = repository.prefix.isEmpty ? [] : ["-c", "core.symlinks=true"]
    try repository.git.run(
      links + [
        "restore", "--source=\(theirs)", "--staged", "--worktree", "--pathspec-from-file=-",
        "--pathspec-file-nul",
      ],
      input: paths.sorted().flatMap { Array($0.utf8) + [0] })
  }

  /// The names of the contents that our commit has at some paths of the store.
  private func names(of paths: Set<String>) throws -> [String: String] {
    var names: [String: String] = [:]
    for (path, name) in try listing(paths.map { repository.prefix + $0 }) {
      names[String(path.dropFirst(repository.prefix.count))] = name
    }
    return names
  }

  /// The names of the contents that our commit has at some paths from the top of the work tree.
  private func listing(_ paths: [String]) throws -> [String: String] {
    let names = try ObjectReader(git: repository.git).names(of: paths.map { "\(ours):\($0)" })
    return Dictionary(
      uniqueKeysWithValues: names.map { (String($0.key.dropFirst(ours.count + 1)), $0.value) })
  }

  /// Refuses to replace what somebody has changed beside the store and not committed; what a merge that was cut off
  /// has put in place is as it should be.
  private func requireUntouched(_ others: [String: OtherFile]) throws {
    if others.isEmpty { return }
    let known = try listing(Array(others.keys))
    var changed: [String] = []
    // Its status says whether anything differs, which is asked next.
    _ = try repository.git.outcome(of: ["update-index", "-q", "--refresh"])
    let differing = Set(
      try repository.git.records(["diff-index", "-z", "--name-only", "--ignore-submodules=all", ours, "--"])
        .map { String(decoding: $0, as: UTF8.self) })
    let withheld = try repository.withheldFiles()
    changed = others.keys.filter { path in
      // A file that is in the place of a withheld one is the user's own, and stays if the withheld one goes.
      if withheld.contains(path) { return others[path]?.name != nil && isInTheWay(path, of: others) }
      return known[path] == nil ? isInTheWay(path, of: others) : differing.contains(path)
    }
    if changed.isEmpty { return }
    let names = Set(changed.compactMap { others[$0]?.name })
    let wanted = try ObjectReader(git: repository.git).contents(of: names, limit: StoreLayout.otherFileLimit)
    let top = try FileTree(at: repository.top)
    changed = changed.filter { path in
      !isInPlace(path, of: top, others[path]?.name.flatMap { wanted[$0] }, wasThere: known[path] != nil)
    }
    guard changed.isEmpty else { throw SyncError.uncommitted(changed.sorted()) }
  }

  /// True if a file has the remote's content, or if git may have been killed while it wrote the file: git removes
  /// the old
  /// file, and writes the new one from its beginning. All that such a file has is in the new one.
  private func isInPlace(_ path: String, of top: FileTree, _ theirs: [UInt8]?, wasThere: Bool) -> Bool {
    do {
      guard let bytes = try top.read(path, limit: 1 << 28) else { return theirs == nil || wasThere }
      return theirs?.starts(with: bytes) ?? false
    } catch {
      // What is no plain file is somebody's own.
      return false
    }
  }

  /// Returns true if a file exists at the path of a new file, or in place of a folder above it, that the
  /// merge itself does not remove.
  private func isInTheWay(_ path: String, of files: [String: OtherFile]) -> Bool {
    if Repository.exists("\(repository.top)/\(path)") { return true }
    var folder = RelativePath.parent(of: path)
    while !folder.isEmpty {
      if Repository.exists("\(repository.top)/\(folder)"), !Repository.isFolder("\(repository.top)/\(folder)")
      {
        guard let file = files[folder], file.name == nil else { return true }
      }
      folder = RelativePath.parent(of: folder)
    }
    return false
  }
}
