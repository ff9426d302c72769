internal import Arguments
package import CommandSupport
package import Keyring
package import Terminal

extension CommandCall {
  /// The call of a program that keytree stands in for: there are no options of keytree's own.
  ///
  /// - Parameters:
  ///   - environment: the variables it may look at.
  ///   - console: where it reads and writes.
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

/// A program that keytree stands in for, with its own arguments, output and statuses.
enum CredentialProgram {
  /// Runs it; what it throws is said as keytree says it, with a status of the program's own.
  ///
  /// - Parameters:
  ///   - console: where it reads and writes.
  ///   - failureStatus: the status for every failure.
  ///   - body: does the work, and returns its status.
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
  /// The size of the largest message: a secret of 1 MiB with every byte escaped, and the other members.
  package static let message = 8 << 20
}
