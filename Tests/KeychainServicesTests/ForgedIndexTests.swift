import Foundation
import Keyring
import KeyringModel
import Security
import TestSupport
import Testing

/// Tests SecItem with a store whose index was edited by an attacker without a key.
@Suite(.serialized) struct ForgedIndexTests {
  /// The changes that an attacker makes to the index of a store.
  private struct Pen {
    let world: StandInWorld

    func lines() throws -> [ItemRecord] { try world.store.open().find(Query()).items }

    func line(_ server: String) throws -> ItemRecord {
      try #require(try lines().first { $0.attributes[.server] == .string(server) })
    }

    private func edit(_ path: ItemPath, _ line: ItemRecord?) throws {
      let tree = try world.store.tree()
      let file = StoreLayout.shardFile(path.shard, isLocal: false)
      let old = try tree.read(file, limit: StoreLayout.shardLimit) ?? []
      let new = Shard(parsing: old, number: path.shard)
        .replacingLines(of: [path], by: try line.map { [try IndexLine.encode($0)] } ?? [])
      try tree.replaceFile(file, with: new, temporary: "tmp")
    }

    func put(_ line: ItemRecord) throws { try edit(line.path, line) }

    func forge(_ line: ItemRecord, _ change: (inout ItemRecord) -> Void) throws {
      var forged = line
      change(&forged)
      try edit(line.path, nil)
      try put(forged)
    }

    func texts() throws -> [String: String] {
      let keyring = try world.store.open()
      var texts: [String: String] = [:]
      for line in try lines() {
        texts[line.path.text] = (try? keyring.text(of: line)) ?? "-"
      }
      return texts
    }
  }

  private static func query(_ server: String, _ more: [String: Any] = [:]) -> [AnyHashable: Any] {
    [
      kSecClass as String: kSecClassInternetPassword, kSecAttrServer as String: server,
      kSecReturnData as String: true,
    ].merging(more) { $1 }
  }

  private static var changes: [AnyHashable: Any] { [kSecValueData as String: Data("new".utf8)] }

  /// Runs a test in a store with two items, in groups with different readers.
  private func withStore(_ body: (Pen) throws -> Void) throws {
    let world = try StandInWorld()
    defer { world.close() }
    let keyring = try world.store.open()
    for (server, group) in [("a.example", "team"), ("b.example", "default")] {
      var item = NewItem.login(server, "me")
      item.group = group
      try keyring.add(item, secret: SecretBytes(text: "secret of \(server)"))
    }
    try body(Pen(world: world))
  }

  /// Expects that a search and all changes fail, and that nothing is encrypted.
  private func expectRefusal(_ pen: Pen, _ query: [AnyHashable: Any], _ name: String) throws {
    var plain = query
    plain[kSecReturnData as String] = nil
    let encryptions = pen.world.store.engine.statistics.encryptions
    let found = SecItemCall.find(query)
    #expect(found.status == errSecDecode && !(found.result is Data), "\(name): \(found)")
    let attributes: [AnyHashable: Any] = [kSecAttrLabel as String: "new"]
    for changes in [Self.changes, attributes, [kSecAttrAccessGroup as String: "default"]] {
      let updated = SecItemCall.update(plain, changes: changes)
      #expect(updated.status != errSecSuccess, "\(name): \(changes)")
    }
    #expect(pen.world.store.engine.statistics.encryptions == encryptions, "\(name)")
  }

  @Test func `a forged attribute releases no data and accepts no new data`() throws {
    let forgeries: [(String, [AnyHashable: Any], (inout ItemRecord) -> Void)] = [
      ("server", Self.query("evil.example"), { $0.attributes[.server] = "evil.example" }),
      (
        "account", Self.query("a.example", [kSecAttrAccount as String: "x"]),
        { $0.attributes[.account] = "x" }
      ),
      ("group", Self.query("a.example"), { $0.group = "default" }),
      ("port", Self.query("a.example"), { $0.attributes[.port] = .integer(8443) }),
      ("path", Self.query("a.example"), { $0.attributes[.path] = "/x" }),
      ("protocol", Self.query("a.example"), { $0.attributes[.protocol] = "http" }),
      (
        "label", Self.query("a.example", [kSecAttrLabel as String: "Bank"]),
        { $0.attributes[.label] = "Bank" }
      ),
      ("accessControl", Self.query("a.example"), { $0.attributes[.accessControl] = .bytes([1]) }),
      ("created", Self.query("a.example"), { $0.created = Timestamp(microseconds: 1) }),
      (
        "id", Self.query("a.example"),
        { line in
          var generator = SystemRandomNumberGenerator()
          line.id = ItemID(using: &generator)
        }
      ),
    ]
    for (name, query, change) in forgeries {
      try withStore { pen in
        let before = try pen.texts()
        let line = try pen.line("a.example")
        try pen.forge(line, change)
        try expectRefusal(pen, query, name)
        try pen.forge(try #require(try pen.lines().first { $0.sealed == line.sealed })) { $0 = line }
        #expect(try pen.texts() == before)
      }
    }
  }

  @Test func `a persistent reference that matches two lines leads to neither`() throws {
    for created in [Timestamp(microseconds: 1), Timestamp(microseconds: 1 << 52)] {
      try withStore { pen in
        let reference = SecItemCall.find([
          kSecClass as String: kSecClassInternetPassword, kSecAttrServer as String: "a.example",
          kSecReturnPersistentRef as String: true,
        ])
        let data = try #require(reference.result as? Data)
        var line = try pen.line("a.example")
        line.attributes[.server] = "evil.example"
        line.created = created
        try pen.put(line)
        let query: [AnyHashable: Any] = [
          kSecValuePersistentRef as String: data, kSecReturnData as String: true,
        ]
        try expectRefusal(pen, query, "a line with the same id")
        #expect(SecItemCall.delete([kSecValuePersistentRef as String: data]).status != errSecSuccess)
        let direct = SecItemCall.find(Self.query("a.example"))
        #expect((direct.result as? Data) == Data("secret of a.example".utf8))
      }
    }
  }

  @Test func `a line whose files are missing does not lead to another item with its id`() throws {
    try withStore { pen in
      let line = try pen.line("a.example")
      let other = try pen.line("b.example")
      let tree = try pen.world.store.tree()
      for file in [
        StoreLayout.itemFile(line.path, isLocal: false), StoreLayout.recordFile(line.path, isLocal: false),
      ] { try tree.remove(file) }
      try pen.forge(line) { $0.id = other.id }
      try expectRefusal(pen, Self.query("a.example"), "the id of another item")
      #expect(
        SecItemCall.delete(["class": kSecClassInternetPassword, "srvr": "a.example"]).status != errSecSuccess)
      #expect(try pen.texts()[other.path.text] == "secret of b.example")
    }
  }

  @Test func `a field is never treated as the item`() throws {
    try withStore { pen in
      let keyring = try pen.world.store.open()
      try keyring.add(
        .login("c.example", "me", [.field: "otp"]), secret: SecretBytes(text: "seed"))
      #expect(SecItemCall.find(Self.query("c.example")).status == errSecItemNotFound)
      let line = try #require(
        try keyring.find(Query(predicates: [.equal(.field, "otp")])).items.first)
      try pen.forge(line) { $0.attributes[.field] = nil }
      try expectRefusal(pen, Self.query("c.example"), "a field")
    }
  }

  @Test func `a new item cannot be added at the path of a forged line`() throws {
    try withStore { pen in
      var line = try pen.line("b.example")
      line.attributes[.server] = "evil.example"
      try pen.put(line)
      var item = Self.query("evil.example", [kSecAttrAccount as String: "me"])
      item[kSecReturnData as String] = nil
      item[kSecValueData as String] = Data("new".utf8)
      #expect(SecItemCall.add(item).status != errSecSuccess)
      #expect(try !pen.texts().values.contains("new"))
    }
  }
}
