internal import Keyring
internal import Subprocess

/// The files of commits that do not belong in a store. Each commit is checked separately, because a file that a later
/// commit removes remains in the history.
struct IncomingUnexpectedFiles {
  /// The findings, one for each path and commit.
  private(set) var findings: [Finding] = []

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
      try look(at: commits[start..<min(start + Self.pieceSize, commits.count)], in: repository, allowed)
    }
  }

  private mutating func look(
    at commits: ArraySlice<String>, in repository: Repository, _ allowedFiles: (String) -> AllowedFiles
  ) throws {
    let fields: [ArraySlice<UInt8>]
    do {
      fields = try repository.git.records(
        [
          "diff-tree", "--stdin", "-r", "-m", "--root", "-z", "--raw", "--no-renames", "--full-index",
          "--diff-filter=d", "--no-textconv",
        ], input: Array(commits.map { "\($0)\n" }.joined().utf8))
    } catch let error as GitError where error.isAboutLength && commits.count > 1 {
      // An import or a change of a group can change every item, so the commits are checked in two halves.
      let middle = commits.startIndex + commits.count / 2
      try look(at: commits[..<middle], in: repository, allowedFiles)
      try look(at: commits[middle...], in: repository, allowedFiles)
      return
    }
    var commit = ""
    var allowed = AllowedFiles(beside: nil)
    var seen: Set<String> = []
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
      let bytes = fields[index + 1]
      index += 2
      let path = String(validating: bytes, as: UTF8.self)
      guard bytes.starts(with: repository.prefix.utf8) else { continue }
      let inStore = path.map { String($0.dropFirst(repository.prefix.count)) }
      let mode = String(decoding: words[1], as: UTF8.self)
      guard let reason = allowed.reason(inStore, mode: mode) else { continue }
      let shown = inStore ?? String(decoding: bytes, as: UTF8.self)
      // A merge is compared with each of its parents, so the same path can occur several times.
      guard seen.insert("\(commit) \(shown)").inserted else { continue }
      findings.append(Finding(shown, .stray(reason), commit: commit))
    }
  }
}
