internal import Clocks
internal import FileSystem
internal import Git
internal import Glibc
internal import KeyringModel
internal import OpenPGP
internal import Subprocess
internal import Synchronization

/// Commits the changes of an open store to its history.
///
/// A version is in the history before it is replaced or removed: `requireCommitted` commits pending changes at once if
/// one of them has made the version. All other changes are committed in the background, at most a second later and
/// together with the changes of other threads, or when the store is closed or the process exits. If the process is
/// killed, its changes stay in the journal, and the next writer of the store commits them.
final class HistoryWriter: Sendable {
  private struct State {
    /// The time of the next commit in the background; nil if there is nothing to commit.
    var due: Duration?
    /// True while a thread waits for that time or commits.
    var isAtWork = false
    var isClosing = false
    /// The reason why the last commit in the background failed; nil if it succeeded.
    var failure: KeyringError?
    /// True if the store was found to be in the work tree of a repository that does not track it.
    var isUntracked = false
  }

  /// The time after the first change until it is committed in the background.
  private static let delay = Duration.seconds(1)
  /// The time until another attempt after a failure.
  private static let retryDelay = Duration.seconds(60)
  /// The time to wait for a lock of another git before a version is replaced, in seconds.
  private static let lockPatience = Duration.seconds(2)

  private let tree: FileTree
  private let host: HostContext
  private let author: @Sendable () -> String?
  private let state = Monitor(State())

  /// Creates the writer of a store. Nothing is started before the first change.
  ///
  /// - Parameters:
  ///   - tree: The folder of the store.
  ///   - host: The context of this machine.
  ///   - author: Returns the author of the changes, which is used if git has no name configured; nil for none.
  init(of tree: FileTree, host: HostContext, author: @escaping @Sendable () -> String?) {
    (self.tree, self.host, self.author) = (tree, host, author)
  }

  // MARK: Committing now

  /// Commits the pending changes.
  ///
  /// - Throws: `KeyringError.history` if git fails, `.busy`, or a file error. The changes stay pending.
  func commit() throws(KeyringError) { _ = try pendingCommit() }

  /// Returns true if a version that is about to be replaced or removed is not in the history yet. The caller holds the
  /// store's lock, and no other program is started.
  ///
  /// - Parameter files: The files of the versions.
  /// - Throws: A file error.
  func mustCommit(before files: [String]) throws(KeyringError) -> Bool {
    let tracked = files.filter(StoreLayout.isTracked)
    guard !tracked.isEmpty, let repository = try repository(isChecked: false) else { return false }
    let journal = CommitJournal(of: tree)
    if let isPending = try journal.isPending(Set(tracked), for: repository.identity) { return isPending }
    // The content of the history is unknown.
    return !state.wait { $0.isUntracked }
  }

  /// Commits the pending changes before a version that is not in the history is replaced or removed.
  ///
  /// - Throws: `KeyringError.history` if git fails, so that the version must not be replaced; `.busy`, or a file error.
  func commitBeforeReplacing() throws(KeyringError) {
    let end = SystemClock.awake + Self.lockPatience
    while true {
      do {
        return try commit()
      } catch {
        // A git of the user may hold its lock for a moment.
        guard case .history(let reason) = error, reason.isLock, SystemClock.awake < end else { throw error }
        usleep(20_000)
      }
    }
  }

  /// Commits the pending changes.
  ///
  /// - Returns: The committer; nil if nothing was pending, or the store has no history.
  private func pendingCommit() throws(KeyringError) -> Committer? {
    do {
      guard let place = try repository(isChecked: false) else { return nil }
      if try CommitJournal(of: tree).isSettled(for: place.identity) { return nil }
      guard let repository = try repository(isChecked: true) else {
        state.update { $0.isUntracked = true }
        return nil
      }
      let committer = Committer(
        repository: repository, tree: tree, timeout: host.lockTimeout, author: author)
      return try committer.commitPending() == .nothing ? nil : committer
    } catch {
      throw KeyringError(committing: error)
    }
  }

  /// Returns the repository of the store; nil if there is none, or if git is not installed.
  ///
  /// - Parameter isChecked: False to look for the folder of a repository only, which starts no program. Git must not run
  ///   in such a repository, because its configuration was not checked, and the store may not be a part of it.
  private func repository(isChecked: Bool) throws(KeyringError) -> Repository? {
    // The path with which the store was opened may be relative to a folder that is no longer the working directory.
    guard let path = tree.currentPath else { return nil }
    let (searchPath, environment) = (host.searchPath, host.environment)
    let makeGit = { Git(in: $0, searchPath: searchPath, environment: environment) }
    do {
      guard let found = try Repository.unchecked(around: path, git: makeGit), found.git.program != nil else {
        return nil
      }
      return isChecked ? try Repository.find(store: path, git: makeGit) : found
    } catch {
      throw KeyringError(committing: error)
    }
  }

  // MARK: Committing in the background

  /// Commits a change that was made just now within a second, unless the caller of the library commits it.
  func changeWasMade() {
    guard host.commitsChanges, mayHaveHistory else { return }
    let starts = state.update { state in
      if state.due == nil || state.failure != nil { state.due = SystemClock.awake + Self.delay }
      if state.isAtWork || state.isClosing { return false }
      state.isAtWork = true
      ExitCommits.shared.add(self)
      return true
    }
    guard starts else { return }
    if let thread = WorkerThread({ [self] in work() }) { return thread.detach() }
    // Without another thread, the change waits only for its own commit.
    state.update { $0.due = SystemClock.awake }
    work()
  }

  /// False if the store has no history, so that no thread is needed.
  private var mayHaveHistory: Bool {
    do {
      return try repository(isChecked: false) != nil && !state.wait { $0.isUntracked }
    } catch {
      // The commit reports what is wrong with the repository.
      return true
    }
  }

  /// Commits the changes that are pending, and waits until that is done. Later changes are not committed in the
  /// background.
  func close() {
    state.update { $0.isClosing = true }
    state.wait { $0.isAtWork ? nil : () }
  }

  /// The work of the thread: it ends when there is nothing to commit.
  private func work() {
    while true {
      switch nextStep() {
      case .end: return
      case .wait(let due): _ = state.wait(until: due) { $0.isClosing ? () : nil }
      case .commit: commitAndReport()
      }
    }
  }

  private enum Step {
    case wait(until: Duration)
    case commit
    case end
  }

  private func nextStep() -> Step {
    let now = SystemClock.awake
    return state.update { state in
      guard let due = state.due else {
        ExitCommits.shared.remove(self)
        state.isAtWork = false
        return .end
      }
      guard state.isClosing || due <= now else { return .wait(until: due) }
      state.due = nil
      return .commit
    }
  }

  /// Commits the pending changes. After a failure, tries again later.
  private func commitAndReport() {
    let failure = commitInBackground()
    let isNew = state.update { state in
      defer { state.failure = failure }
      if failure != nil, state.due == nil, !state.isClosing {
        state.due = SystemClock.awake + Self.retryDelay
      }
      return failure != nil && failure != state.failure
    }
    if let failure, isNew { host.historyFailed(failure) }
  }

  private func commitInBackground() -> KeyringError? {
    do throws(KeyringError) {
      guard let committer = try pendingCommit(), !state.wait(for: { $0.isClosing }) else { return nil }
      do {
        try committer.packHistory()
      } catch {
        throw KeyringError(committing: error)
      }
      return nil
    } catch {
      return error
    }
  }
}

/// The changes that are committed when the process exits.
private final class ExitCommits: Sendable {
  static let shared = ExitCommits()

  private let writers = Mutex<[ObjectIdentifier: HistoryWriter]>([:])
  private let process = getpid()

  private init() {
    // A child that was forked without `execve(2)` has none of the threads that commit.
    atexit { if getpid() == ExitCommits.shared.process { ExitCommits.shared.finish() } }
  }

  func add(_ writer: HistoryWriter) { writers.withLock { $0[ObjectIdentifier(writer)] = writer } }

  func remove(_ writer: HistoryWriter) { writers.withLock { $0[ObjectIdentifier(writer)] = nil } }

  private func finish() {
    for writer in writers.withLock({ Array($0.values) }) { writer.close() }
  }
}

extension KeyringError {
  /// Creates the error for a failed commit.
  fileprivate init(committing error: any Error) {
    self =
      switch error {
      case let error as KeyringError: error
      case let error as FileError: .file(error)
      case let error as GitError: .history(HistoryError(error))
      default: .history(HistoryError(.unexpectedOutput(command: "\(error)")))
      }
  }
}
