internal import Encoding
internal import KeyringModel
package import Secrets

/// The import of Enpass's JSON.
///
/// - The first user name, password and URL of an entry become a password as in ``ImportedEntry``; without a user name, the
///   e-mail address is the account. The secret of a note is the note, that of a card its number.
/// - Other fields become fields; those that Enpass hides are always encrypted. The older values of a field are stored as
///   JSON, and so are attached files up to the size limit of a secret.
/// - Entries in the trash and deleted fields are skipped. Archived entries are imported and marked.
package struct EnpassImport {
  private var draft = ImportDraft()
  private var room = AttachmentRoom()
  private let folders: [[UInt8]: SecretSlice]
  private let showsUnknown: Bool

  /// Plans all entries.
  ///
  /// - Parameters:
  ///   - bytes: the content of the file.
  ///   - showsUnknown: true if fields that are not hidden become custom attributes, which are public.
  /// - Returns: the items.
  /// - Throws: `empty`, `notUTF8`, `json`, `otherFormat`.
  package static func plan(
    _ bytes: borrowing SecretBytes, showsUnknown: Bool = false
  ) throws(SourceError) -> ImportDraft {
    let json = try SecretJSON(source: bytes)
    guard isExport(json), let items = json["items"]?.elements else {
      throw .otherFormat(expected: "an export of Enpass")
    }
    var folders: [[UInt8]: SecretSlice] = [:]
    for folder in json["folders"]?.elements ?? [] {
      guard let id = folder["uuid"]?.text, let title = folder["title"]?.text else { continue }
      folders[id.publicBytes()] = title
    }
    var run = EnpassImport(folders: folders, showsUnknown: showsUnknown)
    for (index, item) in items.enumerated() { run.read(item, number: index + 1) }
    return run.draft
  }

  /// Returns true for a document whose entries have a category and fields.
  static func isExport(_ json: SecretJSON) -> Bool {
    json["items"]?.elements?.contains { Self.isEntry($0) } == true
  }

  private static func isEntry(_ item: SecretJSON) -> Bool {
    item["category"]?.text != nil && (item["fields"]?.elements != nil || item["uuid"]?.text != nil)
  }

  private init(folders: [[UInt8]: SecretSlice], showsUnknown: Bool) {
    self.folders = folders
    self.showsUnknown = showsUnknown
  }

  private mutating func read(_ item: SecretJSON, number: Int) {
    let title = item["title"]?.plainText?.publicBytes() ?? []
    var entry = ImportedEntry(.entry(number, title: title), showsUnknown: showsUnknown)
    guard Self.isEntry(item) else {
      draft.lose(entry.source, .noPlace("not an entry of Enpass"))
      return
    }
    var reader = MemberReader(item)
    if Self.isOn(reader.take("trashed")) {
      draft.skip(entry.source, .trash)
      return
    }
    reader.drop("uuid", "icon", "subtitle", "template_type", "auto_submit")
    entry.set(.label, reader.text("title"))
    if Self.isOn(reader.take("archived")) { entry.attributes["archived"] = "true" }
    if Self.isOn(reader.take("favorite")) { entry.attributes["favorite"] = "true" }
    entry.set("creationDate", reader.take("createdAt"))
    entry.set("revisionDate", reader.take("updated_at"))
    let names = reader.elements("folders").compactMap(\.text).map {
      (folders[$0.publicBytes()] ?? $0).publicBytes()
    }
    if !names.isEmpty {
      entry.set("folder", SecretSlice(SecretBytes(copying: Array(names.joined(separator: [0x2C])))))
    }
    let category =
      reader.text("category").map { String(decoding: $0.publicBytes(), as: UTF8.self) } ?? ""
    if !["login", "note", "password"].contains(category) {
      entry.attributes["category"] = .string(category)
    }
    entry.note(reader.text("note"))
    for field in reader.elements("fields") { read(field, &entry) }
    for file in reader.elements("attachments") { keep(file, &entry) }
    if entry.attributes[.account] == nil { entry.attributes[.account] = entry.attributes["email"] }
    if category == "note", entry.secret.isEmpty { entry.becomeNote() }
    reader.keepRest(in: &entry)
    entry.finish(into: &draft)
  }

  private static func isOn(_ flag: SecretJSON?) -> Bool {
    flag?.boolean == true || (flag?.integer ?? 0) != 0
  }

  private mutating func read(_ field: SecretJSON, _ entry: inout ImportedEntry) {
    var reader = MemberReader(field)
    let type = reader.text("type").map { String(decoding: $0.publicBytes(), as: UTF8.self) } ?? ""
    let label = reader.text("label").map { String(decoding: $0.publicBytes(), as: UTF8.self) } ?? ""
    let title = label.isEmpty ? (type.isEmpty ? "field" : type) : label
    let value = reader.text("value") ?? .nothing
    let isHidden =
      Self.isOn(reader.take("sensitive")) || ["password", "pin", "ccCvc", "ccPin"].contains(type)
    let history = reader.elements("history")
    if Self.isOn(reader.take("deleted")) {
      if !value.isEmpty { draft.skip(entry.source, .trash, part: .column(title)) }
      return
    }
    if !history.isEmpty {
      let name = type == "password" ? ImportPart.history : "\(title) history"
      entry.seal(.column(name), SecretSlice(SecretJSON.array(history).json))
    }
    // Members that only say how and when Enpass shows a field. A section is a heading.
    reader.drop("order", "uid", "updated_at", "value_updated_at")
    reader.keepRest(in: &entry)
    if value.isEmpty { return }
    switch type {
    case "username": entry.claim(.account, value, title: title)
    case "email": entry.claim("email", value, title: title)
    case "password": entry.claimSecret(value, title: title)
    case "url": entry.urls.append(value)
    case "totp": entry.oneTimePassword(value)
    case "ccNumber" where entry.secret.isEmpty: entry.secret = value
    default: entry.field(title, value, isSecret: isHidden)
    }
  }

  private mutating func keep(_ file: SecretJSON, _ entry: inout ImportedEntry) {
    let name = String(decoding: file["name"]?.plainText?.publicBytes() ?? [], as: UTF8.self)
    let part = ImportPart.column("file \(name)")
    guard let content = file["data"]?.text?.decodedBase64() else {
      draft.lose(entry.source, .unreadable("its content is missing from the file"), part: part)
      return
    }
    guard room.take(content) else {
      return draft.lose(entry.source, AttachmentRoom.loss, part: part)
    }
    entry.seal(part, content)
  }
}
