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
  /// The logins, in the order of the source.
  package var logins: [PlannedLogin] = []
  /// What became no item, and why.
  package var findings: [ImportReport.Entry] = []

  /// Starts with nothing.
  package init() {}

  /// The items and fields of all logins.
  package var items: [PlannedItem] { logins.flatMap(\.items) }

  /// Adds what was read from a further part of the source.
  ///
  /// - Parameter other: The further part.
  package mutating func append(_ other: ImportDraft) {
    logins += other.logins
    findings += other.findings
  }

  /// Adds a login, or the reasons why parts of it cannot be kept as they are.
  ///
  /// A value that is too long for an attribute becomes a field, unless it is part of what names the login.
  ///
  /// - Parameter login: The login.
  mutating func add(_ login: PlannedLogin) {
    var login = login
    login.items[0].alternatives.removeAll { $0.sizeInLine > ImportDraft.namePartLimit }
    let key = Set(AttributeSchema.primaryKey(of: login.head.itemClass))
    let long = login.head.attributes.entries.first { name, value in
      key.contains(name) && value.sizeInLine > ImportDraft.namePartLimit
    }
    if let long {
      for item in login.items { lose(item.source, .nameTooLong(long.name.text), part: item.part) }
      return
    }
    for item in login.items where item.secret.count > ImportDraft.secretLimit {
      lose(item.source, .tooLarge(limit: ImportDraft.secretLimit), part: item.part)
    }
    login.items.removeAll { $0.secret.count > ImportDraft.secretLimit }
    var index = 0
    // What is sealed comes last and is looked at as well.
    while index < login.items.count {
      for (name, bytes) in ImportDraft.takeLongAttributes(of: &login.items[index]) {
        login.add(.column(name.text), SecretSlice(SecretBytes(copying: bytes)))
      }
      index += 1
    }
    if !login.items.isEmpty { logins.append(login) }
  }

  /// Takes out what has no room in the line of an item, and adds what its owner should know of the rest.
  private static func takeLongAttributes(
    of item: inout PlannedItem
  ) -> [(name: AttributeName, bytes: [UInt8])] {
    let key = Set(AttributeSchema.primaryKey(of: item.itemClass))
    var long: [(name: AttributeName, bytes: [UInt8])] = []
    // What names the item has its room in any case.
    var (room, left) = (lineLimit, AttributeSchema.maximumCount - 4)
    for (name, value) in item.attributes.entries where key.contains(name) {
      room -= value.sizeInLine + name.text.utf8.count + 4
      left -= 1
    }
    for (name, value) in item.attributes.entries {
      let size = value.sizeInLine
      if !key.contains(name) {
        let isLong = size > attributeLimit || size + name.text.utf8.count + 4 > room || left == 0
        if isLong, let bytes = value.contentBytes {
          item.attributes[name] = nil
          item.remarks.append(.sealedForLength(name.text))
          long.append((name, bytes))
          continue
        }
        room -= size + name.text.utf8.count + 4
        left -= 1
      }
      // Of a login it is told once.
      if case .bytes = value, item.field == nil || !key.contains(name) {
        item.remarks.append(.notUTF8(name.text))
      }
    }
    if item.secret.isEmpty { item.remarks.append(.emptySecret) }
    return long
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
