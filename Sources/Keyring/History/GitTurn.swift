package import Git

/// Ensures that only one process at a time lets git change a repository.
///
/// A git that is killed leaves its locks, and every later git fails because of them. So a process writes a note of the
/// existing locks before it runs git. If it finds the note of another process, that process or its git was killed. The
/// locks that were created since then are removed, unless a git is running in the repository.
package enum GitTurn {
  /// Runs a closure that lets git change the repository.
  ///
  /// - Parameters:
  ///   - purpose: The part of the repository that git changes.
  ///   - repository: The repository.
  ///   - store: The folder of the store.
  ///   - timeout: The time to wait for another process, in seconds.
  ///   - body: Runs git.
  /// - Throws: `KeyringError` with `busy` or a file error, and the errors of `body`.
  package static func take<R>(
    _ purpose: HistoryLock.Purpose, in repository: Repository, _ store: FileTree, timeout: Double,
    _ body: () throws -> R
  ) throws -> R {
    let lock = try HistoryLock(purpose, in: store, timeout: timeout)
    defer { withExtendedLifetime(lock) {} }
    let locks = GitLocks(of: repository, for: purpose)
    if let note = lock.lastNote { locks.remove(since: note) }
    locks.removeLeftovers()
    try lock.leaveNote(locks.note())
    do {
      let result = try body()
      try end(lock, locks)
      return result
    } catch {
      if (error as? GitError)?.mayLeaveGit ?? false { throw error }
      try end(lock, locks)
      throw error
    }
  }

  /// Removes the note, unless there are new locks: one that git could not remove, or one of another program that is
  /// running. In this case the note lists the new locks, so that the next holder can remove them.
  private static func end(_ lock: borrowing HistoryLock, _ locks: GitLocks) throws {
    guard let note = lock.note, let left = locks.note(after: note) else { return try lock.removeNote() }
    try lock.leaveNote(left)
  }
}

extension GitError {
  /// A Boolean value that indicates whether a git may have been killed, or may still be running.
  fileprivate var mayLeaveGit: Bool {
    switch self {
    case .killed, .timedOut, .process: true
    default: false
    }
  }
}
