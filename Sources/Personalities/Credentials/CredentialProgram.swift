internal import Arguments
package import CommandSupport
package import Keyring
package import Terminal

extension CommandCall {
  /// Creates the call for a protocol of another program, without any options of keytree.
  ///
  /// - Parameters:
  ///   - environment: the environment.
  ///   - console: the console for input and output.
  ///   - engine: creates the OpenPGP engine, for tests; nil for GnuPG.
  package init(
    withoutOptionsIn environment: Environment, _ console: Console, engine: EngineFactory? = nil
  ) {
    let none = ParsedArguments()
    self.init(
      path: [], arguments: none, globals: GlobalOptions(none), environment: environment, console: console,
      program: .withoutCommands(engine))
  }
}

/// A program whose arguments, output and exit statuses keytree implements.
enum CredentialProgram {
  /// Runs the program. Errors are reported like those of keytree, with an exit status of the program.
  ///
  /// - Parameters:
  ///   - console: the console for input and output.
  ///   - failureStatus: the exit status for every error.
  ///   - body: does the work and returns the exit status.
  static func run(
    _ console: Console, failureStatus: Int32 = 1, _ body: () throws -> Int32
  ) -> Int32 {
    do {
      let status = try body()
      try console.finish()
      return status
    } catch {
      console.flush()
      for line in ErrorReport(describing: error).lines { console.complain(line) }
      return failureStatus
    }
  }
}

/// The limits for input from other programs.
package enum CredentialLimits {
  /// The largest size of a message: a secret of 1 MiB with every byte escaped, and the other members.
  package static let message = 8 << 20
}
