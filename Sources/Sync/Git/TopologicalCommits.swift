/// Commits in an order in which each comes after those that it follows.
struct TopologicalCommits {
  /// One commit.
  struct Commit {
    let name: String
    let parents: [String]
  }

  /// All of them.
  let commits: [Commit]
  /// Those that they follow and that are not among them.
  let border: [String]

  /// The most bytes of a list: about two million commits.
  private static let limit = 1 << 28

  /// Asks git.
  ///
  /// - Parameters:
  ///   - tip: The last commit.
  ///   - known: What leads to these is left out.
  ///   - git: Git in the repository.
  /// - Throws: as `Git.run`.
  init(to tip: String, without known: [String] = [], in git: Git) throws {
    // Names go in by standard input: there may be many branches.
    let input = "\(tip)\n" + known.map { "^\($0)\n" }.joined()
    let output = try git.run(
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
