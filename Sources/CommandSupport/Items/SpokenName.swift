internal import Arguments
internal import Encoding
internal import Keyring
package import KeyringModel
internal import Terminal

/// The name by which messages for people call an item: its container and account as they were given, and what else
/// tells it from the other items of the store. It can be typed back.
package struct SpokenName: Equatable, Sendable {
  /// The name as an operand, for example `github.com/alice` or `generic:mailer/bot`; not escaped.
  private let operand: [UInt8]
  /// The field of the item.
  private let field: String?
  /// The group, if items of several groups have the name.
  private var group: String?
  /// The first digits of the id, if no name tells the item from the others.
  private var id: String?

  private init(_ operand: [UInt8], _ record: ItemRecord) {
    self.operand = operand
    field = record.field
  }

  /// The name in a sentence, not escaped: `work/jira agroß`.
  package var text: String {
    var words = ItemRecord.visible(operand)
    if let id { words += words.isEmpty ? id : " (\(id))" }
    return words + options(isQuoted: false)
  }

  /// The name as operand and options of a command line, quoted for a shell: `'work/jira agroß' -g ops`.
  package var commandLine: String {
    (id ?? String(decoding: operand, as: UTF8.self)).shellWord + options(isQuoted: true)
  }

  /// The name in a list of candidates.
  fileprivate var candidate: String { id == nil ? commandLine : text }

  private func options(isQuoted: Bool) -> String {
    // An id names the field itself.
    var options = id == nil ? field.map { " --field \($0)" } ?? "" : ""
    if let group { options += " -g \(isQuoted ? group.shellWord : group)" }
    return options
  }

  /// Returns the names of an item, the shortest first. Each tells the item from more other items.
  fileprivate static func names(of record: ItemRecord) -> [SpokenName] {
    let name = record.shortName
    var operands = name.isEmpty ? [] : [name, Array("\(record.itemClass.word):".utf8) + name]
    if case .integer(let port)? = record.attributes[.port], port != 0, !name.isEmpty {
      operands.append(record.shortName(port: port))
    }
    let names = operands.map { SpokenName($0, record) }
    return names
      + names.map { name in
        var inGroup = name
        inGroup.group = record.group
        return inGroup
      }
  }

  /// Returns the name with the first digits of the id of an item that no other name identifies.
  fileprivate static func withID(_ record: ItemRecord) -> SpokenName {
    var name = SpokenName(record.shortName, record)
    name.id = "#\(record.id.hex.prefix(8))"
    return name
  }

  /// Returns the selection of the items with the name; nil if it cannot be typed.
  fileprivate var selection: ItemSelection? {
    guard Escaping.terminal.isUnchanged(operand) else { return nil }
    var given = GivenAttributes()
    given.field = field
    given.group = group
    // The names of items of other programs need not be names on a command line.
    return (try? ItemName(Word(operand))).flatMap { try? ItemSelection($0, given) }
  }
}

extension CommandCall {
  /// Returns the name by which messages call an item.
  ///
  /// - Parameter record: The item, which need not be in the store any more.
  package func spokenName(of record: ItemRecord) -> SpokenName {
    let names = SpokenName.names(of: record)
    // A message must not fail because the index cannot be read.
    guard let index = try? openIndex() else { return names.first ?? SpokenName.withID(record) }
    return names.first { isUnique($0, record, in: index) } ?? SpokenName.withID(record)
  }

  /// Returns the name of an item in a sentence, not escaped.
  package func name(of record: ItemRecord) -> String { spokenName(of: record).text }

  /// Returns an error of the store with the names of its items instead of their references; any other error as it is.
  package func namingItems(in error: any Error) -> any Error {
    guard let error = error as? KeyringError, error.hasItem else { return error }
    return ReportedError(ErrorReport(error, naming: name))
  }

  /// Returns the name of the item at a reference, as far as the index has it.
  private func name(of reference: ItemReference) -> String {
    var query = Query(predicates: reference.predicates, limit: .one)
    query.includesFields = true
    // As above.
    guard let record = try? openIndex().find(query).items.first else { return reference.spokenName }
    return name(of: record)
  }

  /// Returns the names of several items, not escaped, each as it is typed on a command line or, if an id is needed, with
  /// the id.
  package func names(of records: [ItemRecord]) -> [String] { records.map { spokenName(of: $0).candidate } }

  private func isUnique(_ name: SpokenName, _ record: ItemRecord, in index: Index) -> Bool {
    guard let selection = name.selection, selection.accepts(record) else { return false }
    // As above.
    guard let found = try? search(selection, in: index) else { return true }
    // An item that only has the name as its label does not count, because a name goes before a label.
    return found.items.allSatisfy { $0.place == record.place || !selection.accepts($0) }
  }
}

extension ItemClass {
  /// The word for the class in front of a name.
  var word: String { ItemName.classWords.first { ItemName.itemClass(of: $0) == self } ?? rawValue }
}

extension NewItem {
  /// The name in a sentence, not escaped.
  var name: String { PrimaryKey(itemClass: itemClass, attributes: attributes, group: group).name }
}

extension PrimaryKey {
  /// The name of the item in a sentence, not escaped: its container and its account.
  var name: String {
    let container = itemClass.containerNames.lazy.compactMap { self[$0] }.first
    let parts = [container, self[itemClass.accountName]].compactMap { $0?.shownBytes }
    let name = ItemRecord.visible(Array(parts.joined(separator: [UInt8(ascii: "/")])))
    return field.map { "\(name) --field \($0)" } ?? name
  }
}

extension KeyringError {
  /// True if the error concerns one item, which its message names.
  fileprivate var hasItem: Bool {
    switch self {
    case .itemExists, .itemDamaged, .bindingMismatch, .engine(_, _?): true
    default: false
    }
  }
}

extension ItemReference {
  fileprivate var predicates: [Predicate] {
    switch self {
    case .path(let path): [.path(path)]
    case .id(let id): [.id(id)]
    }
  }
}
