internal import CSystem
internal import Glibc

/// The protection that a program with secrets gives itself before anything else.
package enum ProcessHardening {
  /// Makes this process a poor source of leaks: no core dump, no inspection by other processes of the user,
  /// private files, and no debug log of libgpgme, which would hold plaintext.
  ///
  /// Call it first in `main`, before any other thread exists: `umask(2)` and `unsetenv(3)` are process-wide.
  /// A step that the system refuses is skipped, because each only adds to what already holds.
  ///
  /// - Returns: What another program in the place of this one would inherit, as it was before.
  @discardableResult
  package static func apply() -> Before {
    _ = keytree_set_undumpable()
    let core = __rlimit_resource_t(RLIMIT_CORE.rawValue)
    var limit = rlimit()
    _ = unsafe getrlimit(core, &limit)
    let before = Before(umask: umask(0o077), coreLimit: limit)
    // The soft limit is what counts; the hard one could not be given back.
    limit.rlim_cur = 0
    _ = unsafe setrlimit(core, &limit)
    _ = unsafe unsetenv("GPGME_DEBUG")
    return before
  }

  /// The limits of the process before the change.
  package struct Before: Sendable {
    let umask: mode_t
    let coreLimit: rlimit

    /// Gives back what a program inherits that takes the place of this one. That nobody may look into the process
    /// ends by itself then; `prctl(2)`, PR_SET_DUMPABLE.
    package func restore() {
      _ = Glibc.umask(umask)
      var limit = coreLimit
      _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    }
  }
}
