internal import Encoding
package import Secrets

/// The parts of a content that the extension wants to save.
///
/// The first line of each field counts, as in the extension. All other lines are a note, byte for byte.
package struct SavedLogin {
  /// The secret: the value of the first `password:` line, else the first line.
  package private(set) var secret: SecretSlice
  /// The account of the first `login:` line; nil without one, or if it is empty.
  package private(set) var account: [UInt8]?
  /// The URL of the first `url:` line; nil without one.
  package private(set) var url: [UInt8]?
  /// The seed of the first `otp:` line or `otpauth` URI; nil without one.
  package private(set) var seed: SecretSlice?
  /// The remaining lines; nil if only line ends are left.
  package private(set) var note: SecretSlice?

  /// Reads a content.
  ///
  /// - Returns: Nil if there is no secret: the content is blank, or its first line is one of the extension's keys and no
  ///   other line is the secret.
  package init?(_ contents: SecretSlice) {
    let lines = unsafe contents.withBytes { unsafe Self.lines(of: $0) }
    var taken: [ContentLine.Field: Range<Int>] = [:]
    var rest = SecretBytes(capacity: contents.count)
    var first: Range<Int>?
    var secretLine: Line?
    var others: [Line] = []
    for line in lines {
      let read = unsafe contents.withBytes { unsafe ContentLine($0, line.content) }
      let isBlank = unsafe contents.withBytes { unsafe ExtensionText.trimmed($0, line.content).isEmpty }
      if first == nil, !isBlank {
        first = line.content
        if read == nil { secretLine = line }
      }
      if let read, taken[read.field] == nil, !read.value.isEmpty || read.field == .login,
        read.field != .openid, read.field != .autoSubmit
      {
        taken[read.field] = read.value
        continue
      }
      others.append(line)
    }
    if let value = taken[.secret] {
      secret = contents.part(value)
      secretLine = nil
    } else if let line = secretLine {
      secret = contents.part(line.content)
    } else {
      return nil
    }
    for line in others where line != secretLine {
      rest.append(contents.part(line.content.lowerBound..<line.next))
    }
    account = taken[.login].flatMap { $0.isEmpty ? nil : contents.part($0).publicBytes() }
    url = taken[.url].map { contents.part($0).publicBytes() }
    seed = taken[.otp].map { contents.part($0) }
    let isNote = unsafe rest.withBytes { bytes in unsafe !bytes.allSatisfy { $0 == 0x0A || $0 == 0x0D } }
    note = isNote ? SecretSlice(rest) : nil
  }

  private struct Line: Equatable {
    /// The line without its line end.
    let content: Range<Int>
    /// The start of the next line.
    let next: Int
  }

  /// Returns the lines, which end at LF, CR LF or CR.
  private static func lines(of bytes: UnsafeRawBufferPointer) -> [Line] {
    var lines: [Line] = []
    var start = 0
    while start < bytes.count {
      let end = unsafe bytes[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.count
      let isPair = unsafe end + 1 < bytes.count && bytes[end] == 0x0D && bytes[end + 1] == 0x0A
      let next = min(end + (isPair ? 2 : 1), bytes.count)
      lines.append(Line(content: start..<end, next: next))
      start = next
    }
    return lines
  }
}
