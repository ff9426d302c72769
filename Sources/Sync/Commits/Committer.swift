internal import Glibc
package import Keyring
internal import KeyringModel

/// Brings the changes of a store into its history, one commit for what waits.
///
/// Git neither looks at the store's files nor at its settings for them: the bytes are read under the store's lock and
/// handed over, so a commit is what the store was at one moment, no filter or attribute can change it, and whatever
/// else somebody has staged stays staged. One process has the right to commit at a time.
package struct Committer: Sendable {
  /// The result of a commit of pending changes.
  package enum Outcome: Equatable, Sendable {
    /// Nothing waited.
    case nothing
    /// All that waited is in the history now.
    case committed(subject: String)
  }

  let repository: Repository
  let tree: FileTree
  let journal: CommitJournal
  let timeout: Double
  let author: @Sendable () -> String?
  private let request: IdentityRequest?

  /// The content that is passed to git in one piece, in bytes.
  private static let pieceSize = 32 << 20

  /// A committer for a store.
  ///
  /// - Parameters:
  ///   - repository: Where its history is.
  ///   - tree: The store's folder.
  ///   - timeout: How long to wait for other writers, in seconds.
  ///   - asksEarly: Whether to ask git at once who commits, on another thread: for a change that is yet to be made.
  ///   - author: Who made the changes, as in a key's user id, for where git knows no name; nil for nobody.
  package init(
    repository: Repository, tree: FileTree, timeout: Double, asksEarly: Bool = false,
    author: @escaping @Sendable () -> String?
  ) {
    (self.repository, self.tree, self.timeout, self.author) = (repository, tree, timeout, author)
    request = asksEarly ? IdentityRequest(in: repository.git, fallback: author) : nil
    journal = CommitJournal(of: tree)
  }

  /// Commits what waits.
  ///
  /// - Throws: `GitError` when git fails; then all that waits goes on waiting. `KeyringError` with `busy` and file
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
      // Of a commit that was cut off, git may have taken the files and not the commit, or the other way round.
      if plan.isWhole, !plan.isFirst {
        // Git looks at files again. Our attributes are missing in a folder that was copied without them.
        _ = try repository.protectFiles()
        try resetIndex()
      }
      let done = CommitJournal.Marker(count: plan.count, repository: identity, hash: plan.hash)
      try journal.finish(done, timeout: timeout)
      return plan.content.isEmpty ? .nothing : .committed(subject: plan.subject)
    }
  }

  /// Joins the packs of the history if there are many, unless another process commits. Packs everything anew when that
  /// saves much.
  ///
  /// - Parameter willRepack: Called before everything is packed anew, which can take seconds.
  /// - Throws: `GitError` if git fails; `KeyringError` with file errors. The history is as it was then.
  package func packHistory(willRepack: () -> Void = {}) throws {
    guard try repository.hasManyPacks else { return }
    // Git locks none of its files for this, so there is nothing to note.
    guard let lock = try lockWithoutWaiting() else { return }
    defer { withExtendedLifetime(lock) {} }
    // Another process may have joined them.
    guard try repository.hasManyPacks else { return }
    // Asked first: joining may leave nothing outside the largest pack.
    let deservesRepacking = try repository.deservesRepacking
    let attributes = "\(StoreLayout.work)/packing-attributes"
    try tree.replaceFile(
      attributes, with: Array(Repository.packingAttributes.utf8), temporary: "\(attributes).new")
    // The next time replaces what stays.
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

  /// One commit, worked out.
  private struct Plan: Sendable {
    /// The store's count with everything that is in it.
    let count: UInt64
    /// A Boolean value that indicates whether the whole store was compared with the history.
    let isWhole: Bool
    let hash: GitHash
    let content: CommitContent
    let message: String
    let isFirst: Bool
    var subject: String { message.split(separator: "\n").first.map(String.init) ?? "" }
  }

  /// The content of the last commit, as far as it was read.
  private struct Head {
    /// nil for everything that belongs to the store.
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
          if let entries, entries.count == 1 { return try onePlan(entries[0], marker) }
        } else {
          // What the history has is not known, not even whether it has what the store had at first.
          paths = nil
        }
        if let head, head.covers(paths) { return try comparedPlan(pending.count, entries, paths, head) }
        missing = paths
        return nil
      }
      if let plan { return plan }
      // Asked for while others may write; the second time for everything, so that there is no third.
      let paths = head == nil ? missing : nil
      head = Head(paths: paths, history: try history(of: paths))
    }
  }

  /// The usual case: one change, and nothing else since the last commit.
  private func onePlan(
    _ entry: CommitJournal.Entry, _ marker: CommitJournal.Marker
  ) throws -> Plan {
    var content = CommitContent()
    for path in entry.paths { content.files[repository.prefix + path] = try read(path) ?? .removed }
    return Plan(
      count: entry.count, isWhole: false, hash: marker.hash, content: content,
      message: entry.subject + "\n", isFirst: false)
  }

  /// Compares files with the last commit: some, or all of them.
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
    // What stays on this machine is no part of the history.
    guard let entries = entries?.filter({ !$0.paths.isEmpty }), let first = entries.first else {
      return "change the keyring\n"
    }
    if entries.count == 1 { return first.subject + "\n" }
    let named = entries.prefix(100).map(\.subject).joined(separator: "\n")
    let rest = entries.count > 100 ? "\nand \(entries.count - 100) more" : ""
    return "change \(entries.count) times\n\n\(named)\(rest)\n"
  }

  /// Reads the new content of a file. Returns nil for a path that is not a file of a store and stays as it is
  /// in the history.
  private func read(_ path: String) throws -> CommitContent.File? {
    do {
      guard let bytes = try tree.read(path, limit: StoreFiles.sizeLimit) else { return .removed }
      // The journal may have come with a copy of the folder and name whatever its writer wanted to see.
      return StoreLayout.isStoreFile(path) ? .bytes(bytes) : nil
    } catch {
      switch error.reason {
      // A link, or what is too large for an item: `check` tells of it.
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
    // Neither needs the other, and each waits for the disk.
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
        input: files.stream(message: plan.message, committer: committer.line, isFirst: plan.isFirst))
    }
  }

  /// Lets git's index say of the store what the last commit has.
  private func resetIndex() throws {
    let roots = StoreFiles.roots(below: repository.prefix)
    try repository.git.run(["reset", "--quiet", "HEAD", "--"] + roots)
  }

  /// Hands over content in pieces ahead of the commit, which then needs its names alone.
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

  private func history(of paths: Set<String>?) throws -> History {
    try History(of: repository, paths: paths)
  }

}
