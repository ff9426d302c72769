internal import Encoding
internal import KeyringModel
package import Secrets

/// A comparison of the items that an import reads from an exported entry with the original items.
///
/// The report of losses is thus based on the content of the written file.
struct ExportComparison {
  /// The items that an import reads from the entry in the written file.
  let imported: [PlannedItem]

  /// Returns the losses of an item.
  ///
  /// - Parameters:
  ///   - item: the item.
  ///   - field: the name of the field, if the item was written as a further field of the entry.
  func losses(of item: ExportedItem, field: String? = nil) -> [ExportLoss] {
    var others: [PlannedItem] = []
    switch item.part {
    // A seed may have been written as a URI.
    case .oneTimePassword:
      others = imported.filter { $0.part == .oneTimePassword && $0.secret.contains(item.secret) }
    case .note, .column, .secret: break
    }
    if let field, let shown = shown(AttributeName(field), item.secret) {
      // Without `--unknown-as-attributes` an import stores this attribute as an encrypted field.
      var login = PlannedLogin(shown)
      login.add(.column(field), item.secret)
      others = Array(login.items.dropFirst())
    }
    // If several items have this secret, compare with the one that fits best.
    let same = imported.filter { $0.secret.isEqual(to: item.secret) }
    let missing = (same + others).map { self.missing(item.record, in: $0) }
    guard let least = missing.min(by: { $0.count < $1.count }) else { return [.secretChanged] }
    return least.isEmpty ? [] : [.attributes(least)]
  }

  /// The text in the report for an item that stays on one machine.
  static let place = "the local flag"

  /// Returns the names of an item's attributes that no imported item has, sorted.
  private func missing(_ record: ItemRecord, in item: PlannedItem) -> [String] {
    var names: [String] = []
    if item.itemClass != record.itemClass { names.append("class") }
    if record.group != (item.group ?? GroupName.default) { names.append("group") }
    if record.isLocal, !item.isLocal { names.append(Self.place) }
    for (name, value) in record.attributes.entries {
      let found = item.attributes[name]
      if let found, found.isSame(as: value) || isSameFlag(name, found, value) { continue }
      // The value may be in a custom field of the entry, encrypted or not.
      if let bytes = value.fieldText, isKept(name, bytes) { continue }
      // An import may add the attribute to distinguish items of the same name.
      let alternatives = imported.flatMap(\.alternatives)
      if alternatives.contains(where: { $0[name]?.isSame(as: value) == true }) { continue }
      // An import numbers fields with the same name anew.
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
  // Returns the values of an attribute, including the numbered ones.
  fileprivate func fieldValues(_ name: AttributeName) -> [AttributeValue] {
    ([name] + (2...9).map { AttributeName("\(name.text)-\($0)") }).compactMap { attributes[$0] }
  }
}

extension SecretSlice {
  /// Returns true if these bytes contain those of another slice.
  package func contains(_ other: SecretSlice) -> Bool {
    guard !other.isEmpty, other.count <= count else { return other.isEmpty }
    return (0...count - other.count).contains { part($0..<$0 + other.count).isEqual(to: other) }
  }
}
