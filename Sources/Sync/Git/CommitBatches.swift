internal import Encoding

/// Lists of the changes of many commits, some of which may name too many files for git (threat T46).
enum CommitBatches {
  /// Lists the changes of commits with as few processes as possible.
  ///
  /// - Parameters:
  ///   - commits: The commits.
  ///   - list: Lists the changes of some commits with git or, if the second argument is true, of one commit with
  ///     `TreeDifference.walks(to:from:in:)`. If it throws an error about the length of a list, it must have added nothing.
  /// - Throws: The errors of `list`.
  static func forEach<Commit>(
    of commits: ArraySlice<Commit>, _ list: (ArraySlice<Commit>, _ walks: Bool) throws -> Void
  ) throws {
    if commits.isEmpty { return }
    do {
      try list(commits, false)
    } catch let error as GitError where error.isAboutLength {
      guard commits.count > 1 else { return try list(commits, true) }
      // An import or a change of a group can change every item, so the commits are listed in two halves.
      let middle = commits.startIndex + commits.count / 2
      try forEach(of: commits[..<middle], list)
      try forEach(of: commits[middle...], list)
    }
  }
}

extension TreeDifference {
  /// Compares a commit that names too many files for git with its parents.
  ///
  /// - Parameters:
  ///   - commit: The full name of the commit.
  ///   - parents: The parents to compare it with; nil for all of them.
  ///   - repository: The repository.
  /// - Returns: The differences from each parent; from the empty tree if the commit has none.
  /// - Throws: The errors of `Git.run`.
  static func walks(
    to commit: String, from parents: [String]? = nil, in repository: Repository
  ) throws -> [TreeDifference] {
    let bases = try parents ?? allParents(of: commit, in: repository)
    return try (bases.isEmpty ? [repository.hash().emptyTree] : bases).map {
      try TreeDifference(walkingFrom: $0, to: commit, in: repository.git)
    }
  }

  private static func allParents(of commit: String, in repository: Repository) throws -> [String] {
    let list = try repository.git.run(["rev-list", "--max-count=1", "--parents", commit])
    return String(decoding: list, as: UTF8.self).split(whereSeparator: \.isWhitespace).dropFirst().map(
      String.init)
  }
}
