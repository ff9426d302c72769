internal import CSystem
internal import Glibc
internal import Secrets

/// The state in which this process was started. It is restored before another program replaces this one.
package struct LaunchState: Sendable {
  /// The variables, as `NAME=VALUE`.
  package let variables: [[UInt8]]
  private let hardening: ProcessHardening.Before
  private let ignoredBrokenPipes: Bool

  /// Hardens this process and stores its previous state.
  package init(hardening variables: [[UInt8]]) {
    self.variables = variables
    hardening = ProcessHardening.apply()
    // A closed pipe must be an error of `write(2)` and must not end the process: gpg may exit before it has read all
    // its input (libgpgme requires this), and work in progress must be cleaned up.
    ignoredBrokenPipes = Self.isIgnoring(SIGPIPE)
    signal(SIGPIPE, SIG_IGN)
  }

  private static func isIgnoring(_ number: Int32) -> Bool {
    var action = sigaction()
    guard unsafe sigaction(number, nil, &action) == 0 else { return false }
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Restores everything that another program would inherit.
  package func restore() {
    hardening.restore()
    keytree_restore_launch_mask()
    if !ignoredBrokenPipes { signal(SIGPIPE, SIG_DFL) }
  }

  /// Hardens the process again after the other program could not be started.
  package func harden() {
    _ = ProcessHardening.apply()
    signal(SIGPIPE, SIG_IGN)
  }
}
