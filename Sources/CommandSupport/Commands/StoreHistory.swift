internal import FileSystem
package import Keyring
package import Sync
internal import Terminal

/// Methods for the history of a store.
extension CommandCall {
  /// Returns git for a folder.
  package func git(in folder: String) -> Git { Git(in: folder, environment) }

  /// Returns the repository of the store, or nil if it has none.
  ///
  /// - Throws: the errors of `Repository.find`.
  package func repository() throws -> Repository? { try store.repository() }

  /// Configures a clone: its git attributes, and keytree as merge driver and text converter.
  ///
  /// - Returns: true if anything was missing.
  @discardableResult
  package func setUp(_ repository: Repository) throws -> Bool {
    let setup = try repositorySetup()
    return try setup.apply(to: repository)
  }

  private func repositorySetup() throws -> RepositorySetup {
    RepositorySetup(
      program: ownProgram, searchPath: environment.searchPath, timeout: try host().lockTimeout)
  }

  /// Returns the committer, and queries git early, so that its answers are available when the change is made.
  ///
  /// - Returns: nil if the store does not exist yet, if it does not use git, if its policy was not accepted, or if it
  ///   cannot be opened. The command itself then reports the reason.
  package func prepareCommit() -> Committer? {
    try? committer(asksEarly: true)
  }

  /// Commits the pending changes of the store, if it uses git.
  ///
  /// - Parameter prepared: the result of ``prepareCommit()``, if it was called.
  /// - Throws: `NotCommittedError`; the changes stay pending.
  package func commitPending(_ prepared: Committer? = nil) throws {
    guard let committer = try prepared ?? committer() else { return }
    do {
      if case .nothing = try committer.commitPending() { return }
    } catch {
      throw NotCommittedError(error)
    }
    do {
      try committer.packHistory {
        if console.diagnosticsIsTerminal {
          console.say("keytree: packing the history; this takes a few seconds")
        }
      }
    } catch {
      // The change is committed, and the next command tries again.
      console.complain(
        "keytree: warning: cannot pack the history: \(ErrorReport(describing: error).message ?? "it failed")")
    }
  }

  /// Applies a change to people and groups. Changes that are still pending, for example because a command or a merge was
  /// interrupted, are committed first: every policy needs its own commit, or other machines refuse the next one.
  ///
  /// - Parameters:
  ///   - change: the change.
  ///   - keyring: the keyring for which it was planned.
  ///   - subject: the commit subject: one line of printable ASCII.
  ///   - isRevokedHere: true to sign even with a key that the user's own keyring revokes.
  ///   - isInterim: true if another change follows that belongs to this one.
  ///   - progress: receives the number of re-encrypted items and of all items, on any thread.
  /// - Returns: the keyring with its new people.
  /// - Throws: `CommandError` if pending changes could not be committed, in which case nothing was changed; the errors of
  ///   `Keyring.make`.
  package func make(
    _ change: TeamChange, of keyring: Keyring, subject: String, evenIfRevokedHere isRevokedHere: Bool = false,
    isInterim: Bool = false, progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
  ) throws -> Keyring {
    do {
      try commitPending()
    } catch let error as NotCommittedError {
      let report = ErrorReport(describing: error.cause)
      throw CommandError.other(
        .gitFailed,
        message: "people and groups were not changed, because an earlier change could not be committed: "
          + (report.message ?? "git failed"), hint: report.hint ?? "run `keytree sync`")
    }
    return try keyring.make(
      change, subject: subject, evenIfRevokedHere: isRevokedHere, isInterim: isInterim, progress: progress)
  }

  private func committer(asksEarly: Bool = false) throws -> Committer? {
    let host = try host()
    // If the store does not exist or cannot be opened, the command reports that itself.
    guard let folder = try? store.folder() else { return nil }
    // Before the user has accepted a policy, a clone gets no commits of its own.
    guard Keyring.ownName(in: folder, host: host) != nil else { return nil }
    do {
      guard let repository = try repository() else { return nil }
      return Committer(
        repository: repository, tree: folder, timeout: host.lockTimeout, asksEarly: asksEarly
      ) { Keyring.ownName(in: folder, host: host) }
    } catch {
      throw NotCommittedError(error)
    }
  }

  /// Finishes merges by plain git, unless a git operation is in progress. Commands do not depend on it: a failure is
  /// reported, and the next command tries again.
  package func finishMerges() {
    do {
      // Without a store there is nothing to finish, and the command itself reports why it cannot open one.
      guard let tree = try? store.folder() else { return }
      // The command itself reports a folder that cannot be read.
      guard (try? PendingMergeFiles(of: tree).isEmpty) == false else { return }
      guard let repository = try repository(), !repository.isBusy else { return }
      // `git stash pop` leaves no other sign of a conflict.
      guard (try? repository.requireMerged()) != nil else { return }
      let keyring = try openKeyring()
      let finished = try PlainMerges(in: tree, of: keyring, repository).finish()
      for path in finished.refused {
        let name = ItemReference.path(path).spokenName
        console.complain(
          "keytree: warning: undid a change of \(name) from a merge by git: no member of its group signed it"
        )
      }
      if finished.copies > 0 {
        let copies = finished.copies == 1 ? "1 conflict copy" : "\(finished.copies) conflict copies"
        console.say("A merge by git left \(copies); `keytree resolve` lists the conflicts.")
      }
    } catch {
      for line in ErrorReport(describing: error).lines { console.complain(line) }
    }
  }

  /// Checks out files that the clone withheld and that are now allowed.
  ///
  /// - Parameters:
  ///   - repository: the repository of the clone.
  ///   - folder: the folder of the store.
  ///   - allowed: the files that the store may contain.
  ///   - isTold: true if files that remain withheld are reported.
  package func placeWithheldFiles(
    in repository: Repository, of folder: FileTree, _ allowed: AllowedFiles, isTold: Bool
  ) throws {
    let withheld = try repository.placeWithheldFiles(
      allowed, in: folder, timeout: try host().lockTimeout)
    for file in withheld where isTold {
      console.complain(
        "keytree: warning: \(file.path) is in the history, but was not checked out: "
          + file.reason.message)
    }
  }

  /// Restores item files that are missing or damaged in the store from the history.
  ///
  /// - Returns: the repairs.
  /// - Throws: `GitError` with `inProgress`, `unmerged` or `locked`, because the files may change while git is at work;
  ///   `KeyringError`, `SyncError`.
  package func restoreFiles(in keyring: Keyring) throws -> [Repair] {
    guard let repository = try repository() else { return [] }
    try repository.requireQuiet()
    try repository.requireMerged()
    let lost = try keyring.missingFiles() + keyring.damagedFiles()
    if lost.isEmpty { return [] }
    var found = try HistoricalFiles(in: repository).find(lost, for: keyring)
    // A file that a phone app has encrypted is not damaged: a member accepts or undoes it with `adopt`.
    for file in try keyring.foreignFiles() where file.item != nil {
      guard let original = found[file.path], let bytes = try keyring.message(of: file) else { continue }
      if !Keyring.isDamagedCopy(bytes, of: original) { found[file.path] = nil }
    }
    let damaged = lost.reduce(into: [:]) { $0.merge($1.damaged) { $1 } }
    return try keyring.restore(found, replacing: damaged)
  }

  /// Restores key files that are missing or damaged in the store. Needs no keyring, because none can be opened without
  /// them. A keyring that is open is closed.
  ///
  /// - Returns: the repairs.
  /// - Throws: `GitError` with `inProgress`, `unmerged` or `locked`; `KeyringError`, `SyncError`.
  package func restoreKeyFiles() throws -> [Repair] {
    let lost = try LostKeyFiles(in: try store.folder(), host: try host())
    if lost.digests.isEmpty { return [] }
    var found: [ContentDigest: [UInt8]] = [:]
    if let repository = try repository() {
      try repository.requireQuiet()
      try repository.requireMerged()
      if !lost.missing.isEmpty { found = try HistoricalFiles(in: repository).keyFiles(lost.digests) }
    }
    let repairs = try lost.restore(with: found)
    if !repairs.isEmpty { store.closeKeyring() }
    return repairs
  }

  /// Restores the files of items that other programs have changed from the history, so that the items can be
  /// re-encrypted, and reports them. The changed files are kept beside them, and can still be adopted.
  ///
  /// - Parameters:
  ///   - items: The items to re-encrypt.
  ///   - keyring: The store.
  /// - Throws: The errors of `HistoricalFiles.originals(of:)` and `Keyring.separate(_:originals:)`.
  package func separateChanges(of items: [ItemRecord], in keyring: Keyring) throws {
    if items.isEmpty { return }
    let ids = Set(items.map(\.id))
    let changed = try keyring.foreignFiles().filter { file in
      file.replacesItemFile && file.item.map { ids.contains($0.id) } == true
    }
    guard !changed.isEmpty, let repository = try repository() else { return }
    let originals = try HistoricalFiles(in: repository).originals(of: changed.compactMap(\.item))
    let restored = try keyring.separate(changed, originals: originals)
    for path in restored {
      console.complain(
        "keytree: warning: another program has changed \(ErrorReport.quoteCompact(path)); the signed file was restored"
      )
    }
    if !restored.isEmpty {
      console.complain("hint: `keytree adopt` lists the changes, and takes them in or undoes them")
    }
  }

  /// Throws an error if the repository already contains another store, because each store would treat the files of the
  /// other as stray files.
  ///
  /// - Parameter path: the folder of the store, which need not exist.
  /// - Throws: `SyncError` with `anotherStore`; `GitError`.
  package func refuseSecondStore(_ path: String) throws {
    guard git(in: path).program != nil else { return }
    guard let repository = try Repository.around(newStore: path, git: git(in:)) else { return }
    if !repository.prefix.isEmpty, try repository.ignoresStore() { return }
    try repository.refuseOtherStores()
  }

  /// Creates a repository for the store, or uses the one that contains it. The store may not have its policy yet.
  ///
  /// - Returns: the messages about it, one line each.
  package func makeHistory(_ path: String) throws -> [String] {
    defer { store.forgetRepository() }
    var program = git(in: path)
    program.isInWorkTree = false
    _ = try program.version()
    var around = try Repository.around(store: path, git: git(in:))
    if let found = around, !found.prefix.isEmpty, try found.ignoresStore() { around = nil }
    if around == nil {
      let setup = try repositorySetup()
      try Repository.make(in: RealPath.of(path) ?? path, setup, git: git(in:))
    }
    let repository = try Repository.around(store: path, git: git(in:))
    guard let repository else { throw GitError.notARepository(path: path) }
    try repository.refuseOtherStores()
    try setUp(repository)
    if !repository.prefix.isEmpty {
      // From now on, this repository is the store's own.
      let timeout = try host().lockTimeout
      let tree = try FileTree(at: path)
      try repository.beginStore(tree, timeout: timeout)
      return ["Its history is in the git repository \(repository.top)."]
    }
    let branch = try repository.branch()
    return ["Its history is in git, on the branch \(branch ?? "HEAD")."]
  }

  /// The path of this program, for git to call.
  private var ownProgram: String { Repository.ownProgram ?? "/usr/bin/keytree" }

}

/// The time at which the history of a store is brought up to date for a command.
package enum HistoryUse: Sendable {
  /// Never: the command only reads.
  case none
  /// Before the command, which shows or uses the history. A failure is reported, and the command still runs.
  case before
  /// After the command, even if it failed, because it may have changed something.
  case after
}
