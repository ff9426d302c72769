internal import FileSystem

extension Repository {
  /// Throws an error if an operation in progress would run a program. A copied folder can contain such an operation
  /// (threat T42).
  ///
  /// - Parameter arguments: The command of git that the user runs next. One that only ends the operation is accepted.
  /// - Throws: `unsafeOperation`; a file error; the errors of `Git.run`.
  package func refuseOperationPrograms(before arguments: [[UInt8]]) throws {
    let ends = ["rebase", "cherry-pick", "revert"].flatMap { command in
      ["--abort", "--quit"].map { [Array(command.utf8), Array($0.utf8)] }
    }
    if ends.contains(arguments) { return }
    let tree = try FileTree(at: gitFolder)
    // A larger file is not one of git.
    func refuse(_ path: String, _ operation: RepositoryOperation, if isUnsafe: ([UInt8]) -> Bool) throws {
      if let bytes = try tree.read(path, limit: 1 << 24), isUnsafe(bytes) {
        throw GitError.unsafeOperation(operation, path: ".git/\(path)")
      }
    }
    try refuse("rebase-merge/git-rebase-todo", .rebase, if: Self.runsProgram)
    try refuse("rebase-merge/strategy", .rebase) { text in
      !Self.isStrategyOfGit(text.prefix { $0 != UInt8(ascii: "\n") })
    }
    let steps = try tree.read("sequencer/todo", limit: 1 << 24) ?? []
    let sequence = steps.starts(with: "revert ".utf8) ? RepositoryOperation.revert : .cherryPick
    try refuse("sequencer/todo", sequence, if: Self.runsProgram)
    let options = "sequencer/opts"
    guard try tree.read(options, limit: 1 << 24) != nil else { return }
    let settings = try Self.settings(in: "\(gitFolder)/\(options)", git)
    guard settings.allSatisfy({ $0.key != "options.strategy" || Self.isStrategyOfGit($0.value.utf8) }) else {
      throw GitError.unsafeOperation(sequence, path: ".git/\(options)")
    }
  }

  /// Returns true if a list of steps has a line with the command `exec` or its short form `x`.
  private static func runsProgram(_ list: [UInt8]) -> Bool {
    list.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.contains { line in
      let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == 0 }
      return words.first.map { $0.starts(with: "exec".utf8) || $0.elementsEqual("x".utf8) } ?? false
    }
  }

  /// Returns true if a merge strategy is one of git. For any other, git runs the program `git-merge-NAME`.
  private static func isStrategyOfGit(_ name: some Sequence<UInt8>) -> Bool {
    ["ort", "recursive", "resolve", "octopus", "ours", "subtree"].contains { name.elementsEqual($0.utf8) }
  }
}
