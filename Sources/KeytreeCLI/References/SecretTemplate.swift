internal import CommandSupport
internal import KeyringModel
internal import Secrets

/// A text that contains references, `{{ keytree://CLASS/CONTAINER/NAME }}`, to be replaced by secrets.
///
/// Other text between `{{` and `}}` belongs to other programs and stays as it is, unless it contains the scheme of a
/// reference or begins with `keytree`: it was meant as a reference, and would not be replaced.
struct SecretTemplate {
  /// A problem with a text. Lines are counted from 1.
  enum Problem: Error, Equatable {
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

  /// Parses a text, which may contain any bytes.
  ///
  /// - Throws: the first problem.
  init(_ text: [UInt8]) throws(Problem) {
    self.text = text
    var start = 0
    var position = 0
    var line = 1
    while position < text.count {
      if text[position] == UInt8(ascii: "\n") { line += 1 }
      guard let name = Self.startOfReference(text, at: position) else {
        if Self.looksLikeReference(text, at: position) { throw .looksLikeReference(line: line) }
        position += 1
        continue
      }
      let rest = text[name...].prefix { $0 != UInt8(ascii: "\n") }
      guard let end = Self.endOfReference(rest) else { throw .notClosed(line: line) }
      var word = rest[..<end]
      while word.last == UInt8(ascii: " ") || word.last == UInt8(ascii: "\t") { word = word.dropLast() }
      guard let reference = ItemReference(String(decoding: word, as: UTF8.self)) else {
        throw .noReference(line: line)
      }
      parts += [.text(start..<position), .reference(reference)]
      position = end + 2
      start = position
    }
    parts.append(.text(start..<text.count))
  }

  /// The references in the text, in order.
  var references: [ItemReference] {
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

  /// Returns true if `{{` at a position is followed by text that was probably meant as a reference: with the scheme or
  /// the word `keytree` in any case before the end of the line or `}}`.
  private static func looksLikeReference(_ text: [UInt8], at position: Int) -> Bool {
    // Of several braces, the last two count.
    guard text[position...].starts(with: "{{".utf8), !text[position...].starts(with: "{{{".utf8) else {
      return false
    }
    let rest = text[(position + 2)...].prefix { $0 != UInt8(ascii: "\n") }
    let inside = String(decoding: rest[..<(endOfReference(rest) ?? rest.endIndex)], as: UTF8.self)
      .lowercased()
    return inside.contains(ItemReference.scheme)
      || inside.drop { $0.isWhitespace }.hasPrefix("keytree")
  }

  private static func endOfReference(_ rest: ArraySlice<UInt8>) -> Int? {
    rest.indices.first { rest[$0...].starts(with: "}}".utf8) }
  }
}
