internal import Encoding
internal import Secrets

/// The lines of an item of a password store, as parts of a login.
struct PassLines {
  /// The first line without its line end.
  let first: SecretSlice
  /// True if that line end was CR LF.
  let firstEndsWithCarriageReturn: Bool
  /// The user name of the first `login:`, `username:` or `user:` line; nil if there is none.
  private(set) var account: SecretSlice?
  /// The text of the first `url:` line; nil if there is none.
  private(set) var url: SecretSlice?
  /// The lines after the first that contain a one-time-password seed.
  private(set) var furtherSeeds: [SecretSlice] = []
  /// All other lines after the first, byte for byte; empty if only line ends are left.
  private(set) var note: SecretSlice

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
    var kept = SecretBytes(capacity: note.count)
    var start = end.next
    for line in lines.dropFirst() {
      if !take(content.part(line.content)) { kept.append(content.part(start..<line.next)) }
      start = line.next
    }
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

  /// Returns true if a line is the URI of a one-time password.
  static func isSeed(_ line: SecretSlice) -> Bool {
    unsafe line.withBytes { bytes in
      unsafe bytes.starts(with: "otpauth://totp/".utf8) || bytes.starts(with: "otpauth://hotp/".utf8)
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
