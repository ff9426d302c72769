internal import Keyring
package import Sync
internal import Subprocess

/// The history of a store, as commands use it.
extension CommandCall {
  /// Git in a folder.
  package func git(in folder: String) -> Git {
    Git(
      in: folder, searchPath: environment.searchPath,
      environment: ProcessEnvironment(entries: environment.entries, locale: nil))
  }

  /// The repository of the store; nil when it uses none.
  package func repository() throws(Failure) -> Repository? {
    let path = try storePath()
    return try gitCall { () throws(GitError) in try Repository.find(store: path, git: git(in:)) }
  }

  /// Puts in place what a clone needs: attributes, and keytree itself for merging and showing.
  ///
  /// - Returns: Whether anything was missing.
  @discardableResult
  package func setUp(_ repository: Repository) throws(Failure) -> Bool {
    let setup = RepositorySetup(repository, program: ownProgram, searchPath: environment.searchPath)
    do {
      return try setup.apply()
    } catch {
      throw .sync(error)
    }
  }

  /// Commits what waits in the store, if it uses git.
  ///
  /// - Throws: `notCommitted`; what waits goes on waiting.
  package func commitPending() throws(Failure) {
    let (path, host) = (try storePath(), try host())
    do throws(SyncError) {
      let tree: FileTree
      do {
        tree = try StoreFolder.open(path)
      } catch {
        // There is no store, or none to be trusted with anything: the command has its own words for it.
        return
      }
      let repository: Repository?
      do {
        repository = try Repository.find(store: path, git: git(in:))
      } catch {
        throw .git(error)
      }
      guard let repository else { return }
      let committer = Committer(repository: repository, tree: tree, timeout: host.lockTimeout) {
        Keyring.ownName(in: tree, host: host)
      }
      _ = try committer.commitPending()
    } catch {
      throw .notCommitted(error)
    }
  }

  /// Gives their places to messages that a merge by plain git has put aside, unless such a merge is still going on.
  /// What fails is told; no command depends on it, and the next one tries again.
  package func settleMerges() {
    do throws(Failure) {
      let path = try storePath()
      // Without a store there is nothing to settle, and the command has its own words for it.
      guard let tree = try? StoreFolder.open(path) else { return }
      // What cannot be looked at is the command's to tell of, if it is in its way.
      guard (try? KeptMessages(of: tree).isEmpty) == false else { return }
      guard try repository()?.isBusy != true else { return }
      _ = try settle(openKeyring(), noted: true)
    } catch {
      for line in ErrorReport(error).lines { console.complain(line) }
    }
  }

  /// Gives messages their places, also those that are in the history alone.
  ///
  /// - Parameter noted: Whether only those files are looked for that a merge driver has seen going.
  /// - Returns: The files that were brought back from the history.
  /// - Throws: `git` with `inProgress`, `unmerged` or `locked`: while git is in the middle of something, nobody can say
  ///   what will be there.
  func settle(_ keyring: Keyring, noted: Bool) throws(Failure) -> [String] {
    var past: [ContentDigest: [UInt8]] = [:]
    var known: Set<ContentDigest> = []
    if let repository = try repository() {
      try gitCall { () throws(GitError) in
        try repository.requireQuiet()
        try repository.requireMerged()
      }
      let lost = try keyringCall(keyring.itemsWithoutFile(noted: noted))
      let kept = try keyringCall(keyring.keptMessages())
      let messages = PastMessages(in: repository)
      (past, known) = try syncCall { () throws(SyncError) in
        (lost.isEmpty ? [:] : try messages.find(lost), try messages.hasAny(kept))
      }
    }
    let settlement = try keyringCall(
      keyring.settleMerges(past: past, known: known, isThorough: !noted))
    if settlement.waiting > 0 {
      let versions = settlement.waiting == 1 ? "1 version waits" : "\(settlement.waiting) versions wait"
      console.complain("keytree: warning: \(versions) from a merge for somebody who can decrypt")
    }
    return settlement.restored
  }

  /// Makes a repository of the store, or takes the one around it.
  ///
  /// - Returns: What there is to say about it, one line each.
  func makeHistory(_ path: String) throws(Failure) -> [String] {
    let around = try gitCall { () throws(GitError) -> Repository? in
      var program = git(in: path)
      program.isInWorkTree = false
      _ = try program.version()
      let found = try Repository.around(store: path, git: git(in:))
      guard let found, !found.prefix.isEmpty else { return found }
      return try found.ignoresStore() ? nil : found
    }
    if around == nil {
      try gitCall { () throws(GitError) in
        try Repository.make(in: Repository.realPath(path) ?? path, git: git(in: path))
      }
    }
    let repository = try gitCall { () throws(GitError) in
      try Repository.around(store: path, git: git(in:))
    }
    guard let repository else { throw .git(.notARepository(path: path)) }
    try setUp(repository)
    if !repository.prefix.isEmpty {
      // From now on it counts as the store's own.
      try gitCall { () throws(GitError) in try repository.beginStore() }
      return ["Its history is kept in the repository \(ErrorReport.show(repository.top))."]
    }
    let branch = try gitCall { () throws(GitError) in try repository.branch() }
    return ["Its history is kept by git, on the branch \(ErrorReport.show(branch ?? "HEAD"))."]
  }

  /// This program, for git to call.
  private var ownProgram: String { Repository.ownProgram ?? "/usr/bin/keytree" }

  func gitCall<R>(_ body: () throws(GitError) -> R) throws(Failure) -> R {
    do throws(GitError) {
      return try body()
    } catch {
      throw .git(error)
    }
  }
}

/// When the history of a store is brought up to date around a command.
package enum HistoryUse: Sendable {
  /// Never: the command only reads.
  case none
  /// Before it, since it shows or uses the history. What fails is told, and the command runs.
  case before
  /// After it, also when it failed: it may have changed something.
  case after
}
