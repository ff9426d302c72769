internal import Encoding
internal import KeyringModel
package import Secrets

/// The import of a 1PUX archive of 1Password (support.1password.com/1pux-format).
///
/// - A password, a user name and a URL become a password as in ``ImportedEntry``. The secret of a secure note is the
///   note, that of an SSH key the private key.
/// - Every other field of every section becomes a field with the label `Section.Field`; one for one-time passwords
///   becomes a seed. Files are encrypted up to the size limit of a secret, and larger ones are losses.
/// - Archived entries are imported and marked; deleted ones are skipped. Passkeys are losses. The pictures of accounts and
///   vaults are not imported, which is no loss.
package struct OnePasswordImport {
  private let archive: ArchiveReader
  private var draft = ImportDraft()
  private var usedFiles: Set<String> = []
  // Each file is unpacked once, even if many entries refer to it.
  private var contents: [String: SecretSlice] = [:]
  private var room = AttachmentRoom()
  private var number = 0
  private let showsUnknown: Bool

  // The largest size of `export.data`.
  private static let dataLimit = 128 << 20

  /// Plans all entries.
  ///
  /// - Parameters:
  ///   - bytes: the archive.
  ///   - showsUnknown: true if fields that are not concealed become custom attributes, which are public.
  /// - Throws: `archive`, `json`, `otherFormat`, `notInstalled`.
  package static func plan(
    _ bytes: consuming SecretBytes, showsUnknown: Bool = false
  ) throws(SourceError) -> ImportDraft {
    guard !bytes.isEmpty else { throw .empty }
    var run: OnePasswordImport
    let data: SecretBytes
    do {
      let archive = try ArchiveReader(bytes, unpackingWith: try Inflation())
      run = OnePasswordImport(archive: archive, showsUnknown: showsUnknown)
      guard let member = run.archive["export.data"], run.archive["export.attributes"] != nil else {
        throw SourceError.otherFormat(expected: "a 1PUX export of 1Password")
      }
      data = try run.archive.content(of: member, limit: dataLimit)
    } catch let error as ArchiveProblem {
      throw .archive(error)
    } catch let error as SourceError {
      throw error
    } catch {
      throw .archive(.damaged)
    }
    let json = try SecretJSON(source: data)
    guard let accounts = json["accounts"]?.elements else {
      throw .otherFormat(expected: "a 1PUX export of 1Password")
    }
    for account in accounts {
      run.ignorePicture(of: account)
      for vault in account["vaults"]?.elements ?? [] {
        run.ignorePicture(of: vault)
        let name = vault["attrs"]?["name"]?.text
        for item in vault["items"]?.elements ?? [] { run.read(item, vault: name) }
      }
    }
    run.tellUnusedFiles()
    return run.draft
  }

  private init(archive: ArchiveReader, showsUnknown: Bool) {
    self.archive = archive
    self.showsUnknown = showsUnknown
  }

  // A picture belongs to no entry.
  private mutating func ignorePicture(of owner: SecretJSON) {
    guard let name = Self.name(owner["attrs"]?["avatar"]?.text) else { return }
    usedFiles.insert("files/\(name)")
  }

  private mutating func read(_ wrapped: SecretJSON, vault: SecretSlice?) {
    number += 1
    // The first versions wrote the entry and its file as siblings.
    let item = wrapped["item"]?.members == nil ? wrapped : wrapped["item"] ?? wrapped
    let title = item["overview"]?["title"]?.plainText?.publicBytes() ?? []
    var entry = ImportedEntry(.entry(number, title: title), showsUnknown: showsUnknown)
    var reader = MemberReader(item)
    let state = reader.text("state").map { String(decoding: $0.publicBytes(), as: UTF8.self) } ?? "active"
    if reader.take("trashed")?.boolean == true || state == "deleted" || state == "trashed" {
      for name in files(of: item) { usedFiles.insert(name) }
      draft.skip(entry.source, .trash)
      return
    }
    guard item.members != nil else {
      draft.lose(entry.source, .noPlace("not a 1Password entry"))
      return
    }
    reader.drop("uuid")
    entry.set("vault", vault)
    if state == "archived" { entry.attributes["archived"] = "true" }
    entry.set("favorite", reader.take("favIndex"))
    entry.set("creationDate", reader.take("createdAt"))
    entry.set("revisionDate", reader.take("updatedAt"))
    let category = reader.text("categoryUuid").map { String(decoding: $0.publicBytes(), as: UTF8.self) } ?? ""
    if category != "001", !category.isEmpty {
      entry.attributes["category"] = .string(Self.categories[category] ?? category)
    }
    readOverview(reader.take("overview"), &entry)
    let hasPasskey = readDetails(reader.take("details"), &entry)
    if category == "003", entry.secret.isEmpty { entry.becomeNote() }
    reader.keepRest(in: &entry)
    if let file = wrapped["file"]?["path"]?.text { keep(path: file, &entry) }
    entry.finish(into: &draft)
    draft.losePasskeys(hasPasskey ? 1 : 0, of: entry.source)
  }

  private func readOverview(_ overview: SecretJSON?, _ entry: inout ImportedEntry) {
    var reader = MemberReader(overview)
    entry.set(.label, reader.text("title"))
    for place in reader.elements("urls") {
      var place = MemberReader(place)
      if let url = place.text("url"), !url.isEmpty { entry.urls.append(url) }
      let label = place.text("label")
      if let label, !label.isEmpty, label.publicBytes() != Array("website".utf8) {
        entry.set(AttributeName(entry.urls.count < 2 ? "urlLabel" : "urlLabel-\(entry.urls.count)"), label)
      }
      place.drop("mode")
      place.keepRest(in: &entry)
    }
    if let url = reader.text("url"), !url.isEmpty, !entry.urls.contains(where: { $0.isEqual(to: url) }) {
      entry.urls.insert(url, at: 0)
    }
    let tags = reader.elements("tags").compactMap(\.plainText).map { $0.publicBytes() }
    if !tags.isEmpty {
      entry.attributes["tags"] = AttributeValue(text: Array(tags.joined(separator: [0x2C])))
    }
    // Values that 1Password computes: the second line of its list, and the strength of the password.
    reader.drop("subtitle", "ainfo", "ps", "pbe", "pgrng", "icons", "watchtowerExclusions")
    reader.keepRest(in: &entry)
  }

  /// Reads the details of an entry. Returns true if it has a passkey.
  private mutating func readDetails(_ details: SecretJSON?, _ entry: inout ImportedEntry) -> Bool {
    var reader = MemberReader(details)
    for field in reader.elements("loginFields") {
      var field = MemberReader(field)
      let designation = field.text("designation")?.publicBytes() ?? []
      let type = field.text("fieldType")?.publicBytes() ?? []
      let (name, id, value) = (field.text("name"), field.text("id"), field.text("value"))
      let title = [name, id].compactMap { $0 }.first { !$0.isEmpty }
      guard let value, !value.isEmpty else { continue }
      if designation.elementsEqual("username".utf8), entry.attributes[.account] == nil {
        entry.set(.account, value)
      } else if designation.elementsEqual("password".utf8), entry.secret.isEmpty {
        entry.secret = value
      } else {
        entry.field(Self.name(title) ?? "field", value, isSecret: type.elementsEqual("P".utf8))
      }
      field.keepRest(in: &entry)
    }
    if let password = reader.text("password"), !password.isEmpty {
      if entry.secret.isEmpty {
        entry.secret = password
      } else {
        entry.field("password", password, isSecret: true)
      }
    }
    entry.note(reader.text("notesPlain"))
    for section in reader.elements("sections") { readSection(section, &entry) }
    if let history = reader.take("passwordHistory"), !history.isBlank {
      entry.seal(.column(ImportPart.history), SecretSlice(history.json))
    }
    if let document = reader.take("documentAttributes") { keep(document, "document", &entry) }
    let passkey = reader.take("passkey")
    reader.keepRest(in: &entry)
    return passkey?.isBlank == false
  }

  private mutating func readSection(_ section: SecretJSON, _ entry: inout ImportedEntry) {
    var reader = MemberReader(section)
    var heading = Self.name(reader.text("title"))
    if let title = heading, title.utf8.count > ImportDraft.attributeLimit {
      // All fields of the section would repeat it.
      entry.field("section", SecretSlice(title))
      heading = nil
    }
    for field in reader.elements("fields") {
      var field = MemberReader(field)
      let id = Self.name(field.text("id"))
      let name = Self.name(field.text("title")) ?? id ?? "field"
      let title = heading.map { "\($0).\(name)" } ?? name
      let value = Self.plain(field.take("value") ?? .null)
      for (index, member) in (value.members ?? []).enumerated() {
        readField(
          index == 0 ? title : "\(title).\(member.name)", id ?? "", kind: member.name, member.value, &entry)
      }
      if value.members == nil, !value.isBlank {
        if let text = value.plainText {
          entry.field(title, text)
        } else {
          entry.field(title, SecretSlice(value.json), isSecret: true)
        }
      }
      // Members that only control how 1Password displays a field.
      field.drop(
        "indexAtSource", "guarded", "multiline", "dontGenerate", "inputTraits", "placeholder",
        "clipboardFilter")
      field.keepRest(in: &entry)
    }
    reader.drop("name", "hideAddAnotherField")
    reader.keepRest(in: &entry)
  }

  // An e-mail address is an object with the address and its provider.
  private static func plain(_ value: SecretJSON) -> SecretJSON {
    guard case .object(let members) = value, let mail = value["email"]?.members else {
      return value
    }
    var parts =
      mail.filter { $0.name == "email_address" } + mail.filter { $0.name != "email_address" }
    parts.removeAll { $0.value.isBlank && $0.name != "email_address" }
    return .object(parts + members.filter { $0.name != "email" })
  }

  // The ids of fields that are the main secret of an entry without another one: of an API credential, an account of a
  // mail server, a network, a wallet.
  private static let secretIDs: Set<String> = [
    "password", "credential", "pop_password", "wireless_password", "recoveryPhrase",
  ]

  private mutating func readField(
    _ title: String, _ id: String, kind: String, _ value: SecretJSON, _ entry: inout ImportedEntry
  ) {
    // A date of 0 is a valid day.
    let isDate = value.integer != nil && ["date", "monthYear"].contains(kind)
    if value.isBlank, !isDate { return }
    switch (kind, value.plainText) {
    case ("file", _): keep(value, title, &entry)
    case ("sshKey", _): readKey(title, value, &entry)
    case ("totp", let seed?): entry.oneTimePassword(seed)
    case ("string", let name?) where id == "username" && entry.attributes[.account] == nil:
      entry.set(.account, name)
    case ("concealed", let password?) where Self.secretIDs.contains(id) && entry.secret.isEmpty:
      entry.secret = password
    case ("creditCardNumber", let number?) where entry.secret.isEmpty: entry.secret = number
    case (_, let text?):
      entry.field(title, text, isSecret: ["concealed", "creditCardNumber", "sshKey"].contains(kind))
    case (_, nil): entry.field(title, SecretSlice(value.json), isSecret: true)
    }
  }

  private func readKey(_ title: String, _ value: SecretJSON, _ entry: inout ImportedEntry) {
    var reader = MemberReader(value)
    if let key = reader.text("privateKey"), !key.isEmpty {
      if entry.secret.isEmpty { entry.secret = key } else { entry.field(title, key, isSecret: true) }
      entry.kind = entry.kind ?? "ssh key"
    }
    var metadata = MemberReader(reader.take("metadata"))
    // The same key in the format of OpenSSH.
    metadata.drop("privateKey")
    entry.set("publicKey", metadata.text("publicKey"))
    entry.set("fingerprint", metadata.text("fingerprint"))
    metadata.keepRest(in: &entry)
    reader.keepRest(in: &entry)
  }

  private static func name(_ text: SecretSlice?) -> String? {
    guard let text, !text.isEmpty else { return nil }
    return String(decoding: text.publicBytes(), as: UTF8.self)
  }
}

// Files are stored in the archive as `files/<id>__<name>`.
extension OnePasswordImport {
  private mutating func keep(_ file: SecretJSON, _ title: String, _ entry: inout ImportedEntry) {
    let name = Self.name(file["fileName"]?.plainText) ?? title
    let part = ImportPart.column("file \(name)")
    guard let id = Self.name(file["documentId"]?.plainText), let member = member(of: id) else {
      draft.lose(entry.source, .noPlace("the archive does not contain this file"), part: part)
      return
    }
    usedFiles.insert(member.name)
    do {
      let content = try content(of: member)
      guard room.take(content) else { return draft.lose(entry.source, AttachmentRoom.loss, part: part) }
      entry.seal(part, content)
    } catch {
      lose(part, entry.source, error)
    }
  }

  // The first versions use the whole path in the archive.
  private mutating func keep(path: SecretSlice, _ entry: inout ImportedEntry) {
    guard let name = Self.name(path) else { return }
    let part = ImportPart.column("file \(name.split(separator: "/").last.map(String.init) ?? name)")
    guard let member = archive[name] ?? archive["files/\(name)"] else {
      draft.lose(entry.source, .noPlace("the archive does not contain this file"), part: part)
      return
    }
    // The document of the entry usually refers to the same file.
    guard usedFiles.insert(member.name).inserted else { return }
    do {
      let content = try content(of: member)
      guard room.take(content) else { return draft.lose(entry.source, AttachmentRoom.loss, part: part) }
      entry.seal(part, content)
    } catch {
      lose(part, entry.source, error)
    }
  }

  private mutating func content(of member: ArchiveReader.Member) throws(ArchiveProblem) -> SecretSlice {
    if let known = contents[member.name] { return known }
    let content = SecretSlice(try archive.content(of: member, limit: ImportDraft.secretLimit))
    contents[member.name] = content
    return content
  }

  private mutating func lose(_ part: ImportPart, _ source: ImportSource, _ problem: ArchiveProblem) {
    let reason: ImportLoss =
      if case .tooLarge(let limit) = problem { .tooLarge(limit: limit) } else {
        .unreadable("it is damaged in the archive")
      }
    draft.lose(source, reason, part: part)
  }

  private func member(of id: String) -> ArchiveReader.Member? {
    archive["files/\(id)"] ?? archive.member(withPrefix: "files/\(id)__")
  }

  private func files(of item: SecretJSON) -> [String] {
    var ids = [item["details"]?["documentAttributes"]?["documentId"]]
    for section in item["details"]?["sections"]?.elements ?? [] {
      for field in section["fields"]?.elements ?? [] { ids.append(field["value"]?["file"]?["documentId"]) }
    }
    return ids.compactMap { $0?.text }.compactMap { Self.name($0) }.compactMap { member(of: $0)?.name }
  }

  private mutating func tellUnusedFiles() {
    let known: Set<String> = ["export.data", "export.attributes"]
    for member in archive.members where !known.contains(member.name) && !usedFiles.contains(member.name) {
      draft.lose(.file(Array(member.name.utf8)), .noPlace("no entry refers to this file"))
    }
  }

  private static let categories = [
    "002": "credit card", "003": "secure note", "004": "identity", "005": "password", "006": "document",
    "100": "software license", "101": "bank account", "102": "database", "103": "driver license",
    "104": "outdoor license", "105": "membership", "106": "passport", "107": "rewards",
    "108": "social security number", "109": "wireless router", "110": "server", "111": "email account",
    "112": "API credential", "113": "medical record", "114": "SSH key", "115": "crypto wallet",
  ]
}
