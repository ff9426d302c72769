internal import KeyringModel
internal import Secrets

/// Why something of the source is not in the store after an import.
package enum ImportLoss: Hashable, Sendable {
  /// It could not be decrypted; the text says why.
  case unreadable(String)
  /// It has more bytes than a secret may have.
  case tooLarge(limit: Int)
  /// An attribute that names the item has more bytes than an attribute may have.
  case nameTooLong(String)
  /// A file that is no item of a password store.
  case strayFile
  /// Something that is neither file, folder nor link.
  case notAFile
  /// A link to something that is not imported, or out of the store. Links are never followed.
  case link(target: [UInt8])
  /// Every name that could be made for it is taken by other secrets.
  case noNameLeft
  /// Something that has no place in a store, in words.
  case noPlace(String)

  /// What to tell.
  package var text: String {
    switch self {
    case .unreadable(let reason): reason
    case .tooLarge(let limit): "larger than \(limit) bytes"
    case .nameTooLong(let name): "\(name) is too long for the name of an item"
    case .strayFile: "not an item of a password store"
    case .notAFile: "neither a file nor a folder"
    case .link(let target): "a link to \(String(decoding: target, as: UTF8.self)), which is not imported"
    case .noNameLeft: "too many items of this name with other secrets"
    case .noPlace(let what): what
    }
  }
}

/// Why something of the source needs no item. Nothing is lost by it.
package enum ImportSkip: Hashable, Sendable {
  /// What `pass`, gopass and git keep in a store for themselves.
  case housekeeping
  /// A link to an item, which keeps this path as an attribute.
  case alias(of: [UInt8])
  /// A link to a folder, whose items are imported under their own paths; empty for the top of the store.
  case folderLink(to: [UInt8])
  /// A folder, whose name its entries say.
  case folder
  /// It says nothing.
  case empty
  /// What its owner has thrown away.
  case trash
  /// A field that holds nothing of its own, and points at another one of the same entry.
  case fieldLink

  /// What to tell.
  package var text: String {
    switch self {
    case .housekeeping: "not an item"
    case .alias(let path): "a link to \(String(decoding: path, as: UTF8.self)), which keeps this name as well"
    case .folderLink(let path) where path.isEmpty: "a link to the top of the store"
    case .folder: "a folder"
    case .empty: "it is empty"
    case .trash: "in the trash"
    case .fieldLink: "it points at another field of the same entry"
    case .folderLink(let path): "a link to the folder \(String(decoding: path, as: UTF8.self))"
    }
  }
}

/// What was read from a source, before anything is compared with the store.
package struct ImportDraft: Sendable {
  /// The items, in the order of the source.
  package var items: [PlannedItem] = []
  /// What became no item, and why.
  package var findings: [ImportReport.Entry] = []

  /// Starts with nothing.
  package init() {}

  /// Adds what was read from a further part of the source.
  ///
  /// - Parameter other: The further part.
  package mutating func append(_ other: ImportDraft) {
    items += other.items
    findings += other.findings
  }

  /// Adds an item, or the reasons why parts of it cannot be kept as they are.
  ///
  /// A value that is too long for an attribute is sealed in an item of its own, unless it is part of what
  /// names the item.
  ///
  /// - Parameter item: The item.
  mutating func add(_ item: PlannedItem) {
    var item = item
    guard item.secret.count <= ImportDraft.secretLimit else {
      lose(item.source, .tooLarge(limit: ImportDraft.secretLimit), part: item.part)
      return
    }
    let named = Set(AttributeSchema.primaryKey(of: item.itemClass))
    var sealed: [(name: AttributeName, bytes: [UInt8])] = []
    // What names the item has its room in any case.
    var (room, left) = (ImportDraft.lineLimit, AttributeSchema.maximumCount - 4)
    for (name, value) in item.attributes.entries where named.contains(name) {
      room -= value.sizeInLine + name.text.utf8.count + 4
      left -= 1
    }
    for (name, value) in item.attributes.entries {
      let size = value.sizeInLine
      if named.contains(name) {
        guard size <= ImportDraft.namePartLimit else {
          lose(item.source, .nameTooLong(name.text), part: item.part)
          return
        }
      } else if let bytes = value.contentBytes,
        size > ImportDraft.attributeLimit || size + name.text.utf8.count + 4 > room || left == 0
      {
        item.attributes[name] = nil
        item.remarks.append(.sealedForLength(name.text))
        sealed.append((name, bytes))
        continue
      } else {
        room -= size + name.text.utf8.count + 4
        left -= 1
      }
      if case .bytes = value { item.remarks.append(.notUTF8(name.text)) }
    }
    item.alternatives.removeAll { $0.sizeInLine > ImportDraft.namePartLimit }
    if item.secret.isEmpty { item.remarks.append(.emptySecret) }
    items.append(item)
    for (name, bytes) in sealed {
      add(item.companion(.column(name.text), keeping: SecretSlice(SecretBytes(copying: bytes))))
    }
  }

  /// Notes that a part of an entry will not be in the store.
  ///
  /// - Parameters:
  ///   - source: Which entry.
  ///   - reason: Why.
  ///   - part: Which part of it.
  package mutating func lose(
    _ source: ImportSource, _ reason: ImportLoss, part: ImportPart = .secret
  ) {
    findings.append(ImportReport.Entry(source: source, part: part, outcome: .lost(reason)))
  }

  /// Notes that an entry needs no item.
  ///
  /// - Parameters:
  ///   - source: Which entry.
  ///   - reason: Why.
  ///   - part: Which part of it.
  mutating func skip(_ source: ImportSource, _ reason: ImportSkip, part: ImportPart = .secret) {
    findings.append(ImportReport.Entry(source: source, part: part, outcome: .skipped(reason)))
  }

  /// The most bytes of a secret, as in the store format: 1 MiB.
  package static let secretLimit = 1 << 20
  // A line of the index has 16 KiB for all attributes. Those that name an item, at most seven, and some ten
  // others fit with these limits, whatever has to be escaped.
  private static let namePartLimit = 2048
  private static let attributeLimit = 1024
  // All attributes together: what is over is sealed. Below the line with room for what is not an attribute.
  private static let lineLimit = 12 << 10
}
