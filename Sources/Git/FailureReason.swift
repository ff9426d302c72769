internal import Encoding

/// The lines in the diagnostics of git that say why a command failed.
///
/// The last line is often only the consequence: "Could not read from remote repository", followed by advice. The reason
/// is in a line of git (`fatal:`, `error:`), of ssh, or of the remote (`remote:`).
package enum FailureReason {
  /// The largest number of lines of a reason.
  private static let lineLimit = 4
  /// The largest number of lines of the remote, which can be the output of a hook of any length.
  private static let remoteLimit = 3
  /// The longest line, in characters.
  private static let lengthLimit = 300
  /// The size of the first and of the last part of the diagnostics that are searched, in bytes.
  private static let searchedSize = 1 << 15

  /// Texts of lines that report a consequence or give advice, but no reason.
  private static let consequences = [
    "Could not read from remote repository", "failed to push some refs",
    "the remote end hung up unexpectedly",
    "Please make sure you have the correct access rights", "and the repository exists.",
  ]
  /// Beginnings of the remote's lines that report progress.
  private static let progress = [
    "Enumerating ", "Counting ", "Compressing ", "Resolving ", "Total ", "Receiving ", "Unpacking ",
  ]
  private static let prefixes = ["fatal: ", "error: ", "ssh: ", "remote: ", "ERROR: "]

  /// Returns the reason.
  ///
  /// - Parameter errors: The standard error of git, in any encoding. The text must be escaped before it is shown.
  /// - Returns: One line without a line feed; empty if there are no diagnostics.
  package static func text(in errors: [UInt8]) -> String {
    let lines = lines(of: errors)
    var found: [Substring] = []
    var remote = 0
    for (number, line) in lines.enumerated() where !isConsequence(line) {
      if line.hasPrefix("remote: ") {
        guard remote < remoteLimit, isMessage(line.dropFirst("remote: ".count)) else { continue }
        remote += 1
      } else if !prefixes.contains(where: line.hasPrefix) {
        // The program that git has started, such as ssh, writes its reason just before git reports the failure.
        let next = lines.dropFirst(number + 1).first
        guard let next, next.contains(bytesOf: consequences[0]), isMessage(line) else { continue }
      }
      if found.last != line { found.append(line) }
    }
    if found.count > lineLimit { found = Array(found.prefix(lineLimit / 2) + found.suffix(lineLimit / 2)) }
    if found.isEmpty {
      let last = lines.last { line in prefixes.contains(where: line.hasPrefix) } ?? lines.last
      found = last.map { [$0] } ?? []
    }
    return found.map(shortened).joined(separator: "; ")
  }

  /// Returns the lines that are not empty, without white space at their ends.
  private static func lines(of errors: [UInt8]) -> [Substring] {
    let isWhole = errors.count <= 2 * searchedSize
    let parts = isWhole ? [errors[...]] : [errors.prefix(searchedSize), errors.suffix(searchedSize)]
    return parts.flatMap { part in
      // Progress is redrawn after a carriage return.
      part.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    }.map { line in
      let text = Substring(String(decoding: line, as: UTF8.self))
      guard let last = text.lastIndex(where: { !$0.isWhitespace }) else { return "" }
      return text[...last]
    }.filter { !$0.isEmpty }
  }

  private static func isConsequence(_ line: Substring) -> Bool {
    line.hasPrefix("hint:") || line.hasPrefix("warning:")
      || consequences.contains { line.contains(bytesOf: $0) }
  }

  /// Returns true if a line has words, and is not a line of a frame or of progress.
  private static func isMessage(_ line: Substring) -> Bool {
    line.contains(where: \.isLetter) && !progress.contains(where: line.hasPrefix)
      && !line.hasPrefix("@") && !line.hasPrefix("hint:")
  }

  private static func shortened(_ line: Substring) -> String {
    line.count > lengthLimit ? line.prefix(lengthLimit) + "…" : String(line)
  }
}
