internal import Encoding
internal import Secrets

extension SecretBytes {
  /// Adds a field of RFC 4180, in quotes where it needs them. A field that begins with `=` stays as it is: it is a
  /// password to the program that reads it, and no formula.
  mutating func append(csv field: SecretSlice) {
    let needsQuotes = unsafe field.withBytes { bytes in
      unsafe bytes.contains { [UInt8(ascii: "\""), UInt8(ascii: ","), 0x0A, 0x0D].contains($0) }
        || bytes.first == 0x20 || bytes.last == 0x20
    }
    guard needsQuotes else {
      append(field)
      return
    }
    append(UInt8(ascii: "\""))
    let copy = field.copy()
    for index in 0..<copy.count {
      let byte = unsafe copy.withBytes { unsafe $0[index] }
      if byte == UInt8(ascii: "\"") { append(byte) }
      append(byte)
    }
    append(UInt8(ascii: "\""))
  }

  /// Adds a row, and the CR LF that ends it.
  mutating func append(row: [SecretSlice]) {
    for (index, field) in row.enumerated() {
      if index > 0 { append(UInt8(ascii: ",")) }
      append(csv: field)
    }
    append("\r\n")
  }
}

extension SecretSlice {
  /// Text that is no secret, or a short one that is joined from others.
  init(_ text: String) { self.init(SecretBytes(copying: Array(text.utf8))) }

  /// Nothing.
  static var nothing: SecretSlice { SecretSlice(SecretBytes()) }
}
