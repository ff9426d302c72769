internal import KeyringModel

/// The names that imports give to fields.
enum FieldNaming {
  /// The most numbers that are tried for one name.
  private static let numbers = 99

  /// Returns the name of a field whose label in another program is this one: its letters and digits in lower case, with
  /// hyphens between them, cut to the size of a name.
  ///
  /// - Parameter label: Any text; `field` where nothing of it can be in a name.
  static func name(for label: String) -> String {
    let words = label.lowercased().utf8.split { byte in
      !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    let name = shorten(String(decoding: Array(words.joined(separator: "-".utf8)), as: UTF8.self), by: 0)
    if FieldName.isValid(name) { return name }
    // Nothing is left, or the name of a device of DOS.
    return name.isEmpty ? "field" : "field-\(name)"
  }

  /// A name without the number at its end, and that number; 1 for a name without one.
  static func parts(of name: String) -> (base: String, number: Int) {
    guard let match = name.wholeMatch(of: #/(.+)-([2-9]|[1-9][0-9])/#), let number = Int(match.2) else {
      return (name, 1)
    }
    return (String(match.1), number)
  }

  /// The names to try when a name is taken: itself, then the same with higher numbers.
  static func candidates(_ name: String) -> some Sequence<String> {
    let (base, first) = parts(of: name)
    return (first..<first + numbers).lazy.map { numbered(base, $0) }
  }

  private static func numbered(_ base: String, _ number: Int) -> String {
    if number == 1 { return base }
    let end = "-\(number)"
    return shorten(base, by: end.utf8.count) + end
  }

  private static func shorten(_ name: String, by size: Int) -> String {
    var bytes = name.utf8.prefix(FieldName.maximumSize - size)
    while bytes.last == UInt8(ascii: "-") { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension ImportPart {
  /// The name of the field that keeps the part, where no other field has it, and the label that tells what the name does
  /// not: the exact name that another program has for it.
  var field: (name: String, label: String?) {
    switch self {
    case .oneTimePassword: return (FieldName.oneTimePassword, nil)
    case .secret, .note: return (FieldName.note, nil)
    case .column(let title):
      let name = FieldNaming.name(for: title)
      let base = FieldNaming.parts(of: name).base
      // Only a seed is `otp`, and only a note is `note`, whatever another program calls a field.
      if [FieldName.oneTimePassword, FieldName.note].contains(base) {
        return (base == name ? "\(name)-2" : name, title)
      }
      return (name, name == title ? nil : title)
    }
  }

  /// The part of an entry that a field is.
  ///
  /// - Parameters:
  ///   - field: The name of the field.
  ///   - label: Its label, if it has one.
  init(field: String, label: String?) {
    if let label, FieldNaming.candidates(ImportPart.column(label).field.name).contains(field) {
      self = .column(label)
      return
    }
    switch FieldNaming.parts(of: field).base {
    case FieldName.oneTimePassword: self = .oneTimePassword
    case FieldName.note: self = .note
    default: self = .column(field)
    }
  }
}
