internal import FileSystem

extension Repository {
  /// Throws an error if a rebase in progress would run a program. A copied folder can contain such a rebase (threat T42).
  ///
  /// - Parameter arguments: The command of git that the user runs next. One that only ends the rebase is accepted.
  /// - Throws: `unsafeRebase`; a file error.
  package func refuseRebasePrograms(before arguments: [[UInt8]]) throws {
    let ends = ["--abort", "--quit"].map { ["rebase", $0].map { Array($0.utf8) } }
    if ends.contains(arguments) { return }
    let tree = try FileTree(at: gitFolder)
    for (name, isUnsafe) in [("git-rebase-todo", Self.runsProgram), ("strategy", Self.isUnknownStrategy)] {
      let path = "rebase-merge/\(name)"
      // A larger list is not one of git.
      if let bytes = try tree.read(path, limit: 1 << 24), isUnsafe(bytes) {
        throw GitError.unsafeRebase(path: ".git/\(path)")
      }
    }
  }

  /// Returns true if a list of steps has a line with the command `exec` or its short form `x`.
  private static func runsProgram(_ list: [UInt8]) -> Bool {
    list.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.contains { line in
      let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == 0 }
      return words.first.map { $0.starts(with: "exec".utf8) || $0.elementsEqual("x".utf8) } ?? false
    }
  }

  /// Returns true if a merge strategy is not one of git, so that git would run the program `git-merge-NAME`.
  private static func isUnknownStrategy(_ text: [UInt8]) -> Bool {
    let name = text.prefix { $0 != UInt8(ascii: "\n") }
    return !["ort", "recursive", "resolve", "octopus", "ours", "subtree"].contains {
      name.elementsEqual($0.utf8)
    }
  }
}
