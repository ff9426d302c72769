internal import Encoding
internal import KeyringModel
internal import Secrets

/// Compares what an import makes of an exported entry with the items that it was made from.
///
/// So the report of losses cannot be wrong about what is in a file: it is read from the file.
struct ExportComparison {
  /// What an import of the written file makes of the entry.
  let imported: [PlannedItem]

  /// What is missing of an item.
  ///
  /// - Parameters:
  ///   - item: the item.
  ///   - field: its name, when it was written as a further field of the entry.
  func losses(of item: ExportedItem, field: String? = nil) -> [ExportLoss] {
    var others: [PlannedItem] = []
    switch item.part {
    // As a URI, where it was the bare seed.
    case .oneTimePassword:
      others = imported.filter { $0.part == .oneTimePassword && $0.secret.contains(item.secret) }
    // A note of pass may go on with a line for one-time passwords.
    case .note: others = imported.filter { $0.part == .note && $0.secret.starts(with: item.secret) }
    case .column, .secret: break
    }
    if let field, let shown = shown(AttributeName(field), item.secret) {
      // Shown here, and sealed by an import that was not asked to show it.
      var login = PlannedLogin(shown)
      login.add(.column(field), item.secret)
      others = Array(login.items.dropFirst())
    }
    // What fits best is meant, should several have this secret.
    let same = imported.filter { $0.secret.isEqual(to: item.secret) }
    let missing = (same + others).map { self.missing(item.record, in: $0) }
    guard let least = missing.min(by: { $0.count < $1.count }) else { return [.secretChanged] }
    return least.isEmpty ? [] : [.attributes(least)]
  }

  /// How the report calls that an item is kept on one machine.
  static let place = "its place on this machine alone"

  /// The attributes of an item that no imported item has, by their names, sorted.
  private func missing(_ record: ItemRecord, in item: PlannedItem) -> [String] {
    var names: [String] = []
    if item.itemClass != record.itemClass { names.append("class") }
    if record.group != (item.group ?? GroupName.default) { names.append("group") }
    if record.isLocal, !item.isLocal { names.append(Self.place) }
    for (name, value) in record.attributes.entries {
      let found = item.attributes[name]
      if let found, found.isSame(as: value) || isSameFlag(name, found, value) { continue }
      // As a custom field of the entry, sealed or not.
      if let bytes = value.fieldText, isKept(name, bytes) { continue }
      // What an import adds by itself to tell it from another item of the same name.
      let alternatives = imported.flatMap(\.alternatives)
      if alternatives.contains(where: { $0[name]?.isSame(as: value) == true }) { continue }
      // An import numbers fields of one name again.
      if name == .field, isSameButNumber(record.field, item.field) { continue }
      names.append(name.text)
    }
    return names
  }

  private func isSameButNumber(_ stored: String?, _ found: String?) -> Bool {
    guard let stored, let found else { return false }
    return FieldNaming.parts(of: stored).base == FieldNaming.parts(of: found).base
  }

  // `favorite` is `1` in one format and `true` in another.
  private func isSameFlag(_ name: AttributeName, _ one: AttributeValue, _ other: AttributeValue) -> Bool {
    let yes: [AttributeValue] = ["1", "true"]
    return ["favorite", "fav", "reprompt"].contains(name) && yes.contains(one) && yes.contains(other)
  }

  private func isKept(_ name: AttributeName, _ bytes: [UInt8]) -> Bool {
    let value = SecretSlice(SecretBytes(copying: bytes))
    return imported.contains { item in
      let isField = item.part == .column(name.text) && item.secret.isEqual(to: value)
      return isField || item.fieldValues(name).contains { $0.contentBytes == bytes }
    }
  }

  private func shown(_ name: AttributeName, _ secret: SecretSlice) -> PlannedItem? {
    imported.first { item in
      item.fieldValues(name).contains { value in
        guard let bytes = value.contentBytes, bytes.count == secret.count else { return false }
        return SecretSlice(SecretBytes(copying: bytes)).isEqual(to: secret)
      }
    }
  }
}

extension PlannedItem {
  // The values of an attribute and of those that are numbered because it was there already.
  fileprivate func fieldValues(_ name: AttributeName) -> [AttributeValue] {
    ([name] + (2...9).map { AttributeName("\(name.text)-\($0)") }).compactMap { attributes[$0] }
  }
}

extension AttributeValue {
  /// The value as text for a field of another program; nil for bytes that are no text, and with a NUL.
  var fieldText: [UInt8]? {
    switch self {
    case .string(let text): text.utf8.contains(0) ? nil : Array(text.utf8)
    case .bytes(let bytes): String(validating: bytes, as: UTF8.self) == nil || bytes.contains(0) ? nil : bytes
    case .integer(let number): Array(String(number).utf8)
    case .boolean(let flag): Array(flag ? "true".utf8 : "false".utf8)
    case .date(let date): Array(date.rfc3339.utf8)
    }
  }
}

extension SecretSlice {
  /// Whether these bytes begin with those of another part, and a line end after them.
  fileprivate func starts(with other: SecretSlice) -> Bool {
    guard other.count < count, part(0..<other.count).isEqual(to: other) else { return false }
    return unsafe withBytes { unsafe $0[other.count] == UInt8(ascii: "\n") }
  }

  /// Whether the bytes of another part stand somewhere in these.
  func contains(_ other: SecretSlice) -> Bool {
    guard !other.isEmpty, other.count <= count else { return other.isEmpty }
    return (0...count - other.count).contains { part($0..<$0 + other.count).isEqual(to: other) }
  }
}
