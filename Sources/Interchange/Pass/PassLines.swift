internal import Encoding
internal import Secrets

/// The lines of an item of a password store, as parts of a login.
///
/// gopass has also written items with headers: the line `GOPASS-SECRET-1.0`, lines `Name: value`, an empty line, and a
/// text. Then the header `Password` is the secret. The other headers and the text are the lines after it.
struct PassLines {
  /// The secret: the first line without its line end, or the header `Password`.
  private(set) var first: SecretSlice
  /// True if that line end was CR LF.
  private(set) var firstEndsWithCarriageReturn: Bool
  /// The user name of the first `login:`, `username:` or `user:` line; nil if there is none.
  private(set) var account: SecretSlice?
  /// The text of the first `url:` line; nil if there is none.
  private(set) var url: SecretSlice?
  /// The lines after the first that contain a one-time-password seed.
  private(set) var furtherSeeds: [SecretSlice] = []
  /// All other lines after the first, byte for byte; empty if only line ends are left.
  private(set) var note: SecretSlice
  /// True if the item has headers of gopass.
  let hasHeaders: Bool

  private static let headerMark = "GOPASS-SECRET-1.0"

  /// The largest size of a user name or a URL that is taken from a line, in bytes.
  static let valueLimit = 1024

  /// A line with a name and a value that becomes an attribute.
  enum Named {
    case account
    case url

    fileprivate init?(_ name: [UInt8]) {
      switch String(decoding: name, as: UTF8.self) {
      case "login", "user", "username": self = .account
      case "url": self = .url
      default: return nil
      }
    }
  }

  init(_ content: SecretSlice) {
    let lines = unsafe content.withBytes { unsafe PassLines.lines(of: $0) }
    let end = lines.first ?? PassLines.Line(content: 0..<0, next: 0)
    first = content.part(end.content)
    firstEndsWithCarriageReturn = end.next - end.content.upperBound == 2
    note = content.part(end.next..<content.count)
    hasHeaders = first.isEqual(toText: PassLines.headerMark)
    var isHeader = hasHeaders
    if hasHeaders { (first, firstEndsWithCarriageReturn) = (.nothing, false) }
    var password: SecretSlice?
    var kept = SecretBytes(capacity: note.count)
    var start = end.next
    for line in lines.dropFirst() {
      let text = content.part(line.content)
      let isSeparator = isHeader && text.isEmpty
      if isHeader, password == nil, let value = PassLines.password(text) {
        password = value
      } else if isSeparator ? !kept.isEmpty : !take(text) {
        // The empty line is needed only between headers and the text.
        kept.append(content.part(start..<line.next))
      }
      if isSeparator { isHeader = false }
      start = line.next
    }
    first = password ?? first
    guard kept.count < note.count else { return }
    let isBlank = unsafe kept.withBytes { bytes in unsafe bytes.allSatisfy { $0 == 0x0A || $0 == 0x0D } }
    note = isBlank ? .nothing : SecretSlice(kept)
  }

  /// Takes a line that becomes an attribute or a seed. Returns false for a line of the note.
  private mutating func take(_ line: SecretSlice) -> Bool {
    if PassLines.isSeed(line) {
      furtherSeeds.append(line)
      return true
    }
    guard let (name, value) = PassLines.named(line) else { return false }
    switch name {
    case .account where account == nil: account = value
    case .url where url == nil: url = value
    default: return false
    }
    return true
  }

  /// A Boolean value that indicates whether the item consists of its secret.
  var hasOnlySecret: Bool { note.isEmpty && furtherSeeds.isEmpty && account == nil && url == nil }

  /// Returns true if a line is the URI of a one-time password.
  ///
  /// `steam://` is also the beginning of links to games, so a key must follow it: at least 16 letters and digits.
  static func isSeed(_ line: SecretSlice) -> Bool {
    unsafe line.withBytes { bytes in
      if unsafe bytes.starts(with: "steam://".utf8) {
        let key = unsafe bytes[8...]
        return unsafe key.count >= 16
          && key.allSatisfy { (0x32...0x37).contains($0) || (0x61...0x7A).contains($0 | 0x20) }
      }
      return ["totp", "hotp", "steam"].contains {
        unsafe bytes.starts(with: "otpauth://\($0)/".utf8)
      }
    }
  }

  /// Returns the value of a header `Password: value` without surrounding spaces; nil for any other line.
  private static func password(_ line: SecretSlice) -> SecretSlice? {
    unsafe line.withBytes { bytes -> SecretSlice? in
      let name = Array("password:".utf8)
      guard bytes.count >= name.count,
        name.indices.allSatisfy({ unsafe bytes[$0] | 0x20 == name[$0] | 0x20 })
      else { return nil }
      let isText = { (byte: UInt8) in byte != 0x20 && byte != 0x09 }
      guard let start = unsafe bytes[name.count...].firstIndex(where: isText),
        let last = unsafe bytes.lastIndex(where: isText)
      else { return .nothing }
      return line.part(start..<last + 1)
    }
  }

  /// Returns the name and the value of a line such as `login: alice`; nil for any other line.
  ///
  /// The case of the name does not matter. The value is UTF-8 without control characters and without surrounding spaces.
  static func named(_ line: SecretSlice) -> (Named, SecretSlice)? {
    unsafe line.withBytes { bytes -> (Named, SecretSlice)? in
      // Only a short name is copied, because the line may contain a secret.
      guard let colon = unsafe bytes.prefix(9).firstIndex(of: UInt8(ascii: ":")),
        let name = unsafe Named(bytes[..<colon].map { $0 | 0x20 })
      else { return nil }
      let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
      guard let start = unsafe bytes[(colon + 1)...].firstIndex(where: { !isSpace($0) }),
        let last = unsafe bytes.lastIndex(where: { !isSpace($0) }), last - start < valueLimit
      else { return nil }
      let value = line.part(start..<last + 1)
      return value.isLine && !isSeed(value) ? (name, value) : nil
    }
  }

  /// Returns a line with a name and a value, or nil if an import would not read the same value from it.
  static func line(_ name: String, _ value: SecretSlice) -> SecretSlice? {
    var bytes = SecretBytes()
    bytes.append("\(name): ")
    bytes.append(value)
    let line = SecretSlice(bytes)
    return named(line)?.1.isEqual(to: value) == true ? line : nil
  }

  private struct Line {
    var content: Range<Int>
    var next: Int
  }

  // Lines end at LF or CR LF. The last one may have no line end.
  private static func lines(of bytes: UnsafeRawBufferPointer) -> [Line] {
    var lines: [Line] = []
    var start = 0
    while start < bytes.count {
      let end = unsafe bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      let hasReturn = unsafe end < bytes.count && end > start && bytes[end - 1] == UInt8(ascii: "\r")
      lines.append(Line(content: start..<(hasReturn ? end - 1 : end), next: min(end + 1, bytes.count)))
      start = end + 1
    }
    return lines
  }
}

extension SecretSlice {
  /// True if these bytes are UTF-8 without control characters.
  fileprivate var isLine: Bool {
    unsafe withBytes { bytes in
      unsafe SecretText.isUTF8(bytes) && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
  }
}
