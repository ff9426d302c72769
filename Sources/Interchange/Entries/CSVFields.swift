internal import Encoding
internal import Secrets

/// Parsers for fields of a CSV file that contain several values.
enum CSVFields {
  /// Returns the URLs in a field that joins them with commas, as Bitwarden and Proton Pass do, or that has them in a JSON
  /// array, as in NordPass.
  ///
  /// A comma separates two URLs only if a scheme follows; any other comma may be part of a password or a token.
  static func urls(in field: SecretSlice) -> [SecretSlice] {
    if let elements = elements(of: field), elements.allSatisfy({ $0.text != nil }) {
      return elements.compactMap(\.text).filter { !$0.isEmpty }
    }
    var urls: [SecretSlice] = []
    var start = 0
    var end = 0
    for part in split(field, at: UInt8(ascii: ",")) {
      if end > 0, hasScheme(trimmed(part)) {
        urls.append(field.part(start..<end - 1))
        start = end
      }
      end += part.count + 1
    }
    urls.append(field.part(start..<field.count))
    return urls.map(trimmed).filter { !$0.isEmpty }
  }

  /// Returns the elements of a JSON array; nil for any other text.
  private static func elements(of field: SecretSlice) -> [SecretJSON]? {
    guard unsafe field.withBytes({ unsafe $0.first == UInt8(ascii: "[") }) else { return nil }
    // Text that only begins like an array is kept as it is.
    return try? SecretJSON(field.copy()).elements
  }

  /// Returns true if a text begins like a URL (RFC 3986, 3.1): `https://`.
  static func hasScheme(_ text: SecretSlice) -> Bool {
    unsafe text.withBytes { bytes in
      let end = unsafe bytes.firstIndex { byte in
        let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        return !isLetter && !isDigit && !"+-.".utf8.contains(byte)
      }
      guard let end, end > 0 else { return false }
      return unsafe bytes[end...].starts(with: "://".utf8)
    }
  }

  /// Returns the custom fields of NordPass, a JSON array of objects with `label`, `type` and `value`.
  ///
  /// - Returns: the fields; nil if the text has another form.
  static func fieldsInJSON(_ field: SecretSlice) -> [(
    name: String, value: SecretSlice, isSecret: Bool
  )]? {
    guard let objects = elements(of: field) else { return nil }
    var fields: [(name: String, value: SecretSlice, isSecret: Bool)] = []
    for object in objects {
      guard let value = object["value"]?.plainText else { return nil }
      let label = String(decoding: object["label"]?.plainText?.publicBytes() ?? [], as: UTF8.self)
      // A type that is not known may be that of a secret.
      let isSecret = object["type"]?.text?.isEqual(toText: "text") != true
      fields.append((label.isEmpty ? "field" : label, value, isSecret))
    }
    return fields
  }

  /// Returns the custom fields of Bitwarden, `name: value`, one on each line.
  ///
  /// A line without `: ` continues the previous value, which contained a line end. Text before the first name becomes a
  /// field called `fields`.
  static func fields(in field: SecretSlice) -> [(name: String, value: SecretSlice)] {
    var found: [(name: String, range: Range<Int>)] = []
    var start = 0
    for line in split(field, at: UInt8(ascii: "\n")) {
      let range = start..<start + line.count
      start = range.upperBound + 1
      if let colon = unsafe line.withBytes({ unsafe separator(in: $0) }) {
        let name = String(decoding: line.part(0..<colon).publicBytes(), as: UTF8.self)
        found.append((name, range.lowerBound + min(colon + 2, line.count)..<range.upperBound))
      } else if let last = found.indices.last {
        found[last].range = found[last].range.lowerBound..<range.upperBound
      } else if !line.isEmpty {
        found.append(("fields", range))
      }
    }
    return found.map { ($0.name, field.part($0.range)) }
  }

  // Returns the position of `: `, or of the colon that ends a line: a field without a value.
  private static func separator(in line: UnsafeRawBufferPointer) -> Int? {
    line.indices.dropFirst().first { index in
      guard unsafe line[index] == UInt8(ascii: ":") else { return false }
      return unsafe index + 1 == line.count || line[index + 1] == UInt8(ascii: " ")
    }
  }

  private static func split(_ text: SecretSlice, at separator: UInt8) -> [SecretSlice] {
    let ends = unsafe text.withBytes { bytes in bytes.indices.filter { unsafe bytes[$0] == separator } }
    var start = 0
    return (ends + [text.count]).map { end in
      defer { start = end + 1 }
      return text.part(start..<end)
    }
  }

  private static func trimmed(_ text: SecretSlice) -> SecretSlice {
    unsafe text.withBytes { bytes in
      let isText = { (index: Int) in unsafe bytes[index] > 0x20 }
      guard let first = bytes.indices.first(where: isText), let last = bytes.indices.last(where: isText)
      else {
        return text.part(0..<0)
      }
      return text.part(first..<last + 1)
    }
  }
}
