internal import CommandSupport
internal import Encoding
package import KeyringModel
internal import Secrets

/// A text that contains references, `{{ keytree://CLASS/CONTAINER/NAME }}`, to be replaced by secrets.
///
/// Other text between `{{` and `}}` belongs to other programs and stays as it is, unless it looks like the name of an
/// item: it was meant as a reference, and would not be replaced.
package struct SecretTemplate {
  /// A problem with a text. Lines are counted from 1.
  package enum Problem: Error, Equatable {
    /// A reference has no `}}` in its line.
    case notClosed(line: Int)
    /// Text that begins like a reference is not a valid one.
    case noReference(line: Int)
    /// The name of an item without the scheme, or a reference with other text in front of it.
    case looksLikeReference(line: Int)
  }

  private enum Part {
    case text(Range<Int>)
    case reference(ItemReference)
  }

  private let text: [UInt8]
  private var parts: [Part] = []

  /// Parses a text.
  ///
  /// - Parameter text: the text, which may contain any bytes.
  /// - Throws: the first problem.
  package init(_ text: [UInt8]) throws(Problem) {
    self.text = text
    var start = 0
    var position = 0
    var line = 1
    var close = 0
    while position < text.count {
      if text[position] == UInt8(ascii: "\n") { line += 1 }
      guard text[position...].starts(with: "{{".utf8) else {
        position += 1
        continue
      }
      // The end is searched once for each `}}` and each line, so that many `{{` do not take quadratic time.
      if close < position + 2 { close = Self.endOfReference(text, from: position + 2) }
      let isClosed = close < text.count && text[close] == UInt8(ascii: "}")
      guard let name = Self.startOfReference(text, at: position) else {
        if Self.looksLikeReference(text, at: position, close) { throw .looksLikeReference(line: line) }
        position += 1
        continue
      }
      guard isClosed else { throw .notClosed(line: line) }
      var word = text[name..<max(name, close)]
      while word.last == UInt8(ascii: " ") || word.last == UInt8(ascii: "\t") { word = word.dropLast() }
      guard let reference = ItemReference(String(decoding: word, as: UTF8.self)) else {
        throw .noReference(line: line)
      }
      parts += [.text(start..<position), .reference(reference)]
      position = close + 2
      start = position
    }
    parts.append(.text(start..<text.count))
  }

  /// The references in the text, in order.
  package var references: [ItemReference] {
    parts.compactMap { if case .reference(let reference) = $0 { reference } else { nil } }
  }

  /// Returns the text with the secrets inserted, byte for byte.
  func filled(with secrets: ResolvedReferences) -> SecretBytes {
    var result = SecretBytes(capacity: text.count + 1024)
    for part in parts {
      switch part {
      case .text(let range):
        unsafe text.withUnsafeBytes {
          unsafe result.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[range]))
        }
      case .reference(let reference):
        unsafe secrets[.reference(reference)].withBytes { unsafe result.append(contentsOf: $0) }
      }
    }
    return result
  }

  /// Returns the position of the reference if `{{` at a position is followed by one, else nil.
  private static func startOfReference(_ text: [UInt8], at position: Int) -> Int? {
    guard text[position...].starts(with: "{{".utf8) else { return nil }
    let start = text[(position + 2)...].firstIndex { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
    guard let start, text[start...].starts(with: ItemReference.scheme.utf8) else { return nil }
    return start
  }

  /// Returns true if `{{` at a position is followed by text that was probably meant as the name of an item: with the
  /// scheme of a reference, with `keytree` as its first word, with a class in front, or with a host and an account.
  ///
  /// - Parameter close: The position of the next `}}` or line end.
  private static func looksLikeReference(_ text: [UInt8], at position: Int, _ close: Int) -> Bool {
    // Of several braces, the last two count.
    if text[position...].starts(with: "{{{".utf8) { return false }
    let rest = text[(position + 2)..<max(position + 2, close)]
    // Another `{{` in the line is examined by itself.
    let inside = rest.indices.first { rest[$0...].starts(with: "{{".utf8) }.map { rest[..<$0] } ?? rest
    let words = String(decoding: inside, as: UTF8.self).lowercased()
      .split(whereSeparator: \.isWhitespace)
    guard let first = words.first else { return false }
    if words.contains(where: { $0.contains(bytesOf: ItemReference.scheme) }) { return true }
    // Names of variables, such as `keytree_version`, belong to other programs.
    let name = first.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
    if name == "keytree" { return true }
    guard words.count == 1 else { return false }
    if first.contains(":"), ItemName.itemClass(of: String(first.prefix { $0 != ":" })) != nil { return true }
    let host = first.prefix { $0 != "/" }
    return host.endIndex < first.endIndex && HostName(lookingLike: host.utf8) != nil
  }

  /// Returns the position of the first `}}` at or after a position, or that of the end of the line.
  private static func endOfReference(_ text: [UInt8], from start: Int) -> Int {
    var position = min(start, text.count)
    while position < text.count, text[position] != UInt8(ascii: "\n") {
      if text[position...].starts(with: "}}".utf8) { return position }
      position += 1
    }
    return position
  }
}
