internal import Secrets

/// Fields of a CSV file that hold several values.
enum CSVFields {
  /// The URLs of a field that joins them by commas, as Bitwarden and Proton Pass do.
  ///
  /// A comma within a URL cannot be told from one between two, in these programs neither; the parts are kept all.
  static func urls(in field: SecretSlice) -> [SecretSlice] {
    split(field, at: UInt8(ascii: ",")).map(trimmed).filter { !$0.isEmpty }
  }

  /// The custom fields of Bitwarden, `name: value`, one on each line.
  ///
  /// A line without `: ` goes on with the value before it, which had a line end of its own. What comes before the
  /// first name is a field called `fields`.
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

  // Where `: ` is, or the colon that ends a line: a field without a value.
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
