/// The two base64 forms that the store uses (RFC 4648 sections 4 and 5). Each content has exactly one spelling in each
/// form.
package enum Base64 {
  /// The alphabets and their padding.
  package enum Form {
    /// `+` and `/`, padded to a multiple of four: attribute values that are not text.
    case standard
    /// `-` and `_`, no padding: digests.
    case url
  }

  private static let standardAlphabet = alphabet("+", "/")
  private static let urlAlphabet = alphabet("-", "_")
  private static let padding = UInt8(ascii: "=")

  private static func alphabet(_ last: Character...) -> [UInt8] {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
    return letters + letters.map { $0 | 0x20 } + Array("0123456789".utf8) + Array(String(last).utf8)
  }

  package static func encode(_ bytes: [UInt8], as form: Form) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    unsafe bytes.withUnsafeBytes { unsafe encode($0, as: form) { text.append($0) } }
    return text
  }

  /// Passes the text to a closure one digit at a time, so that the text of a secret can be written to memory that is
  /// wiped.
  package static func encode(_ bytes: UnsafeRawBufferPointer, as form: Form, to body: (UInt8) -> Void) {
    let alphabet = form == .url ? urlAlphabet : standardAlphabet
    for index in stride(from: 0, to: bytes.count, by: 3) {
      let rest = bytes.count - index
      var group = unsafe UInt32(bytes[index]) << 16
      if rest > 1 { group |= unsafe UInt32(bytes[index + 1]) << 8 }
      if rest > 2 { group |= unsafe UInt32(bytes[index + 2]) }
      body(alphabet[Int(group >> 18)])
      body(alphabet[Int(group >> 12 & 63)])
      if rest > 1 { body(alphabet[Int(group >> 6 & 63)]) }
      if rest > 2 { body(alphabet[Int(group & 63)]) }
      if form == .standard, rest < 3 { for _ in rest..<3 { body(padding) } }
    }
  }

  /// Returns the bytes that `text` encodes, or nil for any text that `encode` would not have written.
  package static func decode(_ text: UnsafeRawBufferPointer, as form: Form) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count * 3 / 4)
    return unsafe decode(text, as: form, to: { bytes.append($0) }) ? bytes : nil
  }

  /// Passes the bytes that `text` encodes to a closure. Returns false for any text that `encode` would not have written.
  static func decode(_ text: UnsafeRawBufferPointer, as form: Form, to body: (UInt8) -> Void) -> Bool {
    var count = text.count
    if form == .standard {
      guard count % 4 == 0 else { return false }
      var paddings = 0
      while paddings < 2, count > 0, unsafe text[count - 1] == padding {
        paddings += 1
        count -= 1
      }
    }
    guard count % 4 != 1 else { return false }
    var pending: UInt32 = 0
    var bits = 0
    for index in 0..<count {
      guard let value = unsafe value(of: text[index], in: form) else { return false }
      pending = pending << 6 | UInt32(value)
      bits += 6
      if bits >= 8 {
        bits -= 8
        body(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
        pending &= (1 << UInt32(bits)) - 1
      }
    }
    // Unused bits must be zero. Otherwise several texts would encode the same bytes.
    return pending == 0
  }

  private static func value(of digit: UInt8, in form: Form) -> UInt8? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+") where form == .standard, UInt8(ascii: "-") where form == .url: 62
    case UInt8(ascii: "/") where form == .standard, UInt8(ascii: "_") where form == .url: 63
    default: nil
    }
  }
}
