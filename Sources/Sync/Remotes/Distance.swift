internal import Subprocess

/// The number of commits by which a store's branch and its upstream branch differed at the last fetch. Nothing is
/// fetched.
package struct Distance: Sendable, Equatable {
  /// The name of the upstream branch in git, such as `origin/main`.
  package let remote: String
  /// The number of commits that only this clone has.
  package let ahead: Int
  /// The number of commits that only the remote has.
  package let behind: Int

  /// Determines the distance with git.
  ///
  /// - Returns: Nil if the branch has no upstream branch, or it was never fetched.
  /// - Throws: The errors of `Git.run`.
  package init?(in repository: Repository) throws {
    let name = try repository.git.outcome(of: [
      "rev-parse", "--abbrev-ref", "--symbolic-full-name", "@{upstream}",
    ])
    guard name.succeeded else { return nil }
    remote = String(decoding: name.output.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    let counted = try repository.git.outcome(
      of: ["rev-list", "--count", "--left-right", "HEAD...@{upstream}", "--"])
    let words = String(decoding: counted.output, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard counted.succeeded, words.count == 2, let ahead = Int(words[0]), let behind = Int(words[1]) else {
      return nil
    }
    (self.ahead, self.behind) = (ahead, behind)
  }
}
