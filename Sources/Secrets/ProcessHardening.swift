internal import CSystem
internal import Glibc

/// What a program that handles secrets does to itself before anything else.
package enum ProcessHardening {
  /// Makes this process a poor source of leaks: no core dump, no inspection by other processes of the user,
  /// private files, and no debug log of libgpgme, which would hold plaintext.
  ///
  /// Call it first in `main`, before any other thread exists: `umask(2)` and `unsetenv(3)` are process-wide.
  /// A step that the system refuses is skipped, because each only adds to what already holds.
  package static func apply() {
    _ = keytree_set_undumpable()
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    _ = umask(0o077)
    _ = unsafe unsetenv("GPGME_DEBUG")
  }
}
