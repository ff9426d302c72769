internal import KeyringModel

/// The rules for the names that imports give to fields.
enum FieldNaming {
  /// The largest number of numbered names that are tried.
  private static let numbers = 99

  /// Returns the name of a field for its label in another program: the letters and digits in lower case, with hyphens
  /// between the words, cut to the largest size of a name.
  ///
  /// - Parameter label: any text. If it contains no letter or digit, the name is `field`.
  static func name(for label: String) -> String {
    let words = label.lowercased().utf8.split { byte in
      !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    let name = shorten(String(decoding: Array(words.joined(separator: "-".utf8)), as: UTF8.self), by: 0)
    if FieldName.isValid(name) { return name }
    // The name is empty or that of a DOS device.
    return name.isEmpty ? "field" : "field-\(name)"
  }

  /// Returns a name without the number at its end, and that number; 1 for a name without one.
  static func parts(of name: String) -> (base: String, number: Int) {
    guard let hyphen = name.lastIndex(of: "-"), hyphen > name.startIndex else { return (name, 1) }
    let digits = name[hyphen...].dropFirst()
    guard let number = Int(digits), (2...numbers).contains(number), String(number) == digits else {
      return (name, 1)
    }
    return (String(name[..<hyphen]), number)
  }

  /// Returns the names to try if a name is taken: the name itself, then the name with higher numbers.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - tried: the number of names to leave out, because they are known to be taken.
  static func candidates(_ name: String, after tried: Int = 0) -> some Sequence<String> {
    let (base, first) = parts(of: name)
    return (first + tried..<first + numbers).lazy.map { numbered(base, $0) }
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

/// The names of the fields of one login.
struct FieldNames: Sendable {
  private var taken: Set<String>
  /// The number of candidates of a name that are known to be taken, so that many fields of one name need few searches.
  private var tried: [String: Int] = [:]

  /// Creates the names that are already taken.
  init(_ taken: some Sequence<String>) { self.taken = Set(taken) }

  /// Takes the first free candidate of a name.
  ///
  /// - Parameter name: the wanted name.
  /// - Returns: the candidate; nil if all are taken.
  mutating func take(_ name: String) -> String? {
    for candidate in FieldNaming.candidates(name, after: tried[name, default: 0]) {
      tried[name, default: 0] += 1
      if taken.insert(candidate).inserted { return candidate }
    }
    return nil
  }
}

extension ImportPart {
  /// The default name of the field for the part, and a label if the name alone does not show the exact name in the
  /// other program.
  package var field: (name: String, label: String?) {
    switch self {
    case .oneTimePassword: return (FieldName.oneTimePassword, nil)
    case .secret, .note: return (FieldName.note, nil)
    case .column(let title):
      let name = FieldNaming.name(for: title)
      let base = FieldNaming.parts(of: name).base
      // Only a seed is named `otp`, and only a note is named `note`, even if another program uses these names.
      if [FieldName.oneTimePassword, FieldName.note].contains(base) {
        return (base == name ? "\(name)-2" : name, title)
      }
      return (name, name == title ? nil : title)
    }
  }

  /// Creates the part of an entry that a field represents.
  ///
  /// - Parameters:
  ///   - field: the name of the field.
  ///   - label: its label, if it has one.
  package init(field: String, label: String?) {
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
