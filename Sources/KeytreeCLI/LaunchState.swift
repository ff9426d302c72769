internal import Glibc
internal import Secrets

/// What this process was started with and has changed about itself: a program that takes its place gets it back.
package struct LaunchState: Sendable {
  /// The variables, as `NAME=VALUE`.
  package let variables: [[UInt8]]
  private let hardening: ProcessHardening.Before
  private let ignoredBrokenPipes: Bool

  /// Hardens this process, and remembers what it was like before.
  package init(hardening variables: [[UInt8]]) {
    self.variables = variables
    hardening = ProcessHardening.apply()
    // A reader that goes away is an error of `write(2)`, not the end of the process: gpg may go away while it is
    // fed (libgpgme asks for this), and what was begun has to be cleaned up.
    ignoredBrokenPipes = Self.isIgnoring(SIGPIPE)
    signal(SIGPIPE, SIG_IGN)
  }

  private static func isIgnoring(_ number: Int32) -> Bool {
    var action = sigaction()
    guard unsafe sigaction(number, nil, &action) == 0 else { return false }
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Gives everything back that another program would inherit.
  func restore() {
    hardening.restore()
    if !ignoredBrokenPipes { signal(SIGPIPE, SIG_DFL) }
  }

  /// Takes it again, when the other program could not be started.
  func harden() {
    _ = ProcessHardening.apply()
    signal(SIGPIPE, SIG_IGN)
  }
}
