internal import KeyringModel
internal import Secrets

/// The reason why a part of the source is not in the store after an import.
package enum ImportLoss: Hashable, Sendable {
  /// It could not be decrypted; the text is the reason.
  case unreadable(String)
  /// It has more bytes than a secret may have.
  case tooLarge(limit: Int)
  /// An attribute of the item's name is larger than an attribute may be.
  case nameTooLong(String)
  /// A file that is not an item of a password store.
  case strayFile
  /// A file system object that is neither a file, a folder nor a link.
  case notAFile
  /// A link to something that is not imported, or to a place outside the store. Links are never followed.
  case link(target: [UInt8])
  /// All possible names are taken by other secrets.
  case noNameLeft
  /// Data that a store cannot contain; the text describes it.
  case noPlace(String)
  /// A row of a table has another number of fields than the header.
  case wrongFieldCount(Int, expected: Int)
  /// A passkey, which a store cannot use yet.
  case passkey

  /// The message.
  package var text: String {
    switch self {
    case .unreadable(let reason): reason
    case .tooLarge(let limit): "larger than \(limit) bytes"
    case .nameTooLong(let name): "\(name) is too long for the name of an item"
    case .strayFile: "not an item of a password store"
    case .notAFile: "neither a file nor a folder"
    case .link(let target): "a link to \(String(decoding: target, as: UTF8.self)), which is not imported"
    case .noNameLeft: "too many items with this name have different secrets"
    case .noPlace(let what): what
    case .wrongFieldCount(let found, let expected):
      "it has \(found) \(found == 1 ? "field" : "fields"), but the header has \(expected)"
    case .passkey: "passkeys are not supported yet"
    }
  }
}

/// The reason why a part of the source needs no item. No data is lost.
package enum ImportSkip: Hashable, Sendable {
  /// A link to an item. The item keeps this path as an attribute.
  case alias(of: [UInt8])
  /// A link to a folder whose items are imported under their own paths; empty for the top of the store.
  case folderLink(to: [UInt8])
  /// A folder. Its entries contain its name.
  case folder
  /// An empty part.
  case empty
  /// An entry in the trash.
  case trash
  /// A field that has no value and refers to another field of the same entry.
  case fieldLink

  /// The message.
  package var text: String {
    switch self {
    case .alias(let path): "a link to \(String(decoding: path, as: UTF8.self)), which records this path"
    case .folderLink(let path) where path.isEmpty: "a link to the top folder of the store"
    case .folder: "a folder"
    case .empty: "it is empty"
    case .trash: "in the trash"
    case .fieldLink: "it refers to another field of the same entry"
    case .folderLink(let path): "a link to the folder \(String(decoding: path, as: UTF8.self))"
    }
  }
}

/// The data that was read from a source, before any comparison with the store.
package struct ImportDraft: Sendable {
  /// The logins, in the order of the source.
  package var logins: [PlannedLogin] = []
  /// The parts that became no item, with the reasons.
  package var findings: [ImportReport.Entry] = []

  /// Creates an empty draft.
  package init() {}

  /// The items and fields of all logins.
  package var items: [PlannedItem] { logins.flatMap(\.items) }

  /// Appends the data from another part of the source.
  ///
  /// - Parameter other: the data from the other part.
  package mutating func append(_ other: ImportDraft) {
    logins += other.logins
    findings += other.findings
  }

  /// Adds a login, or the reasons why parts of it cannot be kept as they are.
  ///
  /// A value that is too long for an attribute becomes a field, unless it is part of the login's name.
  ///
  /// - Parameter login: the login.
  package mutating func add(_ login: PlannedLogin) {
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
    // Fields created in this loop are appended and therefore checked as well.
    while index < login.items.count {
      for (name, bytes) in ImportDraft.takeLongAttributes(of: &login.items[index]) {
        login.add(.column(name.text), SecretSlice(SecretBytes(copying: bytes)))
      }
      index += 1
    }
    if !login.items.isEmpty { logins.append(login) }
  }

  /// Removes the attributes that do not fit in the index line of an item, and adds remarks.
  private static func takeLongAttributes(
    of item: inout PlannedItem
  ) -> [(name: AttributeName, bytes: [UInt8])] {
    let key = Set(AttributeSchema.primaryKey(of: item.itemClass))
    var long: [(name: AttributeName, bytes: [UInt8])] = []
    // The attributes of the name always have room.
    var (room, left) = (lineLimit, AttributeSchema.maximumCount - 4)
    for (name, value) in item.attributes.entries where key.contains(name) {
      room -= value.sizeInLine + name.text.utf8.count + 4
      left -= 1
    }
    var kept: [(name: AttributeName, value: AttributeValue)] = []
    for (name, value) in item.attributes.entries {
      let size = value.sizeInLine
      if !key.contains(name) {
        let isLong = size > attributeLimit || size + name.text.utf8.count + 4 > room || left == 0
        if isLong, let bytes = value.contentBytes {
          item.remarks.append(.sealedForLength(name.text))
          long.append((name, bytes))
          continue
        }
        room -= size + name.text.utf8.count + 4
        left -= 1
      }
      // For a login the remark is made only once.
      if case .bytes = value, item.field == nil || !key.contains(name) {
        item.remarks.append(.notUTF8(name.text))
      }
      kept.append((name, value))
    }
    item.attributes = Attributes(unsorted: kept)
    if item.secret.isEmpty { item.remarks.append(.emptySecret) }
    return long
  }

  /// Records that a part of an entry will not be in the store.
  ///
  /// - Parameters:
  ///   - source: the entry.
  ///   - reason: the reason.
  ///   - part: the part of the entry.
  package mutating func lose(
    _ source: ImportSource, _ reason: ImportLoss, part: ImportPart = .secret
  ) {
    findings.append(ImportReport.Entry(source: source, part: part, outcome: .lost(reason)))
  }

  /// Records passkeys, each as one loss.
  ///
  /// - Parameters:
  ///   - count: the number of passkeys.
  ///   - source: the entry.
  mutating func losePasskeys(_ count: Int, of source: ImportSource) {
    for _ in 0..<count { lose(source, .passkey, part: .column("passkey")) }
  }

  /// Records that an entry needs no item.
  ///
  /// - Parameters:
  ///   - source: the entry.
  ///   - reason: the reason.
  ///   - part: the part of the entry.
  mutating func skip(_ source: ImportSource, _ reason: ImportSkip, part: ImportPart = .secret) {
    findings.append(ImportReport.Entry(source: source, part: part, outcome: .skipped(reason)))
  }

  /// The largest size of a secret, as in the store format: 1 MiB.
  package static let secretLimit = 1 << 20
  // An index line has 16 KiB for all attributes. Those of an item's name, at most seven, and about ten others fit with
  // these limits, including all escapes.
  private static let namePartLimit = 2048
  static let attributeLimit = 1024
  // The limit for all attributes together; further ones become encrypted fields. It leaves room in the index line for
  // the other members.
  private static let lineLimit = 12 << 10
}
