internal import Keyring

/// A path in a commit: whether something may stand there in a store (threat T20).
enum CommittedPath {
  /// Why an entry has no place in a store.
  ///
  /// - Parameters:
  ///   - path: The path in the store; nil for one that is not UTF-8.
  ///   - mode: What git says it is.
  /// - Returns: nil for a file that may be there, as far as path and kind tell.
  static func reason(_ path: String?, mode: String) -> StrayReason? {
    switch mode {
    case "100644", "100755": break
    case "120000": return .link
    case "160000": return .repository
    default: return .special
    }
    guard let path, RelativePath.isPlain(path) else { return .name }
    let parts = path.split(separator: "/").map { $0.lowercased() }
    if let top = parts.first, [StoreLayout.work, StoreLayout.local].contains(top) { return .own }
    // What other systems take for the folder of a repository.
    return parts.contains { $0 == ".git" || $0 == "git~1" } ? .name : nil
  }
}

/// What some commits bring that has no place in a store, each looked at by itself: what a later one takes away again
/// stays in the history.
struct IncomingStrays {
  /// One for each path and commit.
  private(set) var findings: [Finding] = []

  /// The most bytes of a list of changes.
  private static let limit = 1 << 30

  /// Looks at commits.
  ///
  /// - Parameters:
  ///   - commits: Their names.
  ///   - repository: Where they are.
  /// - Throws: as `Git.run`.
  init(of commits: [String], in repository: Repository) throws(GitError) {
    if commits.isEmpty { return }
    let fields = try repository.git.records(
      [
        "diff-tree", "--stdin", "-r", "-m", "--root", "-z", "--raw", "--no-renames", "--full-index",
        "--diff-filter=d", "--no-textconv",
      ], input: Array(commits.map { "\($0)\n" }.joined().utf8), limit: Self.limit)
    var commit = ""
    var seen: Set<String> = []
    var index = fields.startIndex
    while index < fields.endIndex {
      // `:<old mode> <mode> <old name> <name> <status>`, and then the path; else the name of the next commit.
      guard fields[index].first == UInt8(ascii: ":") else {
        commit = String(decoding: fields[index], as: UTF8.self)
        index += 1
        continue
      }
      let words = fields[index].split(separator: UInt8(ascii: " "))
      guard words.count == 5, index + 1 < fields.endIndex else {
        throw .unexpectedOutput(command: "diff-tree")
      }
      let bytes = fields[index + 1]
      index += 2
      let path = String(validating: bytes, as: UTF8.self)
      guard path.map({ $0.hasPrefix(repository.prefix) }) ?? true else { continue }
      let inStore = path.map { String($0.dropFirst(repository.prefix.count)) }
      let mode = String(decoding: words[1], as: UTF8.self)
      guard let reason = CommittedPath.reason(inStore, mode: mode) else { continue }
      let shown = inStore ?? String(decoding: bytes, as: UTF8.self)
      // A merge is held against each of those that it follows.
      guard seen.insert("\(commit) \(shown)").inserted else { continue }
      findings.append(Finding(shown, .stray(reason), commit: commit))
    }
  }
}
