internal import Encoding
internal import KeyringModel
internal import Secrets

/// A comparison of the items that an import reads from an exported entry with the original items.
///
/// The report of losses is thus based on the content of the written file.
struct ExportComparison {
  /// The items that an import reads from the entry in the written file.
  private let imported: [PlannedItem]
  /// Their positions by secret, and by part and secret.
  private let bySecret: SortedSecrets<Int>
  private let byPart: [ImportPart: SortedSecrets<Int>]
  /// The values of all their attributes, each with the position of the first item that has it.
  private let values: [AttributeName: [[UInt8]: Int]]
  private let alternatives: [Attributes]

  /// The number of items with one secret that are compared. A secret that many items have, and an import changes, may be
  /// reported with more losses than it has.
  private static let limit = 100

  /// Prepares the comparison.
  ///
  /// - Parameter imported: the items that an import reads from the entry in the written file.
  init(imported: [PlannedItem]) {
    self.imported = imported
    bySecret = SortedSecrets(imported.indices.map { (secret: imported[$0].secret, owner: $0) })
    byPart = Dictionary(grouping: imported.indices) { imported[$0].part }.mapValues {
      SortedSecrets($0.map { (secret: imported[$0].secret, owner: $0) })
    }
    var values: [AttributeName: [[UInt8]: Int]] = [:]
    for (index, item) in imported.enumerated() {
      for (name, value) in item.attributes.entries {
        guard let bytes = value.contentBytes, values[name]?[bytes] == nil else { continue }
        values[name, default: [:]][bytes] = index
      }
    }
    self.values = values
    alternatives = imported.flatMap(\.alternatives)
  }

  /// Returns the losses of an item.
  ///
  /// - Parameters:
  ///   - item: the item.
  ///   - field: the name of the field, if the item was written as a further field of the entry.
  func losses(of item: ExportedItem, field: String? = nil) -> [ExportLoss] {
    var others: [PlannedItem] = []
    if item.part == .oneTimePassword {
      // A seed may have been written as a URI, which ends with it.
      others = imported.filter { $0.part == .oneTimePassword && $0.secret.ends(with: item.secret) }
    }
    if let field, let shown = shown(AttributeName(field), item.secret) {
      // Without `--unknown-as-attributes` an import stores this attribute as an encrypted field.
      var login = PlannedLogin(shown)
      login.add(.column(field), item.secret)
      others = Array(login.items.dropFirst())
    }
    // If several items have this secret, compare with the one that fits best, which usually is the same part.
    let same = byPart[item.part].map { Array($0.owners(of: item.secret).prefix(Self.limit)) } ?? []
    let all = same + bySecret.owners(of: item.secret).prefix(Self.limit)
    var least: [String]?
    for candidate in all.lazy.map({ imported[$0] }) + others {
      let missing = missing(item.record, in: candidate)
      if missing.isEmpty { return [] }
      if missing.count < least?.count ?? .max { least = missing }
    }
    return least.map { [.attributes($0)] } ?? [.secretChanged]
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
    if byPart[.column(name.text)]?.contains(value) == true { return true }
    return Self.numbered(name).contains { values[$0]?[bytes] != nil }
  }

  private func shown(_ name: AttributeName, _ secret: SecretSlice) -> PlannedItem? {
    let found = Self.numbered(name).flatMap { values[$0] ?? [:] }.filter { bytes, _ in
      bytes.count == secret.count && SecretSlice(SecretBytes(copying: bytes)).isEqual(to: secret)
    }
    return found.map(\.value).min().map { imported[$0] }
  }

  /// Returns the name of an attribute and its numbered names.
  private static func numbered(_ name: AttributeName) -> [AttributeName] {
    [name] + (2...9).map { AttributeName("\(name.text)-\($0)") }
  }
}

extension SecretSlice {
  /// Returns true if these bytes end with those of another slice.
  fileprivate func ends(with other: SecretSlice) -> Bool {
    other.count <= count && part(count - other.count..<count).isEqual(to: other)
  }
}
