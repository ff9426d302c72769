package import Encoding
internal import KeyringModel

/// A commit of the history.
package struct HistoricalCommit: Equatable, Sendable {
  /// The full name.
  package let name: String
  /// The names of its parents: none for the first commit, several for a merge.
  let parents: [String]
  /// The author of the change, which can be any text.
  package let author: String
  /// The mail address of the author, which can be any text.
  package let mail: String
  /// The time of the change according to the author's clock.
  package let time: Timestamp

  private static let format = "--format=%H%x00%P%x00%at%x00%an%x00%ae%x00"
  private static let fields = 5
  /// The maximum size of a list in bytes, enough for about two million commits.
  private static let limit = 1 << 28

  /// Returns the ancestors of the current commit, including itself, that differ from any of their parents in some
  /// paths.
  ///
  /// Both sides of every merge are searched, even a side from which the merge took nothing.
  ///
  /// - Parameters:
  ///   - paths: Files or folders, relative to the top of the work tree.
  ///   - git: Git in the repository.
  /// - Returns: The commits, newest first and each before its parents; none if there is no commit yet.
  /// - Throws: The errors of `Git.run`.
  static func list(touching paths: [String], in git: Git) throws -> [HistoricalCommit] {
    try list(touching: paths, in: git, ["--full-history", "--date-order"])
  }

  /// Returns the commit that gave some paths their current content; nil if there is no commit yet.
  ///
  /// A merge that took the content from one side is not such a commit.
  ///
  /// - Parameters:
  ///   - paths: Files or folders, relative to the top of the work tree.
  ///   - git: Git in the repository.
  /// - Throws: The errors of `Git.run`.
  static func last(touching paths: [String], in git: Git) throws -> HistoricalCommit? {
    try list(touching: paths, in: git, ["--max-count=1"]).first
  }

  /// Returns the last commit, merges excluded, that gave one of some paths a content, or removed it.
  ///
  /// - Parameters:
  ///   - content: The object name of the content.
  ///   - paths: Files, relative to the top of the work tree.
  ///   - git: Git in the repository.
  /// - Returns: Nil if no commit did.
  /// - Throws: The errors of `Git.run`.
  static func last(changing content: String, at paths: [String], in git: Git) throws -> HistoricalCommit? {
    // `rev-list` compares no contents.
    try list(
      touching: paths, in: git,
      ["--max-count=1", "--no-merges", "--full-history", "--find-object=\(content)"],
      with: ["log", "--no-show-signature", "--no-patch"]
    ).first
  }

  private static func list(
    touching paths: [String], in git: Git, _ options: [String],
    with command: [String] = ["rev-list", "--no-commit-header"]
  ) throws -> [HistoricalCommit] {
    guard let head = try git.commit("HEAD") else { return [] }
    let output = try git.run(
      command + ["--encoding=UTF-8"] + options + [format, head, "--"] + paths, limit: limit)
    // Each field ends with NUL. Each record ends with a line feed, which thus precedes the next record.
    let words = output.split(separator: 0, omittingEmptySubsequences: false).dropLast()
    guard words.count.isMultiple(of: fields) else { throw GitError.unexpectedOutput(command: "rev-list") }
    return stride(from: words.startIndex, to: words.endIndex, by: fields).map { start in
      func text(_ field: Int) -> String {
        String(decoding: words[start + field].drop { $0 == UInt8(ascii: "\n") }, as: UTF8.self)
      }
      let seconds = (Int64(text(2)) ?? 0).multipliedReportingOverflow(by: 1_000_000)
      return HistoricalCommit(
        name: text(0), parents: text(1).split(separator: " ").map(String.init), author: text(3),
        mail: text(4),
        time: seconds.overflow ? .latest : Timestamp(microseconds: seconds.partialValue))
    }
  }
}
