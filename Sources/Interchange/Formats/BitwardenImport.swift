internal import Encoding
internal import KeyringModel
package import Secrets

/// The import of Bitwarden's unencrypted JSON (bitwarden.com/help/condition-bitwarden-import).
///
/// - A login becomes a password as in ``ImportedEntry``. The secret of a secure note is the note, that of an SSH key the
///   private key, that of a card, an identity or any other type its data as lines `name: value`. `kind` contains the
///   type.
/// - Custom fields become fields, and so does the password history, as JSON.
/// - Entries in the trash are skipped. Passkeys are losses, and so are entries without a type.
package enum BitwardenImport {
  /// Plans all entries.
  ///
  /// - Parameters:
  ///   - bytes: the content of the file.
  ///   - showsUnknown: true if custom fields that are not hidden become custom attributes, which are public.
  /// - Returns: the items.
  package static func plan(
    _ bytes: borrowing SecretBytes, showsUnknown: Bool = false
  ) throws(SourceError) -> ImportDraft {
    let json = try SecretJSON(source: bytes)
    if json["encrypted"]?.boolean == true || json["encKeyValidation_DO_NOT_EDIT"] != nil {
      throw .encrypted
    }
    guard isExport(json), let items = json["items"]?.elements else {
      throw .otherFormat(expected: "an export of Bitwarden")
    }
    let places = Places(json)
    var draft = ImportDraft()
    for (index, item) in items.enumerated() {
      let title = item["name"]?.plainText?.publicBytes() ?? []
      let entry = ImportedEntry(.entry(index + 1, title: title), showsUnknown: showsUnknown)
      read(item, places, entry, into: &draft)
    }
    return draft
  }

  /// Returns true for a document that has what an export always has: it says if it is encrypted, or its entries have
  /// names and numbers for their types. Other programs also write a member `items`.
  static func isExport(_ json: SecretJSON) -> Bool {
    json["encrypted"]?.boolean != nil
      || json["items"]?.elements?.contains { $0["type"]?.integer != nil && $0["name"] != nil } == true
  }

  /// The names of folders and collections by their ids.
  private struct Places {
    let folders: [[UInt8]: SecretSlice]
    let collections: [[UInt8]: SecretSlice]

    init(_ json: SecretJSON) {
      folders = Places.names(json["folders"])
      collections = Places.names(json["collections"])
    }

    private static func names(_ list: SecretJSON?) -> [[UInt8]: SecretSlice] {
      var names: [[UInt8]: SecretSlice] = [:]
      for element in list?.elements ?? [] {
        guard let id = element["id"]?.text, let name = element["name"]?.text else { continue }
        names[id.publicBytes()] = name
      }
      return names
    }
  }

  private static func read(
    _ item: SecretJSON, _ places: Places, _ start: ImportedEntry, into draft: inout ImportDraft
  ) {
    var entry = start
    guard item["type"]?.integer != nil else {
      draft.lose(entry.source, .noPlace("not a Bitwarden entry"))
      return
    }
    var reader = MemberReader(item)
    if reader.take("deletedDate")?.isBlank == false {
      draft.skip(entry.source, .trash)
      return
    }
    reader.drop("id", "organizationId", "object", "key", "edit", "viewPassword")
    entry.set(.label, reader.text("name"))
    for name in ["favorite", "reprompt", "creationDate", "revisionDate", "archivedDate"] {
      entry.set(AttributeName(name), reader.take(name))
    }
    if let folder = reader.take("folderId")?.text {
      entry.set("folder", places.folders[folder.publicBytes()] ?? folder)
    }
    let collections = reader.elements("collectionIds").compactMap(\.text).map {
      (places.collections[$0.publicBytes()] ?? $0).publicBytes()
    }
    if !collections.isEmpty {
      entry.attributes["collections"] = AttributeValue(text: Array(collections.joined(separator: [0x2C])))
    }
    entry.note(reader.text("notes"))
    let passkeys = readType(&reader, &entry)
    readFields(reader.elements("fields"), &entry, &draft)
    keepHistory(&reader, &entry)
    reader.keepRest(in: &entry)
    entry.finish(into: &draft)
    draft.losePasskeys(passkeys, of: entry.source)
  }

  /// Reads the members of an entry's type. Returns the number of its passkeys.
  private static func readType(_ reader: inout MemberReader, _ entry: inout ImportedEntry) -> Int {
    switch reader.take("type")?.integer {
    case 2:
      reader.drop("secureNote")
      entry.becomeNote()
    case 3:
      entry.kind = "card"
      entry.keepLines(reader.take("card"))
    case 4:
      entry.kind = "identity"
      entry.keepLines(reader.take("identity"))
    case 5:
      var key = MemberReader(reader.take("sshKey"))
      entry.kind = "ssh key"
      entry.secret = key.text("privateKey") ?? entry.secret
      entry.set("publicKey", key.text("publicKey"))
      entry.set("fingerprint", key.text("keyFingerprint"))
      key.keepRest(in: &entry)
    case 1: break
    default:
      // A type that a newer version has added, such as a bank account: an object has its data.
      guard let (name, data) = reader.takeObject(except: ["login"]) else { break }
      entry.kind = AttributeValue.string(words(of: name))
      entry.keepLines(data)
    }
    // An entry of any type may have a login.
    guard let login = reader.take("login"), login.members != nil else { return 0 }
    return readLogin(login, &entry)
  }

  // `bank account` for `bankAccount`.
  private static func words(of name: String) -> String {
    name.reduce(into: "") { words, letter in
      words += letter.isUppercase ? " " + letter.lowercased() : "\(letter)"
    }
  }

  private static func readLogin(_ login: SecretJSON, _ entry: inout ImportedEntry) -> Int {
    var reader = MemberReader(login)
    entry.set(.account, reader.text("username"))
    if let password = reader.text("password") { entry.secret = password }
    entry.oneTimePassword(reader.text("totp"))
    for name in ["passwordRevisionDate", "autofillOnPageLoad"] {
      entry.set(AttributeName(name), reader.take(name))
    }
    for place in reader.elements("uris") {
      var place = MemberReader(place)
      place.drop("uriChecksum")
      let url = place.text("uri") ?? SecretSlice(SecretBytes())
      if !url.isEmpty { entry.urls.append(url) }
      if let match = place.take("match"), let text = match.plainText {
        // A match setting without a URL has no effect, but is kept.
        if url.isEmpty {
          entry.field("match", text)
        } else {
          entry.set(AttributeName(entry.urls.count < 2 ? "urlMatch" : "urlMatch-\(entry.urls.count)"), text)
        }
      }
      place.keepRest(in: &entry)
    }
    // Older versions wrote `uri` in addition to `uris`, or instead of it.
    if let url = reader.text("uri"), !url.isEmpty, !entry.urls.contains(where: { $0.isEqual(to: url) }) {
      entry.urls.append(url)
    }
    let passkeys = reader.elements("fido2Credentials").count
    reader.keepRest(in: &entry)
    return passkeys
  }

  // Types: 0 is text, 1 hidden, 2 Boolean, 3 a link to the user name or the password.
  private static func readFields(
    _ fields: [SecretJSON], _ entry: inout ImportedEntry, _ draft: inout ImportDraft
  ) {
    for field in fields {
      let name = field["name"]?.plainText.map { String(decoding: $0.publicBytes(), as: UTF8.self) } ?? ""
      let title = name.isEmpty ? "field" : name
      let type = field["type"]?.integer ?? 0
      let value = field["value"] ?? .null
      var rest = MemberReader(field)
      rest.drop("name", "value", "type", "linkedId")
      rest.keepRest(in: &entry)
      if type == 3, value.isBlank {
        draft.skip(entry.source, .fieldLink, part: .column(title))
      } else if let text = value.plainText {
        entry.field(title, text, isSecret: type != 0 && type != 2)
      } else if !value.isBlank {
        entry.field(title, SecretSlice(value.json), isSecret: true)
      } else {
        entry.field(title, SecretSlice(SecretBytes()), isSecret: true)
      }
    }
  }

  private static func keepHistory(_ reader: inout MemberReader, _ entry: inout ImportedEntry) {
    guard let history = reader.take("passwordHistory"), !history.isBlank else { return }
    entry.seal(.column(ImportPart.history), SecretSlice(history.json))
  }
}

extension ImportPart {
  /// The label of the field with older passwords.
  package static let history = "password history"
}

extension SecretJSON {
  /// Reads the JSON of another program.
  ///
  /// - Throws: `empty`, `notUTF8`, `json`; `otherFormat` for a file that does not begin like an object or an array.
  init(source bytes: borrowing SecretBytes) throws(SourceError) {
    guard !bytes.isEmpty else { throw .empty }
    guard unsafe bytes.withBytes({ unsafe !SourceText.isUTF16($0) }) else { throw .notUTF8 }
    guard unsafe bytes.withBytes({ unsafe SourceText.mayBeJSON($0) }) else {
      guard bytes.isUTF8 else { throw .notUTF8 }
      throw .otherFormat(expected: "JSON")
    }
    do {
      self = try SecretJSON(bytes)
    } catch {
      switch error {
      case .empty: throw .empty
      case .notUnicode where !bytes.isUTF8: throw .notUTF8
      default: throw .json(error)
      }
    }
  }
}
