/// A completion script for a shell, generated from the declaration of a program.
///
/// Item names come from the program's own command ``itemCommand`` and are read line by line. The script treats a name as data
/// and never expands it, even if it contains `$(...)`.
package enum CompletionScript {
  /// A shell for which completions are available.
  package enum Shell: String, CaseIterable, Sendable {
    case bash
    case zsh
    case fish
  }

  /// Returns the script that a shell sources.
  ///
  /// - Parameters:
  ///   - shell: the shell that reads it.
  ///   - program: the program that it completes.
  package static func text(for shell: Shell, _ program: ProgramDeclaration) -> String {
    switch shell {
    case .bash: BashCompletion(program).text()
    case .zsh: ZshCompletion(program).text()
    case .fish: FishCompletion(program).text()
    }
  }

  /// The hidden command that prints the names of items, one per line, that begin with its operand.
  package static let itemCommand = "complete-items"

  /// The option of ``itemCommand`` that prints the names of groups instead.
  package static let groupOption = OptionDeclaration("groups", help: "print the names of groups instead")

  /// Returns the shell command that prints the names of items.
  ///
  /// - Parameter prefix: the beginning of the names, as a word of the shell.
  static func itemLister(_ program: ProgramDeclaration, prefix: String) -> String {
    "command \(program.name) --no-input --quiet \(itemCommand) -- \(prefix) 2>/dev/null"
  }

  /// Returns the shell command that prints the names of all groups.
  static func groupLister(_ program: ProgramDeclaration) -> String {
    "command \(program.name) --no-input --quiet \(itemCommand) \(groupOption.display) 2>/dev/null"
  }

  /// Returns a text in single quotes for a Bourne-style shell.
  static func quote(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
  }

  /// Returns the paths of all visible commands, each parent before its subcommands.
  static func allPaths(_ commands: [CommandDeclaration], below: [CommandDeclaration] = [])
    -> [[CommandDeclaration]]
  {
    commands.filter { !$0.isHidden }.flatMap { command in
      [below + [command]] + allPaths(command.subcommands, below: below + [command])
    }
  }
}
