internal import Encoding
internal import Glibc
internal import Keyring
internal import KeyringModel
internal import Subprocess

/// Applies a merge to the store and commits it.
struct MergeCommit {
  let repository: Repository
  let keyring: Keyring
  let journal: CommitJournal
  let author: @Sendable () -> String?

  /// The full name of the branch that is checked out.
  let branch: String
  /// The commit that is merged into, which the store matched when it was last read.
  let ours: String
  /// The commit that is merged.
  let theirs: String

  /// Writes the merged files and commits them.
  ///
  /// The store is changed first, in one transaction. After that, nothing is lost if a later step fails: the next
  /// command commits the change as an ordinary one, and repeating the merge has the same result.
  ///
  /// - Parameters:
  ///   - files: The result of the merge.
  ///   - marker: The state of the store's journal up to which all changes are committed. If it says that a commit is
  ///     being tried, earlier changes are pending, and stay so.
  ///   - subject: The first line of the commit message.
  ///   - isFastForward: True if the remote's commit is the result, and no merge commit is created.
  ///   - timeout: The time to wait for other writers, in seconds.
  /// - Returns: False if the store has changed since it was read; in this case nothing is done.
  /// - Throws: `uncommitted` if a file that would be replaced differs from the last commit; the errors of git and of
  ///   the store.
  func make(
    _ files: MergedFiles, after marker: CommitJournal.Marker, subject: String, isFastForward: Bool,
    timeout: Double
  ) throws -> Bool {
    // Files that are withheld are not written to the work tree.
    if keyring.isAccepted { try requireUntouched(files.others) }
    let names = try names(of: Set(files.store.keys))
    let bringsPolicy = files.others.isEmpty && files.store[StoreLayout.policy] != nil
    if bringsPolicy { try repository.git.run(["update-ref", Repository.merging, theirs]) }
    var strangers: [String] = []
    let count = try keyring.replace(files.store, ifCountIs: marker.count, subject: subject) { path, bytes in
      let isKnown = bytes.map(marker.hash.blobName) == names[path]
      if !isKnown { strangers.append(path) }
      return isKnown
    }
    guard let count else {
      if bringsPolicy { try repository.git.run(["update-ref", "-d", Repository.merging]) }
      guard strangers.isEmpty else { throw SyncError.uncommitted(strangers.sorted()) }
      return false
    }
    // Git may read files whenever it writes its index.
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
    if bringsPolicy { try repository.git.run(["update-ref", "-d", Repository.merging]) }
    repository.synchronizeFolders(changedSince: start)
    if marker.isTrying { return true }
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
    // These files are written before the commit. If the process is interrupted in between, the next merge finds them in
    // place. If they were written afterwards, an interruption would leave the old files, and the next commit by plain
    // git would revert the change.
    if keyring.isAccepted { try place(others) } else { try withhold(others, hash) }
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

  /// Updates files that are not part of the store to the remote's version in git's index, but not in the work tree. The
  /// user has not accepted a policy yet that could allow them.
  private func withhold(_ others: [String: OtherFile], _ hash: GitHash) throws {
    if others.isEmpty { return }
    var content = CommitContent()
    for (path, file) in others {
      content.files[path] = file.name.map { .name($0) } ?? .removed
      content.modes[path] = file.mode
    }
    try repository.git.run(["update-index", "-z", "--index-info"], input: content.indexEntries(hash))
    let present = others.filter { $0.value.name != nil }.keys.sorted()
    if present.isEmpty { return }
    try repository.git.run(
      ["update-index", "--skip-worktree", "-z", "--stdin"], input: present.flatMap { Array($0.utf8) + [0] })
  }

  /// Updates files that are not part of the store to the remote's version, in git's index and in the work tree.
  private func place(_ others: [String: OtherFile]) throws {
    var paths = Set(others.keys)
    var gone = others.filter { $0.value.name == nil }.keys.sorted()
    if !gone.isEmpty {
      let withheld = try repository.withheldFiles()
      let hidden = gone.filter(withheld.contains)
      // Git does not check out a withheld file, so a file at its path in the work tree belongs to the user.
      try repository.git.run(
        ["update-index", "--force-remove", "-z", "--stdin"],
        input: hidden.flatMap { Array($0.utf8) + [0] })
      gone.removeAll(where: withheld.contains)
      paths.subtract(hidden)
      // Git fails for a path that is no longer in its index.
      let known = try repository.git.records(["ls-files", "-z", "--cached", "--"] + gone)
      paths.subtract(Set(gone).subtracting(known.map { String(decoding: $0, as: UTF8.self) }))
    }
    if paths.isEmpty { return }
    // `git restore` does not find files that a clone has withheld.
    let withheld = try repository.indexEntries(below: repository.prefix).filter { entry in
      let path = String(decoding: entry.path, as: UTF8.self)
      return entry.isWithheld && path.isUnambiguousName && paths.contains(path)
    }
    if !withheld.isEmpty {
      try repository.git.run(
        ["update-index", "--no-skip-worktree", "-z", "--stdin"], input: withheld.flatMap { $0.path + [0] })
    }
    // Outside the store, links are allowed like any other file of the user.
    let links = repository.prefix.isEmpty ? [] : ["-c", "core.symlinks=true"]
    try repository.git.run(
      links + [
        "restore", "--source=\(theirs)", "--staged", "--worktree", "--pathspec-from-file=-",
        "--pathspec-file-nul",
      ],
      input: paths.sorted().flatMap { Array($0.utf8) + [0] })
  }

  /// Returns the object names of files of the store in the local commit.
  private func names(of paths: Set<String>) throws -> [String: String] {
    var names: [String: String] = [:]
    for (path, name) in try listing(paths.map { repository.prefix + $0 }) {
      names[String(path.dropFirst(repository.prefix.count))] = name
    }
    return names
  }

  /// Returns the object names of files in the local commit, by path relative to the top of the work tree.
  private func listing(_ paths: [String]) throws -> [String: String] {
    let names = try ObjectReader(git: repository.git).names(of: paths.map { "\(ours):\($0)" })
    return Dictionary(
      uniqueKeysWithValues: names.map { (String($0.key.dropFirst(ours.count + 1)), $0.value) })
  }

  /// Throws an error if a file outside the store that would be replaced has uncommitted changes. Files that an
  /// interrupted merge has already written are accepted.
  private func requireUntouched(_ others: [String: OtherFile]) throws {
    if others.isEmpty { return }
    let known = try listing(Array(others.keys))
    var changed: [String] = []
    // The status is ignored. It only reports if anything differs, which the next command determines.
    _ = try repository.git.outcome(of: ["update-index", "-q", "--refresh"])
    let differing = Set(
      try repository.git.records(["diff-index", "-z", "--name-only", "--ignore-submodules=all", ours, "--"])
        .map { String(decoding: $0, as: UTF8.self) }.filter(\.isUnambiguousName))
    let withheld = try repository.withheldFiles()
    changed = others.keys.filter { path in
      // A file at the path of a withheld file belongs to the user. It is kept if the withheld file is removed.
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

  /// Returns true if a file has the remote's content, or if git may have been killed while it wrote the file. Git
  /// removes the old file and writes the new one from its start, so an incomplete file is a prefix of the new one.
  private func isInPlace(_ path: String, of top: FileTree, _ theirs: [UInt8]?, wasThere: Bool) -> Bool {
    do {
      guard let bytes = try top.read(path, limit: 1 << 28) else { return theirs == nil || wasThere }
      return theirs?.starts(with: bytes) ?? false
    } catch {
      // Anything but a plain file belongs to the user.
      return false
    }
  }

  /// Returns true if a file that the merge does not remove exists at the path of a new file or of one of its parent
  /// folders.
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
