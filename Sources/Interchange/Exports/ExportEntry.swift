internal import Encoding
package import KeyringModel
package import Secrets

/// An item with its secret, for an export.
package struct ExportedItem: Sendable {
  /// The public attributes.
  package let record: ItemRecord
  /// The exact secret.
  package let secret: SecretSlice

  /// Creates an item from its record and its secret.
  package init(record: ItemRecord, secret: SecretSlice) {
    self.record = record
    self.secret = secret
  }

  /// Returns an attribute as text, or nil for a number and for a value that is not text: bytes that are not UTF-8, a
  /// NUL.
  package func text(_ name: AttributeName) -> String? {
    switch record.attributes[name] {
    case .string, .bytes: record.attributes[name]?.fieldText.map { String(decoding: $0, as: UTF8.self) }
    default: nil
    }
  }

  /// The server or the service; empty if the item has neither.
  package var container: String { text(.server) ?? text(.service) ?? "" }

  /// True if a text file can contain the secret.
  var isText: Bool {
    unsafe secret.withBytes { unsafe SecretText.isUTF8($0) && !$0.contains(0) }
  }
}

/// One entry of another program: a login with its fields.
package struct ExportEntry: Sendable {
  /// The password or other main secret; nil if the entry consists of fields only.
  package var main: ExportedItem?
  /// The free text.
  package var note: ExportedItem?
  /// The one-time-password seeds.
  package var seeds: [ExportedItem] = []
  /// Further fields, by their names in other programs.
  package var fields: [(name: String, item: ExportedItem)] = []

  /// Creates an entry with at most one item.
  package init(main: ExportedItem? = nil) { self.main = main }

  /// All items of the entry.
  package var items: [ExportedItem] {
    [main, note].compactMap { $0 } + seeds + fields.map(\.item)
  }

  /// The item that determines the name of the entry.
  package var head: ExportedItem? { main ?? note ?? seeds.first ?? fields.first?.item }

  /// The displayed name.
  package var title: String { head.map { $0.text(.label) ?? $0.container } ?? "" }

  /// Removes and returns a field.
  package mutating func take(_ name: String) -> ExportedItem? {
    guard let index = fields.firstIndex(where: { $0.name == name }) else { return nil }
    return fields.remove(at: index).item
  }
}

extension ExportEntry {
  /// Groups items with their fields.
  ///
  /// A field belongs to the item with its primary key. If several groups have one, it belongs to the one in its group.
  /// Fields without an item form an entry of their own.
  ///
  /// - Parameter items: items and fields in the order of the entries.
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
  /// The part of an entry that the item represents.
  package var part: ImportPart {
    record.field.map { ImportPart(field: $0, label: text(.label)) } ?? .secret
  }

  /// True if it is a note without a login.
  var isSecureNote: Bool {
    record.itemClass == .genericPassword && record.attributes[.kind] == .secureNote
  }
}
