import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

/// A change to a store that has the items a (revision 1), b and c.
enum StoreChange: CaseIterable {
  case add, update, updateAttributes, updateLocal, keepHere, share, delete, rename
  case importMany, repair, resolve
  case addLogin, updateLogin, renameLogin, deleteLogin

  /// True if the change is made to a login that already has fields.
  private var hasLogin: Bool { [.updateLogin, .renameLogin, .deleteLogin].contains(self) }

  /// The login and its fields.
  private static let login: [NewItem] = [
    .login("f.example", "me"), .login("f.example", "me", [.field: "note"]),
    .login("f.example", "me", [.field: "otp"]), .login("f.example", "me", [.field: "x-1"]),
  ]

  /// The number of items in an import. They have more folders than a transaction flushes one by one.
  private static let importedItems = 32

  /// Creates a store for the change.
  func prepare(_ store: StandInStore) throws {
    let keyring = try store.create()
    for name in ["a", "b", "c"] {
      try keyring.add(.login("\(name).example", "me"), secret: SecretBytes(text: "old \(name)"))
    }
    if [.updateLocal, .share].contains(self) {
      var item = NewItem.login("l.example", "me")
      item.isLocal = true
      try keyring.add(item, secret: SecretBytes(text: "old l"))
    }
    if self == .resolve {
      let item = try #require(try keyring.find(Query(text: "a.example")).items.first)
      _ = try keyring.keepAsConflictCopy(item, secret: SecretBytes(text: "copy a"))
    }
    if hasLogin { _ = try keyring.addAll(Self.login, secret: { SecretBytes(text: "old \($0)") }) }
    guard self == .repair else { return }
    let tree = try store.tree()
    let b = try #require(try keyring.find(Query(text: "b.example")).items.first)
    // The index has no line for b, c has a damaged line beside its good one, and there is a stray file.
    let c = try #require(try keyring.find(Query(text: "c.example")).items.first)
    let shard = StoreLayout.shardFile(c.path.shard, isLocal: false)
    let good = try #require(try tree.read(shard, limit: 1 << 20))
    try tree.replaceFile(shard, with: good + Array("{damaged}\n".utf8), temporary: "tmp")
    try tree.remove(StoreLayout.shardFile(b.path.shard, isLocal: false))
    try tree.createFile("items/internet-password/stray", [1, 2, 3])
  }

  /// Makes the change, with planned faults.
  func perform(on store: StandInStore, faults: @escaping FaultPlan) throws {
    let keyring = try store.open(faults: faults)
    func item(_ name: String) throws -> ItemRecord {
      try #require(try keyring.find(Query(text: "\(name).example")).items.first)
    }
    var label = Attributes()
    label[.label] = .string("labelled")
    var moved = Attributes()
    moved[.account] = .string("moved")
    switch self {
    case .add: try keyring.add(.login("d.example", "me"), secret: SecretBytes(text: "new d"))
    case .update: try keyring.update(item("a"), secret: SecretBytes(text: "new a"))
    case .updateLocal: try keyring.update(item("l"), secret: SecretBytes(text: "new l"))
    case .updateAttributes: try keyring.update(item("a"), AttributeChanges(set: label))
    case .keepHere: try keyring.update(item("a"), AttributeChanges(set: label, isLocal: true))
    case .share: try keyring.update(item("l"), AttributeChanges(set: label, isLocal: false))
    case .delete: try keyring.delete([item("a"), item("b")])
    case .rename: try keyring.update(item("a"), AttributeChanges(set: moved))
    case .importMany:
      let items = (0..<Self.importedItems).map { NewItem.login("host\($0).example", "me") }
      _ = try keyring.addAll(items, secret: { SecretBytes(text: "secret \($0)") })
    case .repair: _ = try keyring.repair()
    case .resolve: try keyring.resolve(#require(try keyring.conflictCopies().first), keeping: .copy)
    case .addLogin: _ = try keyring.addAll(Self.login, secret: { SecretBytes(text: "new \($0)") })
    case .updateLogin, .renameLogin, .deleteLogin: try performOnLogin(keyring, try item("f"))
    }
  }

  private func performOnLogin(_ keyring: Keyring, _ login: ItemRecord) throws {
    try keyring.transaction { changes throws(KeyringError) in
      for item in [login] + (try changes.fields(of: login)) {
        switch self {
        case .renameLogin: try changes.update(item, .set(.account, "moved"))
        case .deleteLogin: try changes.delete(item)
        default:
          let secret = SecretBytes(text: "new \(item.field ?? "login")")
          try changes.update(item, .set(.label, "labelled"), secret: secret)
        }
      }
    }
  }

  /// Returns the contents of a store after the change.
  ///
  /// - Parameter before: The contents before it.
  func expected(_ before: [String: String]) -> [String: String] {
    var after = before
    switch self {
    case .add: after["internet-password/d.example/me"] = "new d"
    case .update: after["internet-password/a.example/me"] = "new a"
    case .updateLocal: after["internet-password/l.example/me"] = "new l, here"
    case .updateAttributes: after["internet-password/a.example/me"] = "old a, labelled"
    case .keepHere: after["internet-password/a.example/me"] = "old a, labelled, here"
    case .share: after["internet-password/l.example/me"] = "old l, labelled"
    case .delete:
      after["internet-password/a.example/me"] = nil
      after["internet-password/b.example/me"] = nil
    case .rename:
      after["internet-password/a.example/moved"] = after.removeValue(forKey: "internet-password/a.example/me")
    case .importMany:
      for number in 0..<Self.importedItems {
        after["internet-password/host\(number).example/me"] = "secret \(number)"
      }
    case .repair: after["internet-password/b.example/me"] = "old b"
    case .resolve:
      after["copy of internet-password/a.example/me"] = nil
      after["internet-password/a.example/me"] = "copy a"
    case .addLogin, .updateLogin, .renameLogin, .deleteLogin:
      let fields = ["", "/note", "/otp", "/x-1"]
      for (number, field) in fields.enumerated() {
        let path = "internet-password/f.example/me\(field)"
        let name = field.isEmpty ? "login" : String(field.dropFirst())
        switch self {
        case .addLogin: after[path] = "new \(number)"
        case .updateLogin: after[path] = "new \(name), labelled"
        case .renameLogin: after["internet-password/f.example/moved\(field)"] = after[path]
        default: break
        }
        if [.renameLogin, .deleteLogin].contains(self) { after[path] = nil }
      }
    }
    return after
  }

  /// Returns every item and conflict copy with its secret, read without faults.
  static func contents(of store: StandInStore) throws -> [String: String] {
    let keyring = try store.open()
    var contents: [String: String] = [:]
    var query = Query()
    query.includesFields = true
    for record in try keyring.find(query).items {
      let label = record.attributes[.label].map { ", \($0.text ?? "")" } ?? ""
      let place = record.isLocal ? ", here" : ""
      contents[record.path.text] = try keyring.text(of: record) + label + place
    }
    for copy in try keyring.conflictCopies() {
      contents["copy of \(copy.record.path.text)"] = try keyring.secret(of: copy).text()
    }
    return contents
  }
}

extension Query {
  /// Finds any attribute that is equal to a text.
  init(text: String) {
    self.init()
    predicates = [Predicate(subject: .any, comparison: .equal(.string(text)))]
  }
}
