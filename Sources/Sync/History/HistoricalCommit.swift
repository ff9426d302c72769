package import Encoding
internal import KeyringModel

/// A commit as a history tells of it.
package struct HistoricalCommit: Equatable, Sendable {
  /// Its full name.
  package let name: String
  /// The names of those that it follows: none for the first one, several for a merge.
  let parents: [String]
  /// The author of the change; any text.
  package let author: String
  /// The mail address of that person; any text.
  package let mail: String
  /// The time of the change, by the author's clock.
  package let time: Timestamp

  private static let format = "--format=%H%x00%P%x00%at%x00%an%x00%ae%x00"
  private static let fields = 5
  /// The most bytes of a list: about two million commits.
  private static let limit = 1 << 28

  /// The commits that lead to the current one and differ in some paths from any of those that they follow.
  ///
  /// Both sides of every merge are looked at, also one that a merge took nothing of.
  ///
  /// - Parameters:
  ///   - paths: Files or folders, from the top of the work tree.
  ///   - git: Git in the repository.
  /// - Returns: The newest first, and none before one that follows it; nothing where there is no commit yet.
  /// - Throws: as `Git.run`.
  static func list(touching paths: [String], in git: Git) throws -> [HistoricalCommit] {
    guard let head = try git.commit("HEAD") else { return [] }
    let output = try git.run(
      [
        "rev-list", "--no-commit-header", "--full-history", "--date-order", "--encoding=UTF-8", format, head,
        "--",
      ] + paths, limit: limit)
    // Every field is ended by NUL and every record by a line feed, which is then in front of the next one.
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
