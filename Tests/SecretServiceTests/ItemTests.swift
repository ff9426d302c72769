import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import SecretService

/// Tests the calls about items of the store.
@Suite(.serialized) struct ItemTests {
  private let world: ServiceWorld
  private var service: SecretService { world.service }

  init() throws { world = try ServiceWorld(groups: ["team"]) }

  // MARK: Form

  @Test func `an item is a generic password with prefixed attributes`() throws {
    let path = try world.add(
      ["xdg:schema": "org.example.Password", "server": "example.org", "port": "443"], "pass", label: "Example"
    )
    let record = try #require(try world.records().first)
    #expect(path.text == "/org/freedesktop/secrets/collection/default/\(record.id.hex)")
    #expect(record.itemClass == .genericPassword)
    #expect(record.group == "default")
    #expect(!record.isLocal)
    #expect(record.attributes[.kind] == .string("secret-service"))
    #expect(record.attributes[.label] == .string("Example"))
    #expect(record.attributes["ss:server"] == .string("example.org"))
    #expect(record.attributes["ss:port"] == .string("443"))
    #expect(record.attributes["ss:xdg:schema"] == .string("org.example.Password"))
    #expect(record.attributes[.service] == .string("org.example.Password"))
    #expect(record.attributes[ItemForm.contentType] == nil)
    #expect(record.created == record.modified)
    #expect(try world.other.text(of: record) == "pass")
    #expect(world.changes.count == 1)
  }

  // Computed with Python.
  @Test(
    arguments: [
      ([:], "4e93b12e375a061b86fc56f45e4a54c2"),
      (["xdg:schema": "org.example", "server": "example.org"], "c0bfc4aa45fbcb48b417268d6eb9f6be"),
      (["b": "\u{E9}", "a": ""], "ad49717b53ef09e5696759bd9e5a2c08"),
    ] as [(ServiceAttributes, String)])
  func `the account is a digest of all attributes`(attributes: ServiceAttributes, account: String) {
    #expect(ItemForm.account(of: attributes) == account)
  }

  @Test(arguments: [nil, "", String(repeating: "s", count: 201)] as [String?])
  func `an item without a usable schema has a common service`(schema: String?) throws {
    var attributes: ServiceAttributes = ["a": "b"]
    attributes["xdg:schema"] = schema
    try world.add(attributes)
    #expect(try world.records().first?.attributes[.service] == .string("secret-service"))
    #expect(try world.search(attributes).count == 1)
  }

  @Test func `the property of old clients is the schema unless the attributes have one`() throws {
    for attributes in [[:], ["xdg:schema": "own"]] as [ServiceAttributes] {
      _ = try world.value(
        service.createItem(
          NewItemProperties(attributes: attributes, type: "org.old"), world.secret("x"), replace: false,
          in: .group("default"), for: world.sender))
    }
    #expect(try world.search(["xdg:schema": "org.old"]).count == 1)
    #expect(try world.search(["xdg:schema": "own"]).count == 1)
  }

  @Test(arguments: ["text/plain", "", "text/plain; charset=utf8", "application/octet-stream"])
  func `the content type is kept`(type: String) throws {
    let path = try world.value(
      service.createItem(
        NewItemProperties(), world.secret("x", type: type), replace: false, in: .group("default"),
        for: world.sender))
    let found = try world.value(
      service.secret(of: world.item(path), session: world.session, for: world.sender))
    #expect(found.contentType == (type.isEmpty ? "text/plain" : type))
    #expect(found.session == world.session)
    #expect(found.parameters == [])
  }

  @Test(arguments: [0, 1, 4096, 1 << 20])
  func `a secret is any bytes`(size: Int) throws {
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let secret = WireSecret(
      session: world.session, parameters: [], value: SecretSlice(SecretBytes(copying: bytes)), contentType: ""
    )
    let path = try world.value(
      service.createItem(
        NewItemProperties(), secret, replace: false, in: .group("default"), for: world.sender))
    let found = try world.value(
      service.secret(of: world.item(path), session: world.session, for: world.sender))
    #expect(found.value.publicBytes() == bytes)
  }

  @Test func `names, values and secrets that are too large are refused before anything is written`() throws {
    let long = String(repeating: "x", count: 4097)
    var many = ServiceAttributes()
    for number in 0..<57 { many["\(number)"] = "" }
    let bad: [ServiceAttributes] = [
      ["": "x"], [String(repeating: "n", count: 126): "x"], ["a\u{7}b": "x"], ["a": long], many,
    ]
    for attributes in bad {
      expect(.invalidArguments) { try world.add(attributes) }
      #expect(try world.search(attributes).isEmpty)
    }
    // Each value is allowed, but not all of them together.
    var wide = ServiceAttributes()
    for number in 0..<8 { wide["\(number)"] = String(repeating: "y", count: 4096) }
    expect(.invalidArguments) { try world.add(wide) }
    expect(.invalidArguments) { try world.add([:], label: long) }
    expect(.invalidArguments) {
      try world.value(
        service.createItem(
          NewItemProperties(), world.secret("x", type: long), replace: false, in: .group("default"),
          for: world.sender))
    }
    let large = WireSecret(
      session: world.session, parameters: [],
      value: SecretSlice(SecretBytes(copying: [UInt8](repeating: 0, count: 1 << 20 + 1))), contentType: "")
    expect(.invalidArguments) {
      try service.createItem(
        NewItemProperties(), large, replace: false, in: .group("default"), for: world.sender)
    }
    #expect(try world.records().isEmpty)
    var most = ServiceAttributes()
    for number in 0..<56 { most["\(number)"] = "" }
    try world.add(most)
    try world.add([String(repeating: "n", count: 125): String(repeating: "y", count: 4096)])
  }

  @Test func `passphrases of keys are never stored, and a search for them finds nothing`() throws {
    expect(.notSupported) { try world.add(["xdg:schema": "org.gnupg.Passphrase", "keygrip": "1"]) }
    let path = try world.add(["a": "b"])
    expect(.notSupported) {
      try service.setAttributes(
        ["xdg:schema": "org.gnupg.Passphrase"], of: world.item(path), for: world.sender)
    }
    #expect(try world.search(["xdg:schema": "org.gnupg.Passphrase"]).isEmpty)
  }

  @Test(arguments: [
    ("chrome_libsecret_os_crypt_password_v2", true), ("_chrome_dummy_schema_for_unlocking", true),
    ("org.gnome.OnlineAccounts", true), ("org.freedesktop.NetworkManager.Connection", true),
    ("org.gnome.OnlineAccounts2", false), ("io.docker.Credentials", false),
  ])
  func `items that belong to a machine never leave it`(schema: String, isLocal: Bool) throws {
    let path = try world.add(["xdg:schema": schema], "key")
    #expect(try world.records().map(\.isLocal) == [isLocal])
    #expect(try world.search(["xdg:schema": schema]) == [path])
    #expect(try world.text(of: path) == "key")
  }

  @Test func `an item of a user without the marker, and the fields of an item, are not served`() throws {
    let path = try world.add(["a": "b"])
    let record = try #require(try world.records().first)
    var field = record.attributes
    field[.field] = "otp"
    try world.other.add(
      NewItem(itemClass: .genericPassword, attributes: field), secret: SecretBytes(text: "seed"))
    let plain = try world.other.add(
      NewItem(itemClass: .genericPassword, attributes: ["service": "x", "ss:a": "b"]),
      secret: SecretBytes(text: "x"))
    let login = try world.other.add(
      .login("example.org", "me", [.kind: "secret-service", "ss:a": "b"]), secret: SecretBytes(text: "x"))
    #expect(try world.search(["a": "b"]) == [path])
    #expect(try world.search([:]) == [path])
    for id in [plain.id, login.id] {
      expect(.noSuchObject) {
        try service.object(at: ObjectPath(ItemAddress(.group("default"), id)), for: world.sender)
      }
    }
    // Deleting the item takes the field along.
    _ = try world.value(service.delete(world.item(path), for: world.sender))
    #expect(try world.records().count == 2)
  }

  // MARK: Searching

  @Test func `a search compares bytes, and an item may have more attributes`() throws {
    let both = try world.add(["a": "1", "b": "2"])
    let one = try world.add(["a": "1"])
    let empty = try world.add(["a": ""])
    #expect(try world.search(["a": "1"]) == [one, both])
    #expect(try world.search(["a": "1", "b": "2"]) == [both])
    #expect(try world.search(["a": ""]) == [empty])
    #expect(try world.search(["A": "1"]).isEmpty)
    #expect(try world.search(["a": "1", "c": ""]).isEmpty)
    #expect(try world.search([:]) == [empty, one, both])
    let composed = try world.add(["name": "\u{E9}"])
    let decomposed = try world.add(["name": "e\u{301}"])
    #expect(try world.search(["name": "\u{E9}"]) == [composed])
    #expect(try world.search(["name": "e\u{301}"]) == [decomposed])
  }

  @Test func `the item that was changed last comes first`() throws {
    let first = try world.add(["a": "1", "n": "1"])
    let second = try world.add(["a": "1", "n": "2"])
    #expect(try world.search(["a": "1"]) == [second, first])
    _ = try world.value(service.setSecret(world.secret("new"), of: world.item(first), for: world.sender))
    #expect(try world.search(["a": "1"]) == [first, second])
    #expect(try service.searchItems(["a": "1"], in: .group("default")) == [first, second])
  }

  @Test func `a search of a collection finds its items only`() throws {
    let mine = try world.add(["a": "1"])
    let team = try world.add(["a": "1"], in: .group("team"))
    let memory = try world.add(["a": "1"], in: .session)
    #expect(Set(try world.search(["a": "1"])) == [mine, team, memory])
    #expect(try service.searchItems(["a": "1"], in: .group("team")) == [team])
    #expect(try service.searchItems(["a": "1"], in: .session) == [memory])
    expect(.noSuchObject) { try service.searchItems([:], in: .group("other")) }
  }

  @Test func `a damaged index is an error, never an empty result`() throws {
    try world.add(["a": "1"])
    let tree = try world.store.tree()
    for name in try tree.list("index") {
      let bytes = try tree.read("index/\(name)", limit: 1 << 20) ?? []
      if bytes.isEmpty { continue }
      try tree.replaceFile("index/\(name)", with: bytes.dropLast(20) + [10], temporary: "tmp")
    }
    expect(.failed) { try service.searchItems(["a": "1"]) }
    expect(.failed) { try service.searchItems([:], in: .group("default")) }
    service.storeChanged()
    #expect(!service.takeEvents().contains { if case .itemDeleted = $0 { true } else { false } })
  }

  @Test func `a search with more than 64 pairs is refused`() throws {
    var attributes = ServiceAttributes()
    for number in 0..<64 { attributes["\(number)"] = "" }
    #expect(try world.search(attributes).isEmpty)
    attributes["64"] = ""
    expect(.invalidArguments) { try service.searchItems(attributes) }
  }

  @Test func `changes of another process are found at once`() throws {
    #expect(try world.search(["a": "b"]).isEmpty)
    let added = try ItemChanges(world.other).create(
      ItemContent(
        label: "", attributes: ["a": "b"], secret: SecretSlice(SecretBytes(text: "s")),
        contentType: "text/plain", isLocal: false), in: "default", replace: false)
    guard case .stored(let record) = added else {
      Issue.record("not stored")
      return
    }
    let path = ObjectPath(ItemAddress(.group("default"), record.id))
    #expect(try world.search(["a": "b"]) == [path])
    #expect(try world.text(of: path) == "s")
  }

  // MARK: Replacing

  @Test func `replacing keeps the item if it has exactly these attributes`() throws {
    let path = try world.add(["a": "1"], "old", label: "Old")
    let before = try #require(try world.records().first)
    #expect(try world.add(["a": "1"], "new", label: "New", replace: true) == path)
    let after = try #require(try world.records().first)
    #expect(try world.records().count == 1)
    #expect(after.id == before.id)
    #expect(after.created == before.created)
    #expect(after.modified > before.modified)
    #expect(try world.text(of: path) == "new")
    #expect(try service.properties(of: world.item(path)).label == "New")
    // A longer and a shorter dictionary are other items.
    let longer = try world.add(["a": "1", "b": "2"], "long", replace: true)
    let shorter = try world.add([:], "short", replace: true)
    #expect(Set([path, longer, shorter]).count == 3)
    #expect(try world.text(of: path) == "new")
    // So is the item of another collection.
    #expect(try world.add(["a": "1"], "team", replace: true, in: .group("team")) != path)
    #expect(try world.text(of: path) == "new")
  }

  @Test func `storing the same item again writes nothing`() throws {
    let path = try world.add(["a": "1"], "same", label: "Same")
    let before = StoreDigest(of: world.store.path)
    let signatures = world.store.engine.statistics.signatures
    _ = service.takeEvents()
    #expect(try world.add(["a": "1"], "same", label: "Same", replace: true) == path)
    _ = try world.value(service.setSecret(world.secret("same"), of: world.item(path), for: world.sender))
    _ = try world.value(service.setLabel("Same", of: world.item(path), for: world.sender))
    _ = try world.value(service.setAttributes(["a": "1"], of: world.item(path), for: world.sender))
    #expect(StoreDigest(of: world.store.path) == before)
    #expect(world.store.engine.statistics.signatures == signatures)
    #expect(service.takeEvents().isEmpty)
    #expect(world.changes.count == 1)
  }

  @Test func `only a new label needs no new secret`() throws {
    try world.add(["a": "1"], "same", label: "Old")
    let before = try #require(try world.records().first)
    try world.add(["a": "1"], "same", label: "", replace: true)
    let after = try #require(try world.records().first)
    #expect(after.revision == before.revision)
    #expect(after.attributes[.label] == nil)
  }

  @Test func `without replacing every item is new, and the newest of equals is replaced`() throws {
    let first = try world.add(["a": "1"], "1")
    let second = try world.add(["a": "1"], "2")
    let third = try world.add(["a": "1"], "3")
    #expect(Set([first, second, third]).count == 3)
    let account = ItemForm.account(of: ["a": "1"])
    #expect(
      Set(try world.records().compactMap { $0.attributes[.account] })
        == [.string(account), .string("\(account)-2"), .string("\(account)-3")])
    #expect(try world.add(["a": "1"], "new", replace: true) == third)
    _ = try world.value(service.setSecret(world.secret("newer"), of: world.item(first), for: world.sender))
    #expect(try world.add(["a": "1"], "newest", replace: true) == first)
    #expect(try [first, second, third].map(world.text) == ["newest", "2", "new"])
    // The account of a deleted item is free again.
    _ = try world.value(service.delete(world.item(second), for: world.sender))
    let fourth = try world.add(["a": "1"], "4")
    #expect(try world.text(of: fourth) == "4")
    #expect(try world.records().count == 3)
  }

  @Test func `two services that create the same item leave one`() throws {
    let second = try world.restarted()
    let session = try second.openSession("plain", .text, for: world.sender).session
    // Both calls were accepted before either was carried out.
    let works = try [(service, world.session), (second, session)].map { service, session in
      (
        service,
        try service.createItem(
          NewItemProperties(attributes: ["a": "1"]), world.secret("x", session: session), replace: true,
          in: .group("default"), for: world.sender)
      )
    }
    var paths: Set<ObjectPath> = []
    for case (let service, .later(let work)) in works { paths.insert(try service.finish(work.run())) }
    #expect(paths.count == 1)
    #expect(try world.records().count == 1)
  }

  @Test func `many writers at the same time lose nothing`() throws {
    let (store, count) = (world.store, 4)
    try ThreadGroup.run(count) { number in
      let items = ItemChanges(try store.open())
      for round in 0..<5 {
        let content = ItemContent(
          label: "", attributes: ["round": "\(round)"], secret: SecretSlice(SecretBytes(text: "\(number)")),
          contentType: "text/plain", isLocal: false)
        _ = try items.create(content, in: "default", replace: true)
      }
    }
    #expect(try world.search([:]).count == 5)
  }

  // MARK: Changing

  @Test func `setting attributes keeps the path, and overwrites no other item`() throws {
    let first = try world.add(["a": "1"], "1")
    let second = try world.add(["a": "2", "b": "3"], "2")
    _ = try world.value(service.setAttributes(["a": "1"], of: world.item(second), for: world.sender))
    #expect(try [first, second].map(world.text) == ["1", "2"])
    #expect(try service.properties(of: world.item(second)).attributes == ["a": "1"])
    #expect(Set(try world.search(["a": "1"])) == [first, second])
    #expect(try world.search(["b": "3"]).isEmpty)
    let account = ItemForm.account(of: ["a": "1"])
    #expect(
      Set(try world.records().compactMap { $0.attributes[.account] })
        == [.string(account), .string("\(account)-2")])
  }

  @Test func `an item that gets another schema keeps its fields`() throws {
    let path = try world.add(["a": "1"], "1")
    let record = try #require(try world.records().first)
    var field = Attributes()
    for name in [AttributeName.service, .account] { field[name] = record.attributes[name] }
    field[.field] = "note"
    try world.other.add(
      NewItem(itemClass: .genericPassword, attributes: field), secret: SecretBytes(text: "note"))
    _ = try world.value(
      service.setAttributes(["xdg:schema": "org.new"], of: world.item(path), for: world.sender))
    let moved = try #require(try world.records().first)
    #expect(moved.attributes[.service] == "org.new")
    #expect(try world.other.find(.fields(of: moved)).items.count == 1)
  }

  @Test func `times are whole seconds, and equal after the first store`() throws {
    let path = try world.add(["a": "1"])
    let properties = try service.properties(of: world.item(path))
    #expect(properties.created == 1_700_000_000)
    #expect(properties.modified == properties.created)
  }

  @Test func `an item that was removed is no object`() throws {
    let path = try world.add(["a": "1"])
    let item = try world.item(path)
    #expect(try world.value(service.delete(item, for: world.sender)) == .none)
    expect(.noSuchObject) { try service.object(at: path, for: world.sender) }
    expect(.noSuchObject) { try service.properties(of: item) }
    expect(.noSuchObject) { try service.secret(of: item, session: world.session, for: world.sender) }
    expect(.noSuchObject) { try service.delete(item, for: world.sender) }
    expect(.noSuchObject) { try service.setLabel("x", of: item, for: world.sender) }
  }

  @Test func `work on an item that another process removes meanwhile fails with its own error`() throws {
    let item = try world.item(try world.add(["a": "1"]))
    guard case .later(let reading) = try service.secret(of: item, session: world.session, for: world.sender),
      case .later(let writing) = try service.setSecret(world.secret("x"), of: item, for: world.sender)
    else { return }
    try world.other.delete(world.records())
    expect(.noSuchObject) { try service.finish(reading.run()) }
    expect(.noSuchObject) { try service.finish(writing.run()) }
  }

  // MARK: Secrets

  @Test func `GetSecrets returns each item once, and leaves out what is not there`() throws {
    let paths = try ["1", "2"].map { try world.add(["n": $0], $0) }
    let memory = try world.add(["n": "3"], "3", in: .session)
    let alias = ObjectPath(
      "/org/freedesktop/secrets/aliases/default/\(paths[0].text.suffix(32))")
    let gone = ObjectPath("/org/freedesktop/secrets/collection/default/\(String(repeating: "0", count: 32))")
    let asked = [
      paths[0], gone, memory, .none, .service, paths[1], paths[0], alias, ServiceWorld.defaultPath,
    ]
    let secrets = try world.value(service.secrets(of: asked, session: world.session, for: world.sender))
    #expect(Dictionary(grouping: secrets, by: \.item).values.allSatisfy { $0.count == 1 })
    let texts = secrets.map { ($0.item, $0.secret.value.copy().text()) }
    #expect(Set(texts.map(\.0)) == [paths[0], paths[1], memory, alias])
    for (path, text) in texts {
      #expect(text == (path == paths[1] ? "2" : path == memory ? "3" : "1"))
    }
  }

  @Test func `more than 64 secrets are refused before anything is decrypted`() throws {
    let path = try world.add(["a": "1"])
    let before = world.store.engine.statistics.decryptions
    let paths = (0..<65).map { ObjectPath("/org/freedesktop/secrets/collection/default/\($0)") }
    expect(.limitsExceeded) { try service.secrets(of: paths, session: world.session, for: world.sender) }
    #expect(world.store.engine.statistics.decryptions == before)
    let repeated = Array(repeating: path, count: 100)
    #expect(
      try world.value(service.secrets(of: repeated, session: world.session, for: world.sender)).count == 1)
  }

  @Test func `an altered line of the index is an error, never the secret of another program`() throws {
    try world.add(["application": "bank"], "money")
    try world.add(["application": "game"], "score")
    let tree = try world.store.tree()
    for name in try tree.list("index") {
      let text = String(decoding: try tree.read("index/\(name)", limit: 1 << 20) ?? [], as: UTF8.self)
      let altered = text.replacing("\"ss:application\":\"bank\"", with: "\"ss:application\":\"game\"")
      try tree.replaceFile("index/\(name)", with: Array(altered.utf8), temporary: "tmp")
    }
    let found = try world.search(["application": "game"])
    #expect(found.count == 2)
    var texts: [String] = []
    for path in found {
      do {
        texts.append(try world.text(of: path))
      } catch let error as SecretServiceError {
        #expect(error.kind == .failed)
        guard case KeyringError.bindingMismatch? = error.cause else {
          Issue.record("\(error)")
          continue
        }
      }
    }
    #expect(texts == ["score"])
    expect(.failed) {
      try world.value(service.secrets(of: found, session: world.session, for: world.sender))
    }
  }
}
