/// A tree of a few kilobytes that names millions of files, because each of its folders is the same tree again.
package enum TreeBomb {
  /// Commits a tree bomb to the branch `main` of a bare repository, as a push does.
  ///
  /// - Parameters:
  ///   - folder: The path of the new folder.
  ///   - git: Runs git in the repository, with an input, and returns its output.
  package static func commit(at folder: String, git: ([String], String) throws -> String) throws {
    func run(_ words: String..., input: String = "") throws -> String {
      String(try git(words, input).prefix { $0 != "\n" })
    }
    let file = try run("hash-object", "-w", "--stdin", input: "x")
    var tree = try run("mktree", input: (10..<40).map { "100644 blob \(file)\t\($0)\n" }.joined())
    for _ in 0..<6 {
      tree = try run("mktree", input: (10..<40).map { "040000 tree \(tree)\t\($0)\n" }.joined())
    }
    // The folders above it keep their other entries.
    let parts = folder.split(separator: "/").map(String.init)
    for depth in parts.indices.reversed() {
      let place = "main:" + parts[..<depth].joined(separator: "/")
      let present = (try? git(["ls-tree", place], "")) ?? ""
      let others = present.split(separator: "\n").filter { !$0.hasSuffix("\t\(parts[depth])") }
      let entries = others.map(String.init) + ["040000 tree \(tree)\t\(parts[depth])"]
      tree = try run("mktree", input: entries.map { "\($0)\n" }.joined())
    }
    let commit = try run("commit-tree", "-p", "main", "-m", "x", tree)
    _ = try run("update-ref", "refs/heads/main", commit)
  }
}
