/// Our lines in `info/attributes`, which outranks every `.gitattributes` that somebody pushes (threat T18).
///
/// They stand between two marks that name the store's place in the work tree, because a repository may hold several
/// stores and lines of the person.
struct AttributeBlock {
  private let begin: String
  private let end: String
  private let lines: [String]

  /// The block of the store at a prefix: empty, or a path that ends with `/`.
  init(prefix: String) {
    let place = Self.pattern(prefix)
    begin = "# keytree: what follows is kept by keytree, for /\(place)"
    end = "# keytree: end of /\(place)"
    let plain = "-text -eol -ident -filter -working-tree-encoding"
    lines = [
      // Everything as it is, and nothing for a merge by lines, which would make a wrong index or a broken message.
      Self.line("/\(place)**", "\(plain) -diff merge=binary"),
      Self.line("/\(place)index/*.jsonl", "diff=keytree-index merge=keytree-index"),
      Self.line("/\(place)items/**/*.gpg", "diff=keytree-item merge=keytree-item"),
      Self.line("/\(place)items/**/*.json", "diff=keytree-record merge=keytree-record"),
      // Who can read what is for everybody to see, and nothing for a merge by lines.
      Self.line("/\(place)policy.json", "diff merge=binary \(plain)"),
      // Texts of the person.
      // A pushed file can make macros of these names, which what stands behind them outranks.
      Self.line("/\(place)README*", "diff merge \(plain)"),
      Self.line("/\(place).git*", "diff merge \(plain)"),
    ]
  }

  /// A file with the block at its end, in place of an older one.
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

  /// A pattern and its attributes; a pattern with a space or a quotation mark is written between quotation marks.
  private static func line(_ pattern: String, _ attributes: String) -> String {
    let isPlain = pattern.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }
    return "\(isPlain ? pattern : CommitContent.quoted(pattern)) \(attributes)"
  }

  /// A path in which nothing stands for anything else; `gitignore(5)`.
  private static func pattern(_ path: String) -> String {
    var text = ""
    for character in path.unicodeScalars {
      if "*?[]\\".unicodeScalars.contains(character) { text += "\\" }
      text.unicodeScalars.append(character)
    }
    return text
  }
}
