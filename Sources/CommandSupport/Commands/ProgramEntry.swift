package import Arguments
package import Keyring
package import Terminal

/// The whole program, for commands that need all of its commands: `help`, `completions` and `demo`.
package struct ProgramEntry: Sendable {
  /// The declaration of all commands.
  package let declaration: ProgramDeclaration
  /// Runs a command line and returns the exit code.
  package let run: @Sendable (_ words: [Word], Environment, Console) -> ExitCode

  /// The factory of the OpenPGP engine, for tests; nil for GnuPG.
  package let engine: EngineFactory?
  /// The commit that the program was built from; nil if it is not known.
  package let commit: String?

  /// Creates the entry from a declaration and the function that runs a command line.
  package init(
    _ declaration: ProgramDeclaration, engine: EngineFactory? = nil, commit: String? = nil,
    run: @escaping @Sendable ([Word], Environment, Console) -> ExitCode
  ) {
    self.declaration = declaration
    self.engine = engine
    self.commit = commit
    self.run = run
  }

  /// The entry for programs that Keytree replaces, which have none of its commands.
  package static func withoutCommands(_ engine: EngineFactory?) -> ProgramEntry {
    let declaration = ProgramDeclaration(
      name: "keytree", summary: "", globals: [], commands: [], exitCodes: ExitCode.meanings, variables: [])
    return ProgramEntry(declaration, engine: engine) { _, _, _ in .usage }
  }
}
