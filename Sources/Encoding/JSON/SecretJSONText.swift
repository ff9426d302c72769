package import Secrets

extension SecretJSON {
  /// True if the value is blank: `null`, `false`, 0, an empty string, or a collection of blank values.
  package var isBlank: Bool {
    switch self {
    case .null, .boolean(false): true
    case .boolean: false
    case .number(let digits): digits == "0"
    case .string(let text): text.isEmpty
    case .array(let values): values.allSatisfy(\.isBlank)
    case .object(let members): members.allSatisfy(\.value.isBlank)
    }
  }

  /// A string, a number or a Boolean as text; nil for any other value.
  package var plainText: SecretSlice? {
    switch self {
    case .string(let text): text
    case .number(let digits): SecretSlice(SecretBytes(copying: Array(digits.utf8)))
    case .boolean(let flag): SecretSlice(SecretBytes(copying: Array(flag ? "true".utf8 : "false".utf8)))
    case .null, .array, .object: nil
    }
  }

  /// The value as JSON without white space, in memory that is wiped.
  package var json: SecretBytes {
    var bytes = SecretBytes()
    write(to: &bytes)
    return bytes
  }

  /// Adds the value as JSON without white space.
  package func write(to bytes: inout SecretBytes) {
    switch self {
    case .null: bytes.append("null")
    case .boolean(let flag): bytes.append(flag ? "true" : "false")
    case .number(let digits): bytes.append(digits)
    case .string(let text): bytes.append(jsonString: text)
    case .array(let values):
      bytes.append("[")
      for (index, value) in values.enumerated() {
        if index > 0 { bytes.append(",") }
        value.write(to: &bytes)
      }
      bytes.append("]")
    case .object(let members):
      bytes.append("{")
      for (index, member) in members.enumerated() {
        if index > 0 { bytes.append(",") }
        bytes.append(jsonString: member.name)
        bytes.append(":")
        member.value.write(to: &bytes)
      }
      bytes.append("}")
    }
  }
}

extension SecretBytes {
  /// Adds a JSON string (RFC 8259, section 7) with its quotes, escaped as the canonical writer of the store does.
  ///
  /// - Parameter text: Valid UTF-8; see `isUTF8`.
  package mutating func append(jsonString text: UnsafeRawBufferPointer) {
    append(UInt8(ascii: "\""))
    for index in text.indices { JSONWriter.escape(unsafe text[index]) { append($0) } }
    append(UInt8(ascii: "\""))
  }

  /// Adds a JSON string of a part of a secret.
  ///
  /// - Parameter text: Valid UTF-8.
  package mutating func append(jsonString text: SecretSlice) {
    // The closure cannot borrow the slice, so the bytes are copied into separate memory that is wiped.
    let copy = text.copy()
    unsafe copy.withBytes { unsafe append(jsonString: $0) }
  }

  /// Adds text that is not secret as a JSON string.
  package mutating func append(jsonString text: String) {
    unsafe Array(text.utf8).withUnsafeBytes { unsafe append(jsonString: $0) }
  }

  /// Adds the bytes of a part of a secret.
  package mutating func append(_ text: SecretSlice) {
    append(text.copy())
  }
}

extension SecretBytes {
  /// Appends a secret as JSON: a string if it is valid UTF-8, else `{"base64":"..."}`.
  package mutating func append(exact secret: borrowing SecretBytes) {
    if secret.isUTF8 {
      unsafe secret.withBytes { unsafe append(jsonString: $0) }
    } else {
      append("{\"base64\":\"")
      unsafe secret.withBytes { bytes in
        unsafe Base64.encode(bytes, as: .standard) { append($0) }
      }
      append("\"}")
    }
  }
}
