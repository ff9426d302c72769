package import Git

/// The lines of Keytree in `info/attributes`, which override every `.gitattributes` that is pushed (threat T18).
///
/// Two marker lines with the path of the store in the work tree enclose them, because a repository may contain several
/// stores, and the file may contain other lines of the user.
struct AttributeBlock {
  private let begin: String
  private let end: String
  private let lines: [String]

  /// Creates the block of the store at a prefix, which is empty or a path that ends with `/`.
  init(prefix: String) {
    let place = Self.pattern(prefix)
    begin = "# keytree: what follows is kept by keytree, for /\(place)"
    end = "# keytree: end of /\(place)"
    let plain = "-text -eol -ident -filter -working-tree-encoding"
    lines = [
      // No conversion of content, and no line-based merge, which would produce a wrong index or a damaged OpenPGP
      // message.
      Self.line("/\(place)**", "\(plain) -diff merge=binary"),
      Self.line("/\(place)index/*.jsonl", "diff=keytree-index merge=keytree-index"),
      Self.line("/\(place)items/**/*.gpg", "diff=keytree-item merge=keytree-item"),
      Self.line("/\(place)items/**/*.json", "diff=keytree-record merge=keytree-record"),
      // The policy is shown in diffs, so that everyone can see who has access, but it is never merged line by line.
      Self.line("/\(place)policy.json", "diff merge=binary \(plain)"),
      // Text files of the user. A pushed `.gitattributes` can redefine `diff` and `merge` as macros, so the attributes
      // of `plain` come after them and override the macros.
      Self.line("/\(place)README*", "diff merge \(plain)"),
      Self.line("/\(place).git*", "diff merge \(plain)"),
    ]
  }

  /// Returns the text with the block at its end. An older block is removed.
  func put(into text: String) -> String {
    var kept: [Substring] = []
    var isInside = false
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    if lines.last == "" { lines.removeLast() }
    for line in lines {
      if line == begin { isInside = true }
      if !isInside { kept.append(line) }
      if line == end { isInside = false }
    }
    let all = kept.map(String.init) + [begin] + self.lines + [end]
    return all.joined(separator: "\n") + "\n"
  }

  /// Returns a line with a pattern and its attributes. The pattern is quoted if it contains a space or a quotation
  /// mark.
  private static func line(_ pattern: String, _ attributes: String) -> String {
    let isPlain = pattern.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }
    return "\(isPlain ? pattern : CommitContent.quoted(pattern)) \(attributes)"
  }

  /// Returns a pattern that matches only this path, with its wildcards escaped (`gitignore(5)`).
  private static func pattern(_ path: String) -> String {
    var text = ""
    for character in path.unicodeScalars {
      if "*?[]\\".unicodeScalars.contains(character) { text += "\\" }
      text.unicodeScalars.append(character)
    }
    return text
  }
}

extension Repository {
  /// Writes Keytree's attributes if they are missing. Without them, a pushed filter could run whenever git writes its
  /// index, because git then reads files again that have changed at the same moment.
  ///
  /// - Returns: True if they were missing.
  /// - Throws: `KeyringError` with a file error: `info/attributes` may be a link.
  package func protectFiles() throws -> Bool {
    let path = "info/attributes"
    let tree = try FileTree(at: commonFolder)
    let old = String(decoding: try tree.read(path, limit: 1 << 20) ?? [], as: UTF8.self)
    let new = AttributeBlock(prefix: prefix).put(into: old)
    if new == old { return false }
    // Another process may write the file at the same time, and one that was killed may have left its temporary file.
    let temporary = "\(path).keytree-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    do {
      try tree.replaceFile(path, with: Array(new.utf8), temporary: temporary)
    } catch {
      // The first error is reported. A temporary file that remains does no harm.
      try? tree.remove(temporary)
      throw error
    }
    return true
  }
}
