/// A completion script for a shell, made from the declaration of a program.
///
/// Names of items come from the program's own `find`, read line by line: a name is data to the script and
/// is never expanded, whatever `$(...)` it holds.
package enum CompletionScript {
  /// A shell that has completions.
  package enum Shell: String, CaseIterable, Sendable {
    case bash
    case zsh
    case fish
  }

  /// The script to be sourced by a shell.
  ///
  /// - Parameters:
  ///   - shell: the shell that reads it.
  ///   - program: what it completes.
  package static func text(for shell: Shell, _ program: ProgramDeclaration) -> String {
    switch shell {
    case .bash: BashCompletion(program).text()
    case .zsh: ZshCompletion(program).text()
    case .fish: FishCompletion(program).text()
    }
  }

  /// The shell words that print `container/account` of every item, one per line. Names with a backslash
  /// are escaped in the output of `find` and left out.
  static func itemLister(_ program: ProgramDeclaration) -> String {
    "command \(program.name) --no-input --quiet find 2>/dev/null | "
      + #"cut -f2,3 | tr '\t' / | grep -Fv "\\""#
  }

  /// A text in single quotes for a shell of the Bourne family.
  static func quote(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
  }

  /// Every command with the path that leads to it, those above before those below, without hidden ones.
  static func allPaths(_ commands: [CommandDeclaration], below: [CommandDeclaration] = [])
    -> [[CommandDeclaration]]
  {
    commands.filter { !$0.isHidden }.flatMap { command in
      [below + [command]] + allPaths(command.subcommands, below: below + [command])
    }
  }
}
