import Glibc
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import Testing
import TestSupport

/// Injects errors, then kills, at every operation that changes the disk, one at a time (DESIGN section 6).
@Suite(.serialized, .slow) struct FaultSweepTests {
  /// A change to a store that has the items a (revision 1), b and c.
  enum Change: CaseIterable {
    case add, update, updateAttributes, updateLocal, keepHere, share, delete, rename, importMany, repair
    case addLogin, updateLogin, renameLogin, deleteLogin

    /// True if the change is made to a login that already has fields.
    var hasLogin: Bool { [.updateLogin, .renameLogin, .deleteLogin].contains(self) }
  }

  /// The login and its fields.
  private static let login: [NewItem] = [
    .login("f.example", "me"), .login("f.example", "me", [.field: "note"]),
    .login("f.example", "me", [.field: "otp"]), .login("f.example", "me", [.field: "x-1"]),
  ]

  /// The number of items in an import.
  private static let importedItems = 60

  @Test(
    "after a fault at any operation every item is its old or its new version and the check finds nothing",
    arguments: Change.allCases, FaultInjector.Mode.allCases)
  func sweep(_ change: Change, _ mode: FaultInjector.Mode) throws {
    let total = try operations(of: change)
    var points = 0
    for number in 1...total where isTried(number, of: total, change) {
      let store = StandInStore()
      try prepare(store, for: change)
      let before = try contents(of: store)
      let saboteur = FaultInjector(at: number, mode)
      var succeeded = true
      do {
        try perform(change, on: store, faults: saboteur.plan)
      } catch is KeyringError {
        succeeded = false
      }
      #expect(saboteur.hasInjected)
      points += 1
      // The next command runs without faults. It makes an unrelated change, so that recovery runs.
      try store.open().add(.login("next.example", "someone"), secret: SecretBytes(text: "next"))
      var after = try contents(of: store)
      #expect(after.removeValue(forKey: "internet-password/next.example/someone") == "next")
      let expected = try Self.expected(change, before)
      if succeeded {
        #expect(after == expected, "\(change), \(mode), operation \(number): reported as done, but is not")
      } else {
        #expect(
          after == before || after == expected, "\(change), \(mode), operation \(number): neither old nor new"
        )
      }
      let report = try store.open().check(decrypts: true)
      if change != .repair { #expect(report.findings.isEmpty, "\(change), \(mode), operation \(number)") }
      if change == .repair {
        let repaired = try store.open().repair()
        #expect(repaired.findings.isEmpty, "\(change), \(mode), operation \(number)")
      }
    }
    print("fault sweep: \(change), \(mode): \(points) of \(total) operations tried")
  }

  @Test(
    "after a kill, and a kill at any operation of the recovery, a committed change is complete",
    arguments: [Change.updateLocal, .delete, .rename, .repair])
  func killedTwice(_ change: Change) throws {
    var points = 0
    // Every third operation, and a different third after each first kill, unless every fault is requested.
    let step = unsafe getenv("KEYTREE_EVERY_FAULT") != nil ? 1 : 3
    for number in 1...(try operations(of: change)) {
      var again = number % step - step + 1
      while true {
        again += step
        let store = StandInStore()
        try prepare(store, for: change)
        let before = try contents(of: store)
        // This run is killed. A change that was not committed needs no recovery; the other sweep tests that.
        try? perform(change, on: store, faults: FaultInjector(at: number, .isKilled).plan)
        guard try isDecided(store) else { break }
        let second = FaultInjector(at: again, .isKilled)
        _ = try? store.open(faults: second.plan).find(Query())
        guard second.hasInjected else { break }
        points += 1
        try store.open().add(.login("next.example", "someone"), secret: SecretBytes(text: "next"))
        var after = try contents(of: store)
        #expect(after.removeValue(forKey: "internet-password/next.example/someone") == "next")
        #expect(try after == Self.expected(change, before), "\(change), operations \(number) and \(again)")
        #expect(try store.tree().list(".keytree").allSatisfy { !$0.hasPrefix("transaction-") })
        #expect(try store.open().check(decrypts: true).findings == [], "\(change), \(number), \(again)")
      }
    }
    #expect(points > 20)
  }

  /// Returns true if a committed transaction is left for the next command.
  private func isDecided(_ store: StandInStore) throws -> Bool {
    let tree = try store.tree()
    return try tree.list(".keytree").contains {
      try $0.hasPrefix("transaction-") && tree.status(".keytree/\($0)/commit.json") != nil
    }
  }

  /// Returns the number of operations of a change without faults.
  private func operations(of change: Change) throws -> Int {
    let store = StandInStore()
    try prepare(store, for: change)
    let saboteur = FaultInjector(at: .max, .fails)
    try perform(change, on: store, faults: saboteur.plan)
    return saboteur.count
  }

  /// Returns true for the operations that are tried. These are all, except for an import, whose 500 operations are much
  /// alike: there both ends and a sample between are tried, and for a login every third. `KEYTREE_EVERY_FAULT` tries
  /// every operation, which takes minutes.
  private func isTried(_ number: Int, of total: Int, _ change: Change) -> Bool {
    let isThorough = unsafe getenv("KEYTREE_EVERY_FAULT") != nil
    if isThorough { return true }
    switch change {
    case .importMany: return number <= 12 || number > total - 12 || number % 41 == 0
    case .addLogin, .updateLogin, .renameLogin, .deleteLogin: return number % 3 == 0 || number > total - 6
    default: return true
    }
  }

  private func prepare(_ store: StandInStore, for change: Change) throws {
    let keyring = try store.create()
    for name in ["a", "b", "c"] {
      try keyring.add(.login("\(name).example", "me"), secret: SecretBytes(text: "old \(name)"))
    }
    if [.updateLocal, .share].contains(change) {
      var item = NewItem.login("l.example", "me")
      item.isLocal = true
      try keyring.add(item, secret: SecretBytes(text: "old l"))
    }
    if change.hasLogin { _ = try keyring.addAll(Self.login, secret: { SecretBytes(text: "old \($0)") }) }
    guard change == .repair else { return }
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

  private func perform(_ change: Change, on store: StandInStore, faults: @escaping FaultPlan) throws {
    let keyring = try store.open(faults: faults)
    func item(_ name: String) throws -> ItemRecord {
      try #require(try keyring.find(Query(text: "\(name).example")).items.first)
    }
    var label = Attributes()
    label[.label] = .string("labelled")
    var moved = Attributes()
    moved[.account] = .string("moved")
    switch change {
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
    case .addLogin: _ = try keyring.addAll(Self.login, secret: { SecretBytes(text: "new \($0)") })
    case .updateLogin, .renameLogin, .deleteLogin: try performOnLogin(change, keyring, try item("f"))
    }
  }

  private func performOnLogin(_ change: Change, _ keyring: Keyring, _ login: ItemRecord) throws {
    try keyring.transaction { changes throws(KeyringError) in
      for item in [login] + (try changes.fields(of: login)) {
        switch change {
        case .renameLogin: try changes.update(item, .set(.account, "moved"))
        case .deleteLogin: try changes.delete(item)
        default:
          let secret = SecretBytes(text: "new \(item.field ?? "login")")
          try changes.update(item, .set(.label, "labelled"), secret: secret)
        }
      }
    }
  }

  private static func expected(_ change: Change, _ before: [String: String]) throws -> [String: String] {
    var after = before
    switch change {
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
    case .addLogin, .updateLogin, .renameLogin, .deleteLogin:
      let fields = ["", "/note", "/otp", "/x-1"]
      for (number, field) in fields.enumerated() {
        let path = "internet-password/f.example/me\(field)"
        let name = field.isEmpty ? "login" : String(field.dropFirst())
        switch change {
        case .addLogin: after[path] = "new \(number)"
        case .updateLogin: after[path] = "new \(name), labelled"
        case .renameLogin: after["internet-password/f.example/moved\(field)"] = after[path]
        default: break
        }
        if [.renameLogin, .deleteLogin].contains(change) { after[path] = nil }
      }
    }
    return after
  }

  /// Returns every item with its secret, read without faults.
  private func contents(of store: StandInStore) throws -> [String: String] {
    let keyring = try store.open()
    var contents: [String: String] = [:]
    var query = Query()
    query.includesFields = true
    for record in try keyring.find(query).items {
      let label = record.attributes[.label].map { ", \($0.text)" } ?? ""
      let place = record.isLocal ? ", here" : ""
      contents[record.path.text] = try keyring.text(of: record) + label + place
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

extension AttributeValue {
  /// The text of a string.
  fileprivate var text: String {
    guard case .string(let text) = self else { return "" }
    return text
  }
}
