internal import Encoding
package import KeyringModel
package import Secrets

/// Bitwarden's unencrypted JSON: logins, secure notes, cards, identities and SSH keys. Encrypted fields become hidden
/// fields, further attributes become text fields.
package struct BitwardenExport: ExportFile {
  package let hasFields = true

  /// Creates the format, which has no settings.
  package init() {}

  package func refusal(of item: ExportedItem, in entry: ExportEntry) -> String? { item.refusalByText() }

  package func write(_ entries: [ExportEntry], fields: [[AttributeName]]) -> SecretBytes {
    var folders: [String] = []
    var numbers: [String: Int] = [:]
    for entry in entries {
      guard let folder = entry.head?.text("folder"), numbers[folder] == nil else { continue }
      numbers[folder] = folders.count
      folders.append(folder)
    }
    var json = JSONWriter()
    json.object { json in
      json.member("encrypted", .boolean(false))
      json.array("folders") { json in
        for (index, folder) in folders.enumerated() {
          json.object { json in
            json.member("id", Self.folderID(index))
            json.member("name", folder)
          }
        }
      }
      json.array("items") { json in
        for (entry, names) in zip(entries, fields) {
          json.object { json in write(entry, names, numbers, &json) }
        }
      }
    }
    return json.finish()
  }

  private static func folderID(_ index: Int) -> String { "folder-\(index + 1)" }

  /// Returns true if an encrypted field contains the whole URL of an attribute that shows a part of it.
  static func isURL(_ name: String) -> Bool { name == "url" || name.hasPrefix("url-") }

  /// Returns the URLs of an entry. An encrypted full URL replaces the public part in the attributes.
  static func urls(of entry: ExportEntry) -> [SecretSlice] {
    guard let head = entry.head else { return [] }
    func sealed(_ name: String) -> SecretSlice? { entry.fields.first { $0.name == name }?.item.secret }
    var urls: [SecretSlice] = []
    if let first = sealed("url") ?? head.address.map({ SecretSlice($0) }) { urls.append(first) }
    for number in 2...20 {
      guard
        let url = sealed("url-\(number)")
          ?? head.text(AttributeName("url-\(number)")).map({ SecretSlice($0) })
      else { break }
      urls.append(url)
    }
    return urls
  }

  private func write(
    _ entry: ExportEntry, _ names: [AttributeName], _ folders: [String: Int], _ json: inout JSONWriter
  ) {
    guard let head = entry.head else { return }
    let kind = Kind(entry.main)
    json.member("type", .number(String(kind.type)))
    json.member("name", entry.title)
    let folder = head.text("folder").flatMap { folders[$0] }
    json.member("folderId", folder.map { .string(SecretSlice(Self.folderID($0))) } ?? .null)
    json.member("favorite", .boolean(["1", "true"].contains(head.text("favorite"))))
    json.member("reprompt", .number(["1", "true"].contains(head.text("reprompt")) ? "1" : "0"))
    json.member("creationDate", head.text("creationDate") ?? head.record.created.rfc3339)
    json.member("revisionDate", head.text("revisionDate") ?? head.record.modified.rfc3339)
    if let date = head.text("archivedDate") { json.member("archivedDate", date) }
    let note = kind.isNote ? entry.main : entry.note
    json.member("notes", note.map { .string($0.secret) } ?? .null)
    var entry = entry
    if let history = entry.history { json.member("passwordHistory", history) }
    writeContent(kind, entry, &json)
    writeFields(entry, names, &json)
  }

  private func writeContent(_ kind: Kind, _ entry: ExportEntry, _ json: inout JSONWriter) {
    switch kind {
    case .note: json.member("secureNote", .object([SecretJSON.Member(name: "type", value: .number("0"))]))
    case .lines(let name, let members): json.member(name, .object(members))
    case .key:
      json.object("sshKey") { json in
        json.member("privateKey", entry.main.map { .string($0.secret) } ?? .null)
        json.member("publicKey", entry.main?.text("publicKey") ?? "")
        json.member("keyFingerprint", entry.main?.text("fingerprint") ?? "")
      }
    case .login: break
    }
    let urls = Self.urls(of: entry)
    let hasLogin = entry.head?.text(.account) != nil || !urls.isEmpty || !entry.seeds.isEmpty
    guard kind.isLogin || hasLogin else { return }
    json.object("login") { json in
      json.array("uris") { json in
        for (index, url) in urls.enumerated() {
          json.object { json in
            let match = entry.head?.text(AttributeName(index == 0 ? "urlMatch" : "urlMatch-\(index + 1)"))
            json.member("match", match.flatMap { Int($0) }.map { .number(String($0)) } ?? .null)
            json.member("uri", .string(url))
          }
        }
      }
      json.member("username", entry.head?.text(.account).map { .string(SecretSlice($0)) } ?? .null)
      json.member("password", kind.isLogin ? entry.main.map { .string($0.secret) } ?? .null : .null)
      json.member("totp", entry.seeds.first.map { .string($0.secret) } ?? .null)
    }
  }

  private func writeFields(_ entry: ExportEntry, _ names: [AttributeName], _ json: inout JSONWriter) {
    json.array("fields") { json in
      func add(_ name: String, _ value: SecretSlice, isHidden: Bool) {
        json.object { json in
          json.member("name", name)
          json.member("value", .string(value))
          json.member("type", .number(isHidden ? "1" : "0"))
        }
      }
      for (name, item) in entry.fields where !Self.isURL(name) { add(name, item.secret, isHidden: true) }
      for seed in entry.seeds.dropFirst() { add("otp", seed.secret, isHidden: true) }
      for name in names {
        guard let bytes = entry.head?.record.attributes[name]?.fieldText else { continue }
        add(name.text, SecretSlice(SecretBytes(copying: bytes)), isHidden: false)
      }
    }
  }

  package func read(_ file: borrowing SecretBytes, count: Int) -> [[PlannedItem]] {
    var entries: [[PlannedItem]] = Array(repeating: [], count: count)
    // If the import fails, nothing is found, and everything is reported as lost.
    guard let draft = try? BitwardenImport.plan(file, showsUnknown: true) else { return entries }
    for item in draft.items {
      guard case .entry(let number, _) = item.source, entries.indices.contains(number - 1) else { continue }
      entries[number - 1].append(item)
    }
    return entries
  }

  /// The type of an entry in Bitwarden.
  private enum Kind {
    case login, note, key
    /// A card or an identity, whose secret consists of lines of text.
    case lines(String, [SecretJSON.Member])

    init(_ item: ExportedItem?) {
      if item?.isSecureNote == true {
        self = .note
        return
      }
      switch item?.text(.kind) {
      case "ssh key": self = .key
      case "card": self = Kind.lines(item, "card", Kind.cardNames)
      case "identity": self = Kind.lines(item, "identity", Kind.identityNames)
      default: self = .login
      }
    }

    private static let cardNames: Set<String> = [
      "cardholderName", "brand", "number", "expMonth", "expYear", "code",
    ]
    private static let identityNames: Set<String> = [
      "title", "firstName", "middleName", "lastName", "address1", "address2", "address3", "city", "state",
      "postalCode", "country", "company", "email", "phone", "ssn", "username", "passportNumber",
      "licenseNumber",
    ]

    private static func lines(_ item: ExportedItem?, _ name: String, _ known: Set<String>) -> Kind {
      guard let item else { return .login }
      let fields = CSVFields.fields(in: item.secret)
      let names = Set(fields.map(\.name))
      guard names.isSubset(of: known), names.count == fields.count else { return .login }
      return .lines(name, fields.map { SecretJSON.Member(name: $0.name, value: .string($0.value)) })
    }

    var isNote: Bool { if case .note = self { true } else { false } }
    var isLogin: Bool { if case .login = self { true } else { false } }

    var type: Int {
      switch self {
      case .login: 1
      case .note: 2
      case .lines("card", _): 3
      case .lines: 4
      case .key: 5
      }
    }
  }
}

extension ExportEntry {
  /// The imported password history; nil if it does not have Bitwarden's format.
  fileprivate var history: SecretJSON? {
    mutating get {
      guard let index = fields.firstIndex(where: { $0.name == ImportPart.history }) else { return nil }
      let copy = fields[index].item.secret.copy()
      guard let json = try? SecretJSON(copy), json.elements?.allSatisfy({ $0["password"] != nil }) == true
      else {
        return nil
      }
      fields.remove(at: index)
      return json
    }
  }
}
