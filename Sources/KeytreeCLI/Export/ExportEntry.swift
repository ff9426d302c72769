internal import Encoding
package import KeyringModel
package import Secrets

/// An item with its secret, on its way out of a store.
package struct ExportedItem: Sendable {
  /// What is public about it.
  package let record: ItemRecord
  /// Its exact secret.
  package let secret: SecretSlice

  /// Puts the two together.
  package init(record: ItemRecord, secret: SecretSlice) {
    self.record = record
    self.secret = secret
  }

  /// An attribute as text; nil for a number, and for what no file of text can hold: bytes that are not UTF-8, a NUL.
  func text(_ name: AttributeName) -> String? {
    switch record.attributes[name] {
    case .string, .bytes: record.attributes[name]?.fieldText.map { String(decoding: $0, as: UTF8.self) }
    default: nil
    }
  }

  /// The host or the service; empty when there is none.
  var container: String { text(.server) ?? text(.service) ?? "" }

  /// Whether the secret can stand in a file of text.
  var isText: Bool {
    unsafe secret.withBytes { unsafe SecretText.isUTF8($0) && !$0.contains(0) }
  }
}

/// What other programs have in one entry: a login with its fields.
package struct ExportEntry: Sendable {
  /// The password, or what stands in its place; nil when there is nothing but what follows.
  package var main: ExportedItem?
  /// The free text.
  package var note: ExportedItem?
  /// Seeds of one-time passwords.
  package var seeds: [ExportedItem] = []
  /// Further fields by the names that other programs have for them.
  package var fields: [(name: String, item: ExportedItem)] = []

  /// All items of it.
  package var items: [ExportedItem] {
    [main, note].compactMap { $0 } + seeds + fields.map(\.item)
  }

  /// The item that names the entry.
  var head: ExportedItem? { items.first }

  /// What people call it.
  var title: String { head.map { $0.text(.label) ?? $0.container } ?? "" }

  /// Takes a field out.
  mutating func take(_ name: String) -> ExportedItem? {
    guard let index = fields.firstIndex(where: { $0.name == name }) else { return nil }
    return fields.remove(at: index).item
  }
}

extension ExportEntry {
  /// Brings items and their fields together.
  ///
  /// A field belongs to the item with its primary key: the one in its group, where several groups have one. Fields
  /// without an item are an entry by themselves.
  ///
  /// - Parameter items: Items and fields in the order that the entries are to have.
  package static func entries(of items: [ExportedItem]) -> [ExportEntry] {
    var entries: [ExportEntry] = []
    var places: [PrimaryKey: [Int]] = [:]
    for item in items where item.part == .secret {
      places[item.record.loginPlace, default: []].append(entries.count)
      entries.append(ExportEntry(main: item))
    }
    for item in items where item.part != .secret {
      let found = places[item.record.loginPlace] ?? []
      if let index = found.first(where: { entries[$0].head?.record.group == item.record.group })
        ?? found.first
      {
        entries[index].add(item)
      } else {
        places[item.record.loginPlace] = [entries.count]
        var entry = ExportEntry()
        entry.add(item)
        entries.append(entry)
      }
    }
    return entries
  }

  private mutating func add(_ item: ExportedItem) {
    switch item.part {
    case .oneTimePassword: seeds.append(item)
    case .note where note == nil: note = item
    case .column(let title): fields.append((title, item))
    case .note, .secret: fields.append((item.record.field ?? "", item))
    }
  }
}

extension ExportedItem {
  /// Which part of an entry it is.
  var part: ImportPart {
    record.field.map { ImportPart(field: $0, label: text(.label)) } ?? .secret
  }

  /// Whether it is a note without a login.
  var isSecureNote: Bool {
    record.itemClass == .genericPassword && record.attributes[.kind] == .secureNote
  }
}
