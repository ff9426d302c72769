internal import KeyringModel
package import Secrets

/// The import of `.netrc` and `.authinfo`.
///
/// - `machine` is the server, `login` the account, `password` the secret. `port` is the port, or the protocol if it is
///   a word as in `.authinfo`. `default` becomes a generic password of the service `default`.
/// - `account`, a second password for FTP servers, is encrypted.
/// - A word may be in double quotes. Within them a backslash escapes the next byte, and `\n`, `\r` and `\t` have their
///   usual meaning, as in curl. Outside of quotes a backslash is an ordinary character. A `#` begins a comment only
///   where a keyword is expected.
/// - If a keyword occurs twice, both values are kept: the second one is stored in a field.
/// - `macdef`, a list of commands for FTP, is a loss.
package enum NetrcImport {
  /// Plans all entries.
  ///
  /// - Parameter bytes: the content of the file.
  /// - Throws: `notUTF8`, and `line` with the problem in a line.
  package static func plan(_ bytes: borrowing SecretBytes) throws(SourceError) -> ImportDraft {
    try SourceText.check(bytes)
    var words = NetrcWords(SecretSlice(bytes.copy()))
    var draft = ImportDraft()
    var entry: ImportedEntry?
    while let (keyword, line) = try words.nextKeyword() {
      switch keyword {
      case "machine":
        entry?.finish(into: &draft)
        entry = machine(try words.value(of: keyword, line), line)
      case "default":
        entry?.finish(into: &draft)
        entry = ImportedEntry(.line(line))
        entry?.attributes[.service] = "default"
      case "macdef":
        _ = try words.value(of: keyword, line)
        words.skipMacro()
        // Its name is not reported: without quotes, a password with spaces can look like a macro.
        draft.lose(.line(line), .noPlace("FTP commands cannot be stored"), part: .column(keyword))
      default:
        guard entry != nil else { throw .line(line, "`\(keyword)` precedes the first `machine`") }
        try read(keyword, try words.value(of: keyword, line), line, &entry)
      }
    }
    entry?.finish(into: &draft)
    if draft.items.isEmpty, draft.findings.isEmpty { throw .otherFormat(expected: "a netrc file") }
    return draft
  }

  private static func machine(_ name: SecretSlice, _ line: Int) -> ImportedEntry {
    var entry = ImportedEntry(.line(line))
    if let host = HostName(authority: name.publicBytes()) {
      entry.attributes[.server] = AttributeValue(text: host.host)
      entry.attributes[.port] = host.port.map { .integer($0) }
    } else {
      entry.set(.service, name)
    }
    return entry
  }

  private static func read(
    _ keyword: String, _ value: SecretSlice, _ line: Int, _ entry: inout ImportedEntry?
  ) throws(SourceError) {
    switch keyword {
    case "login", "user", "username": entry?.claim(.account, value, title: keyword)
    case "password", "passwd", "secret": entry?.claimSecret(value, title: keyword)
    case "account", "force": entry?.seal(.column(keyword), value)
    case "port", "protocol":
      let text = String(decoding: value.publicBytes(), as: UTF8.self)
      if entry?.attributes[.server] == nil {
        entry?.claim(AttributeName("\(keyword)Name"), value, title: keyword)
      } else if let number = Int64(text), (0...65535).contains(number) {
        // The parsed number, without leading zeros.
        entry?.claim(.port, SecretSlice("\(number)"), title: keyword)
      } else {
        entry?.claim(.protocol, value, title: keyword)
      }
    default: throw .line(line, "a word that is not a keyword")
    }
  }
}

/// The words of a `.netrc`, with the numbers of their lines. Errors never contain a word, because it may be a password.
private struct NetrcWords {
  private let text: SecretSlice
  private var position = 0
  private var line = 1

  private static let keywords = [
    "machine", "default", "macdef", "login", "user", "username", "password", "passwd", "secret", "account",
    "force", "port", "protocol",
  ]

  init(_ text: SecretSlice) {
    self.text = text
    let hasMark = unsafe text.withBytes { unsafe $0.starts(with: [0xEF, 0xBB, 0xBF]) }
    position = hasMark ? 3 : 0
  }

  /// Returns the next keyword, or nil at the end.
  mutating func nextKeyword() throws(SourceError) -> (String, line: Int)? {
    while true {
      skipSpace()
      guard let first = byte else { return nil }
      if first != UInt8(ascii: "#") { break }
      while let byte, byte != UInt8(ascii: "\n") { advance() }
    }
    let start = line
    let word = try word()
    // Compared without a copy, because it may be a part of a password.
    guard let name = Self.keywords.first(where: word.isEqual(toText:)) else {
      throw .line(start, "a word that is not a keyword")
    }
    return (name, start)
  }

  /// Returns the word after a keyword.
  mutating func value(of keyword: String, _ line: Int) throws(SourceError) -> SecretSlice {
    skipSpace()
    guard byte != nil else { throw .line(line, "`\(keyword)` has no value") }
    return try word()
  }

  /// Skips the lines of a macro, which ends with an empty line, even directly after its name.
  ///
  /// A line of white space ends it as well, as in curl: if the macro went on, the entries after it would disappear.
  mutating func skipMacro() {
    var isEmpty = true
    while let byte, byte != UInt8(ascii: "\n") { advance() }
    advance()
    while let byte {
      if byte == UInt8(ascii: "\n") {
        if isEmpty { return }
        isEmpty = true
      } else if byte > 0x20 {
        isEmpty = false
      }
      advance()
    }
  }

  private var byte: UInt8? {
    position < text.count ? unsafe text.withBytes { unsafe $0[position] } : nil
  }

  private mutating func advance() {
    if byte == UInt8(ascii: "\n") { line += 1 }
    position += 1
  }

  private mutating func skipSpace() {
    while let byte, byte <= 0x20 { advance() }
  }

  private mutating func word() throws(SourceError) -> SecretSlice {
    guard byte == UInt8(ascii: "\"") else {
      let start = position
      while let byte, byte > 0x20 { advance() }
      return text.part(start..<position)
    }
    let start = line
    advance()
    var word = SecretBytes()
    while let next = byte {
      advance()
      switch next {
      case UInt8(ascii: "\""): return SecretSlice(word)
      case UInt8(ascii: "\\"):
        guard let escaped = byte else { break }
        advance()
        switch escaped {
        case UInt8(ascii: "n"): word.append(UInt8(ascii: "\n"))
        case UInt8(ascii: "r"): word.append(UInt8(ascii: "\r"))
        case UInt8(ascii: "t"): word.append(UInt8(ascii: "\t"))
        default: word.append(escaped)
        }
      default: word.append(next)
      }
    }
    throw .line(start, "a quoted word has no closing quote")
  }
}
