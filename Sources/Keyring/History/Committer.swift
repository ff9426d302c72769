package import Git
internal import Glibc
internal import KeyringModel

/// Commits the pending changes of a store, all in one commit.
///
/// Git does not read the store's files or their attributes. Keytree reads the bytes under the store's lock and passes
/// them to git. So a commit is a snapshot of the store, no filter or attribute can change it, and other changes that
/// the user has staged stay staged. Only one process can commit at a time.
package struct Committer: Sendable {
  /// The result of a commit of pending changes.
  package enum Outcome: Equatable, Sendable {
    /// No changes were pending.
    case nothing
    /// All pending changes were committed.
    case committed(subject: String)
  }

  let repository: Repository
  let tree: FileTree
  let journal: CommitJournal
  let timeout: Double
  let author: @Sendable () -> String?
  private let request: IdentityRequest?

  /// The size of the content that is passed to git in one stream, in bytes.
  private static let pieceSize = 32 << 20

  /// Creates a committer for a store.
  ///
  /// - Parameters:
  ///   - repository: The repository of the store.
  ///   - tree: The store's folder.
  ///   - timeout: The time to wait for other writers, in seconds.
  ///   - asksEarly: True to ask git for the committer's identity now, on another thread, while the change is still
  ///     being made.
  ///   - author: Returns the author of the changes in the form of a key's user id, which is used if git has no name
  ///     configured; nil for none.
  package init(
    repository: Repository, tree: FileTree, timeout: Double, asksEarly: Bool = false,
    author: @escaping @Sendable () -> String?
  ) {
    (self.repository, self.tree, self.timeout, self.author) = (repository, tree, timeout, author)
    request = asksEarly ? IdentityRequest(in: repository.git, fallback: author) : nil
    journal = CommitJournal(of: tree)
  }

  /// Commits the pending changes.
  ///
  /// - Throws: `GitError` if git fails; all pending changes then remain pending. `KeyringError` with `busy` and file
  ///   errors.
  package func commitPending() throws -> Outcome {
    let identity = repository.identity
    if try journal.isSettled(for: identity) { return .nothing }
    return try GitTurn.take(.commits, in: repository, tree, timeout: timeout) {
      // Another process may have committed it.
      if try journal.isSettled(for: identity) { return .nothing }
      try repository.requireQuiet()
      let plan = try plan(for: identity)
      if !plan.content.isEmpty {
        try journal.begin(in: identity)
        _ = try repository.protectFiles()
        let start = time(nil)
        try write(plan)
        repository.synchronizeFolders(changedSince: start)
      }
      // If an earlier commit was interrupted, git may have updated its index and not the branch, or the other way
      // round.
      if plan.isWhole, !plan.isFirst {
        // Git now reads the files itself. Keytree's attributes are missing if the folder was copied without them.
        _ = try repository.protectFiles()
        try resetIndex()
      }
      let done = CommitJournal.Marker(count: plan.count, repository: identity, hash: plan.hash)
      try journal.finish(done, timeout: timeout)
      return plan.content.isEmpty ? .nothing : .committed(subject: plan.subject)
    }
  }

  /// Joins the packs of the repository if there are many, unless another process commits. Repacks everything if that
  /// saves much space.
  ///
  /// - Parameter willRepack: Called before everything is repacked, which can take seconds.
  /// - Throws: `GitError` if git fails; `KeyringError` with file errors. The history is unchanged in this case.
  package func packHistory(willRepack: () -> Void = {}) throws {
    guard try repository.hasManyPacks else { return }
    // Git takes no lock files for this, so no note is needed.
    guard let lock = try lockWithoutWaiting() else { return }
    defer { withExtendedLifetime(lock) {} }
    // Another process may have joined them.
    guard try repository.hasManyPacks else { return }
    // Determined first, because joining may leave nothing outside the largest pack.
    let deservesRepacking = try repository.deservesRepacking
    let attributes = "\(StoreLayout.work)/packing-attributes"
    try tree.replaceFile(
      attributes, with: Array(Repository.packingAttributes.utf8), temporary: "\(attributes).new")
    // A file that cannot be removed is replaced the next time.
    defer { try? tree.remove(attributes) }
    try repository.joinPacks(attributes: "\(repository.top)/\(repository.prefix)\(attributes)")
    guard deservesRepacking else { return }
    willRepack()
    try repository.repackAll()
  }

  private func lockWithoutWaiting() throws -> HistoryLock? {
    do {
      return try HistoryLock(.commits, in: tree, timeout: 0)
    } catch {
      if case .busy = error { return nil }
      throw error
    }
  }

  // MARK: Planning

  /// A planned commit.
  private struct Plan: Sendable {
    /// The count in the store's journal that includes all changes of this commit.
    let count: UInt64
    /// True if the whole store was compared with the history.
    let isWhole: Bool
    let hash: GitHash
    let content: CommitContent
    let message: String
    let isFirst: Bool
    var subject: String { message.split(separator: "\n").first.map(String.init) ?? "" }
  }

  /// The part of the last commit that was read.
  private struct Head {
    /// The paths that were read; nil for all files of the store.
    var paths: Set<String>?
    var history: History

    /// Returns true if the paths that were read include the wanted ones.
    func covers(_ wanted: Set<String>?) -> Bool {
      guard let paths else { return true }
      return wanted.map { $0.isSubset(of: paths) } ?? false
    }
  }

  private func plan(for identity: String) throws -> Plan {
    var head: Head?
    while true {
      var missing: Set<String>?
      let plan: Plan? = try journal.withLock(timeout: timeout) { pending in
        let marker = pending.marker.flatMap { $0.repository == identity ? $0 : nil }
        let entries = marker == nil ? nil : pending.entries
        var paths = entries.map { Set($0.flatMap(\.paths)) }
        if let marker, !marker.isTrying {
          if let entries, let plan = try directPlan(entries, pending.count, marker) { return plan }
        } else {
          // The content of the history is unknown. It may not even contain the first state of the store.
          paths = nil
        }
        if let head, head.covers(paths) { return try comparedPlan(pending.count, entries, paths, head) }
        missing = paths
        return nil
      }
      if let plan { return plan }
      // The history is read without the lock, so others may write concurrently. The second time all of it is read, so
      // that no third time is needed.
      let paths = head == nil ? missing : nil
      head = Head(paths: paths, history: try History(of: repository, paths: paths))
    }
  }

  /// Plans the usual case, without reading the last commit: a single change, or several ones that differ from it, because a
  /// record was signed. Otherwise they could undo each other, and the commit would be empty.
  private func directPlan(
    _ entries: [CommitJournal.Entry], _ count: UInt64, _ marker: CommitJournal.Marker
  ) throws -> Plan? {
    var content = CommitContent()
    var hasRecord = false
    for path in Set(entries.flatMap(\.paths)) {
      let file = try read(path) ?? .removed
      content.files[repository.prefix + path] = file
      if case .bytes = file, StoreLayout.isRecordFile(path) { hasRecord = true }
    }
    guard entries.count == 1 || hasRecord else { return nil }
    return Plan(
      count: entries.count == 1 ? entries[0].count : count, isWhole: false, hash: marker.hash,
      content: content, message: message(entries, isFirst: false), isFirst: false)
  }

  /// Compares some or all files with the last commit.
  private func comparedPlan(
    _ count: UInt64, _ entries: [CommitJournal.Entry]?, _ paths: Set<String>?, _ head: Head
  ) throws -> Plan {
    let files = if let paths { paths } else { try StoreFiles(in: tree).all().union(head.history.files.keys) }
    var content = CommitContent()
    for path in files {
      guard let file = try read(path) else { continue }
      let old = head.history.files[path]
      switch file {
      case .bytes(let bytes) where head.history.hash.blobName(of: bytes) != old: break
      case .removed where old != nil: break
      default: continue
      }
      content.files[repository.prefix + path] = file
    }
    return Plan(
      count: count, isWhole: paths == nil, hash: head.history.hash, content: content,
      message: message(entries, isFirst: head.history.isNew), isFirst: head.history.isUnborn)
  }

  private func message(_ entries: [CommitJournal.Entry]?, isFirst: Bool) -> String {
    if isFirst { return "make the keyring\n" }
    // Changes of local items are not part of the history.
    guard let entries = entries?.filter({ !$0.paths.isEmpty }), let first = entries.first else {
      return "change the keyring\n"
    }
    if entries.count == 1 { return first.subject + "\n" }
    let named = entries.prefix(100).map(\.subject).joined(separator: "\n")
    let rest = entries.count > 100 ? "\nand \(entries.count - 100) more" : ""
    return "change \(entries.count) times\n\n\(named)\(rest)\n"
  }

  /// Reads the new content of a file. Returns nil for a path that is not a file of a store; the history of that path
  /// stays unchanged.
  private func read(_ path: String) throws -> CommitContent.File? {
    do {
      guard let bytes = try tree.read(path, limit: StoreFiles.sizeLimit) else { return .removed }
      // The journal may be part of a copied folder, and an attacker may have written any path into it.
      return StoreLayout.isStoreFile(path) ? .bytes(bytes) : nil
    } catch {
      switch error.reason {
      // A link, or a file that is too large for an item. `check` reports it.
      case .notARegularFile, .hasOtherNames, .tooLarge: return nil
      case .system: throw error
      }
    }
  }

  // MARK: Writing

  private func write(_ plan: Plan) throws {
    let (repository, author, request) = (repository, author, request)
    var content = plan.content
    if content.size > Self.pieceSize { try store(&content, plan.hash) }
    let files = content
    let sides = try interruptedMerge(plan)
    // The two commands are independent, and each waits for the disk.
    _ = try WorkerPool(workers: 2).map(2) { (number) in
      if number == 0 {
        return try repository.git.run(
          ["update-index", "-z", "--index-info"], input: files.indexEntries(plan.hash))
      }
      let committer =
        if let request { try request.identity() } else {
          try Identity(in: repository.git, fallback: author())
        }
      return try repository.git.run(
        CommitContent.importCommand,
        input: files.stream(
          message: plan.message, committer: committer.line, isFirst: plan.isFirst, merging: sides))
    }
    if sides != nil { try repository.git.run(["update-ref", "-d", Repository.merging]) }
  }

  /// Returns the sides of an interrupted merge that has changed the store, which this commit completes; nil for an
  /// ordinary commit.
  private func interruptedMerge(_ plan: Plan) throws -> MergedCommits? {
    let git = repository.git
    guard case .bytes(let policy)? = plan.content.files[repository.prefix + StoreLayout.policy],
      let theirs = try git.commit(Repository.merging), let head = try git.commit("HEAD")
    else { return nil }
    // Only the merge can have placed this policy. If it was interrupted earlier, the store does not have it.
    let files = try History.files(of: theirs, in: repository, paths: [StoreLayout.policy])
    guard files[StoreLayout.policy] == plan.hash.blobName(of: policy), try !git.isAncestor(theirs, of: head)
    else { return nil }
    return MergedCommits(branch: "HEAD", ours: head, theirs: theirs)
  }

  /// Resets the store's files in git's index to the last commit.
  private func resetIndex() throws {
    let roots = StoreFiles.roots(below: repository.prefix)
    try repository.git.run(["reset", "--quiet", "HEAD", "--"] + roots)
  }

  /// Passes content to git in several streams before the commit, which then needs only its object names.
  private func store(_ content: inout CommitContent, _ hash: GitHash) throws {
    var piece: [[UInt8]] = []
    var size = 0
    for (path, file) in content.files {
      guard case .bytes(let bytes) = file else { continue }
      content.files[path] = .name(hash.blobName(of: bytes))
      piece.append(bytes)
      size += bytes.count
      if size < Self.pieceSize { continue }
      try repository.git.run(CommitContent.importCommand, input: CommitContent.stream(blobs: piece))
      (piece, size) = ([], 0)
    }
    if !piece.isEmpty {
      try repository.git.run(CommitContent.importCommand, input: CommitContent.stream(blobs: piece))
    }
  }

}

extension Repository {
  /// The reference to the remote's commit while a merge that brings a policy is being made.
  ///
  /// If the merge is interrupted after it has changed the store, the next commit becomes the merge. As an ordinary commit
  /// it could skip a policy, which `verify` would report for ever.
  package static let merging = "refs/keytree/merging"
}
