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

/// What other programs have in one entry: a password with the notes, the seeds and the fields that the store keeps in
/// items of their own.
package struct ExportEntry: Sendable {
  /// The password, or what stands in its place; nil when there is nothing but what follows.
  package var main: ExportedItem?
  /// The free text.
  package var note: ExportedItem?
  /// Seeds of one-time passwords.
  package var seeds: [ExportedItem] = []
  /// Sealed fields by their names.
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
  /// Brings items together that belong together, the other way round from ``PlannedItem/companion(_:keeping:)``.
  ///
  /// An item of kind `note` belongs to the password whose server or service is its service, and whose account is its
  /// account without what follows the dot; a seed to the password of the same place and account. Of several such
  /// passwords that is taken whose attribute `pass` or label is the same. What belongs to none is an entry by itself.
  ///
  /// - Parameter items: Items in the order that the entries are to have.
  package static func entries(of items: [ExportedItem]) -> [ExportEntry] {
    var entries: [ExportEntry] = []
    var places: [Place: [Int]] = [:]
    var loose: [ExportedItem] = []
    for item in items {
      if item.isNote || item.isSeed {
        loose.append(item)
        continue
      }
      places[item.place, default: []].append(entries.count)
      entries.append(ExportEntry(main: item))
    }
    for item in loose where item.isSeed { attach(item, &entries, &places) }
    for item in loose where !item.isSeed { attach(item, &entries, &places) }
    return entries
  }

  private static func attach(
    _ item: ExportedItem, _ entries: inout [ExportEntry], _ places: inout [Place: [Int]]
  ) {
    for (place, part) in item.placesAbove {
      guard let index = best(places[place] ?? [], entries, for: item) else { continue }
      if item.isSeed {
        entries[index].seeds.append(item)
      } else if part == ImportPart.note.text, entries[index].note == nil {
        entries[index].note = item
      } else {
        // Of the second of two entries of one account it has the number of that entry, else its own.
        let isOfEntry = entries[index].head?.number == item.number
        entries[index].fields.append((isOfEntry ? part : "\(part) (\(item.number))", item))
      }
      return
    }
    if item.isSeed {
      places[item.place, default: []].append(entries.count)
      entries.append(ExportEntry(seeds: [item]))
    } else {
      entries.append(ExportEntry(main: item))
    }
  }

  private static func best(_ all: [Int], _ entries: [ExportEntry], for item: ExportedItem) -> Int? {
    // The second of two entries of one account has the mark of an import, and so has its note.
    let marked = all.filter { (entries[$0].head?.number ?? 1) == item.number }
    let found = marked.isEmpty ? all.filter { entries[$0].note == nil } + all : marked
    func isAlike(_ index: Int, _ name: AttributeName) -> Bool {
      entries[index].head?.record.attributes[name] == item.record.attributes[name]
    }
    return found.first { isAlike($0, .passPath) && isAlike($0, .label) }
      ?? found.first { isAlike($0, .passPath) } ?? found.first { isAlike($0, .label) } ?? found.first
  }

  /// Where an account is: what a password and that which belongs to it have in common.
  fileprivate struct Place: Hashable {
    let container: [UInt8]
    let account: [UInt8]
    let group: String
  }
}

extension ExportedItem {
  fileprivate var isPassword: Bool {
    record.itemClass == .genericPassword || record.itemClass == .internetPassword
  }

  /// Whether it is the seed of one-time passwords.
  var isSeed: Bool {
    record.itemClass == .internetPassword && record.attributes[.authenticationType] == "totp"
  }

  /// Whether it keeps what belongs to another item, or is a note by itself.
  var isNote: Bool { record.itemClass == .genericPassword && record.attributes[.kind] == "note" }

  fileprivate var place: ExportEntry.Place { place(account: Array(plainAccount.utf8)) }

  // The account without the number that an import has added, and that number.
  private var marked: (account: String, number: Int?) {
    let account = text(.account) ?? ""
    guard record.itemClass == .genericPassword,
      let match = account.wholeMatch(of: #/(.*) \(([2-9]|[1-9][0-9])\)/#)
    else { return (account, nil) }
    return (String(match.1), Int(match.2))
  }

  private var plainAccount: String { marked.account }

  /// The number by which an import has told it from others of one account; 1 for the first of them.
  fileprivate var number: Int {
    if let number = marked.number { return number }
    guard let mark = text(.securityDomain)?.split(separator: " ").last, mark.hasPrefix("duplicate-") else {
      return 1
    }
    return Int(mark.dropFirst(10)) ?? 1
  }

  private func place(account: [UInt8]) -> ExportEntry.Place {
    ExportEntry.Place(container: Array(container.utf8), account: account, group: record.group)
  }

  /// Where the password may be that it belongs to, the longest account first, and which part of it this is.
  fileprivate var placesAbove: [(ExportEntry.Place, part: String)] {
    let account = Array(plainAccount.utf8)
    if isSeed { return [(place, "")] }
    let dots = account.indices.filter { account[$0] == UInt8(ascii: ".") }
    return dots.map { dot in
      (place(account: Array(account[..<dot])), String(decoding: account[(dot + 1)...], as: UTF8.self))
    } + (account.isEmpty ? [] : [(place(account: []), String(decoding: account, as: UTF8.self))])
  }
}
