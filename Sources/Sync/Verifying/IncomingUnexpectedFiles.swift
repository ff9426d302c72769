internal import Keyring
internal import Subprocess

/// The files of commits that do not belong in a store. Each commit is checked separately, because a file that a later
/// commit removes remains in the history.
struct IncomingUnexpectedFiles {
  /// The findings, one for each path and commit.
  private(set) var findings: [Finding] = []
  /// The commits and paths of the findings.
  private var seen: Set<[UInt8]> = []

  /// The number of commits that one process checks, unless the combined list is too long.
  private static let pieceSize = 256

  /// Checks commits.
  ///
  /// - Parameters:
  ///   - commits: The names of the commits.
  ///   - repository: The repository that contains them.
  ///   - allowed: Returns the files that are allowed in the store at a commit.
  /// - Throws: The errors of `Git.run`.
  init(
    of commits: [String], in repository: Repository, allowed: (String) -> AllowedFiles
  ) throws {
    for start in stride(from: 0, to: commits.count, by: Self.pieceSize) {
      let piece = commits[start..<min(start + Self.pieceSize, commits.count)]
      try CommitBatches.forEach(of: piece) { commits, walks in
        if walks {
          for commit in commits { try walk(commit, in: repository, allowed(commit)) }
        } else {
          try look(at: commits, in: repository, allowed)
        }
      }
    }
  }

  private mutating func look(
    at commits: ArraySlice<String>, in repository: Repository, _ allowedFiles: (String) -> AllowedFiles
  ) throws {
    let fields = try repository.git.records(
      [
        "diff-tree", "--stdin", "-r", "-m", "--root", "-z", "--raw", "--no-renames", "--full-index",
        "--diff-filter=d", "--no-textconv",
      ], input: Array(commits.map { "\($0)\n" }.joined().utf8), memoryLimit: Git.shortListMemoryLimit)
    var commit = ""
    var allowed = AllowedFiles(beside: nil)
    var index = fields.startIndex
    while index < fields.endIndex {
      // `:<old mode> <mode> <old name> <name> <status>`, and then the path; otherwise the name of the next commit.
      guard fields[index].first == UInt8(ascii: ":") else {
        commit = String(decoding: fields[index], as: UTF8.self)
        allowed = allowedFiles(commit)
        index += 1
        continue
      }
      let words = fields[index].split(separator: UInt8(ascii: " "))
      guard words.count == 5, index + 1 < fields.endIndex else {
        throw GitError.unexpectedOutput(command: "diff-tree")
      }
      let mode = String(decoding: words[1], as: UTF8.self)
      look(at: fields[index + 1], mode: mode, in: commit, below: repository.prefix, allowed)
      index += 2
    }
  }

  private mutating func look(
    at bytes: ArraySlice<UInt8>, mode: String, in commit: String, below prefix: String,
    _ allowed: AllowedFiles
  ) {
    guard bytes.starts(with: prefix.utf8) else { return }
    let path = String(validating: bytes.dropFirst(prefix.utf8.count), as: UTF8.self)
    guard let reason = allowed.reason(path, mode: mode) else { return }
    report(path ?? String(decoding: bytes, as: UTF8.self), reason, in: commit)
  }

  private mutating func report(_ path: String, _ reason: StrayReason, in commit: String) {
    // A merge is compared with each of its parents, so the same path can occur several times.
    guard seen.insert(Array("\(commit) \(path)".utf8)).inserted else { return }
    findings.append(Finding(path, .stray(reason), commit: commit))
  }

  /// Looks at a commit that names too many files for git.
  private mutating func walk(_ commit: String, in repository: Repository, _ allowed: AllowedFiles) throws {
    for var changes in try TreeDifference.walks(to: commit, in: repository) {
      for folder in changes.removeFolders(outside: allowed, below: repository.prefix) {
        report(folder, .tooManyFiles, in: commit)
      }
      for (path, entry) in changes.entries where entry.name != nil {
        look(at: Array(path.utf8)[...], mode: entry.mode, in: commit, below: repository.prefix, allowed)
      }
      for path in changes.unreadable {
        look(at: path, mode: "100644", in: commit, below: repository.prefix, allowed)
      }
    }
  }
}
