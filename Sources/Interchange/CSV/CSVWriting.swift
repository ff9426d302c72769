internal import Encoding
package import Secrets

extension SecretBytes {
  /// Appends a field as in RFC 4180, in quotes if necessary. A field that begins with `=` is not changed, because the
  /// importing program reads it as a password and not as a formula.
  package mutating func append(csv field: SecretSlice) {
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

  /// Appends a row and CR LF.
  package mutating func append(row: [SecretSlice]) {
    for (index, field) in row.enumerated() {
      if index > 0 { append(UInt8(ascii: ",")) }
      append(csv: field)
    }
    append("\r\n")
  }
}

extension SecretSlice {
  /// Creates a slice from public text, or from a short text that was joined from others.
  package init(_ text: String) { self.init(SecretBytes(copying: Array(text.utf8))) }

  /// An empty slice.
  package static var nothing: SecretSlice { SecretSlice(SecretBytes()) }
}
