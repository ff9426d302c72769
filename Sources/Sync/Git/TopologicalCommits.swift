/// Commits in topological order: each commit comes after its parents.
struct TopologicalCommits {
  /// A commit and its parents.
  struct Commit {
    let name: String
    let parents: [String]
  }

  /// The commits in this order.
  let commits: [Commit]
  /// The parents of these commits that are not among them.
  let border: [String]

  /// The maximum size of a list in bytes, enough for about two million commits.
  private static let limit = 1 << 28

  /// Reads the commits from git.
  ///
  /// - Parameters:
  ///   - tip: The last commit.
  ///   - known: Commits that are left out together with all their ancestors.
  ///   - git: Git in the repository.
  /// - Throws: The errors of `Git.run`.
  init(to tip: String, without known: [String] = [], in git: Git) throws {
    // The names are passed on standard input, because there may be many branches.
    let input = "\(tip)\n" + known.map { "^\($0)\n" }.joined()
    let output = try git.query(
      ["rev-list", "--topo-order", "--reverse", "--parents", "--stdin"], input: Array(input.utf8),
      limit: Self.limit)
    commits = output.split(separator: UInt8(ascii: "\n")).map { line in
      let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
      return Commit(name: words[0], parents: Array(words.dropFirst()))
    }
    let own = Set(commits.map(\.name))
    border = Set(commits.flatMap(\.parents)).subtracting(own).sorted()
  }
}
