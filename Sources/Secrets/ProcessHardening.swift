internal import CSystem
internal import Glibc

/// The protection that a program with secrets sets up before anything else.
package enum ProcessHardening {
  /// Hardens this process against leaks: no core dumps, no inspection by other processes of the user, new files private
  /// to the user, and no debug log of libgpgme, which would contain plaintext.
  ///
  /// Call it first in `main`, before any other thread exists: `umask(2)` and `unsetenv(3)` are process-wide. A step
  /// that the system refuses is skipped, because each step is only an additional protection.
  ///
  /// - Returns: The previous settings, which must be restored before this process executes another program.
  @discardableResult
  package static func apply() -> Before {
    _ = keytree_set_undumpable()
    let core = __rlimit_resource_t(RLIMIT_CORE.rawValue)
    var limit = rlimit()
    _ = unsafe getrlimit(core, &limit)
    let before = Before(umask: umask(0o077), coreLimit: limit)
    // Only the soft limit is lowered, because the process could not raise a lowered hard limit again.
    limit.rlim_cur = 0
    _ = unsafe setrlimit(core, &limit)
    _ = unsafe unsetenv("GPGME_DEBUG")
    return before
  }

  /// The umask and the core limit of the process before the change.
  package struct Before: Sendable {
    let umask: mode_t
    let coreLimit: rlimit

    /// Restores the settings that a program inherits when it replaces this one with `execve(2)`. The kernel itself then
    /// makes the process dumpable again (`prctl(2)`, PR_SET_DUMPABLE).
    package func restore() {
      _ = Glibc.umask(umask)
      var limit = coreLimit
      _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }
  }
}
