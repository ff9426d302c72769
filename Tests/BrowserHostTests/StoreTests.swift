import Foundation
import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import BrowserHost

/// A store that the extension uses, with a stand-in for GnuPG.
struct BrowserWorld {
  let store = StandInStore()
  let keyring: Keyring
  var settings = BrowserSettings()

  init() throws { keyring = try store.create() }

  var limit: FetchLimit { FetchLimit(base: store.folder.path + "/run", perMinute: settings.fetchesPerMinute) }

  /// Returns a request with some members.
  func request(
    _ file: String, contents: String? = nil, origin: String = "https://github.com", wantsSeed: Bool = false
  ) throws -> BrowserRequest {
    var object: [String: Any] = [
      "action": "x", "storeId": "default", "file": file,
      "settings": ["origin": origin, "enableOTP": wantsSeed],
    ]
    object["contents"] = contents
    let data = try JSONSerialization.data(withJSONObject: object)
    return try BrowserRequest(SecretBytes(copying: data))
  }

  func fetch(
    _ file: String, origin: String = "https://github.com", wantsSeed: Bool = false, now: Int64 = 0
  ) throws -> String {
    let request = try request(file, origin: origin, wantsSeed: wantsSeed)
    return try LoginFetch(keyring, settings, limit: limit)
      .contents(of: request, now: Timestamp(microseconds: now)).text()
  }

  /// Returns the code of the error of a fetch.
  func code(_ file: String, origin: String = "https://github.com") -> BrowserError.Code? {
    do {
      _ = try fetch(file, origin: origin)
      return nil
    } catch {
      return (error as? BrowserError)?.code
    }
  }

  @discardableResult
  func save(_ file: String, _ contents: String) throws -> Bool {
    try LoginSave(keyring, settings).save(try request(file, contents: contents))
  }

  @discardableResult
  func add(
    _ server: String, _ account: String, _ secret: String,
    _ more: KeyValuePairs<AttributeName, AttributeValue> = [:]
  ) throws -> ItemRecord {
    try keyring.add(.login(server, account, more), secret: SecretBytes(text: secret))
  }

  func secret(_ predicates: KeyringModel.Predicate...) throws -> String? {
    guard let record = try keyring.find(Query(predicates: predicates)).items.first else { return nil }
    return try keyring.text(of: record)
  }

  var names: [String] {
    get throws {
      LoginListing(try LoginSearch(keyring.index, settings).all().names).files.map {
        String(decoding: $0, as: UTF8.self)
      }
    }
  }
}

@Suite("The extension and a store", .serialized)
struct StoreTests {
  private let world: BrowserWorld

  init() throws { world = try BrowserWorld() }

  @Test("a fetch decrypts exactly one login, and the seed only if the extension shows codes")
  func fetch() throws {
    try world.add("github.com", "alice", "hunter2", [.path: "login"])
    try world.add("github.com", "alice", "JBSWY3DPEHPK3PXP", [.path: "login", .field: "otp"])
    try world.add("github.com", "alice", "nobody sees this", [.path: "login", .field: "note"])
    try world.add("github.com", "bob", "other")
    let before = world.store.engine.statistics.decryptions
    #expect(try world.fetch("github.com/alice.gpg") == "hunter2\nlogin: alice\nurl: https://github.com/login")
    #expect(world.store.engine.statistics.decryptions == before + 1)
    #expect(
      try world.fetch("github.com/alice.gpg", wantsSeed: true)
        == "hunter2\nlogin: alice\nurl: https://github.com/login\notp: JBSWY3DPEHPK3PXP")
    #expect(world.store.engine.statistics.decryptions == before + 3)
  }

  @Test("a listing decrypts nothing and has neither fields nor other items")
  func list() throws {
    try world.add("github.com", "alice", "x")
    try world.add("github.com", "alice", "x", [.field: "otp"])
    try world.add("mail.example", "alice", "x", [.protocol: "imaps"])
    _ = try world.keyring.add(
      NewItem(itemClass: .genericPassword, attributes: [.service: "github.com", .account: "token"]),
      secret: SecretBytes(text: "x"))
    _ = try world.keyring.add(
      NewItem(
        itemClass: .genericPassword, attributes: [.service: "s", .account: "b", "url": "https://h.example/"]),
      secret: SecretBytes(text: "x"))
    let before = world.store.engine.statistics
    #expect(try world.names == ["github.com/alice.gpg", "h.example/b.gpg"])
    #expect(world.store.engine.statistics == before)
    #expect(try world.fetch("h.example/b.gpg") == "x\nlogin: b\nurl: https://h.example/")
  }

  @Test(
    "a name that no login has is refused",
    arguments: [
      ("github.com/bob.gpg", BrowserError.Code.cannotDecrypt), ("github.com.gpg", .cannotDecrypt),
      ("../github.com/alice.gpg", .cannotDecrypt), ("github.com/../github.com/alice.gpg", .cannotDecrypt),
      ("%2e%2e/alice.gpg", .cannotDecrypt), ("%zz.gpg", .cannotDecrypt), ("github.com/%.gpg", .cannotDecrypt),
      ("github.com/alice", .notAPasswordFile), ("", .notAPasswordFile),
      ("github.com/alice.GPG", .notAPasswordFile),
      ("github.com/alice\u{0}.gpg", .cannotDecrypt), ("/github.com/alice.gpg", .cannotDecrypt),
      ("items/internet-password/github.com/alice.gpg", .cannotDecrypt),
      ("github.com:8443/alice.gpg", .cannotDecrypt),
    ])
  func unknownNames(file: String, code: BrowserError.Code) throws {
    try world.add("github.com", "alice", "hunter2")
    let before = world.store.engine.statistics.decryptions
    #expect(world.code(file) == code)
    #expect(world.store.engine.statistics.decryptions == before)
  }

  @Test("an account that equals the host of the tab is not taken for it")
  func accountAsHost() throws {
    try world.add("github.com", "intranet", "hunter2")
    #expect(world.code("github.com/intranet.gpg", origin: "http://intranet:8080") == .cannotDecrypt)
    #expect(world.code("github.com/intranet.gpg", origin: "http://wiki.intranet") == .cannotDecrypt)
    #expect(world.code("github.com/intranet.gpg", origin: "https://login.github.com") == nil)
    #expect(world.code("github.com/intranet.gpg", origin: "https://elsewhere.example") == nil)
  }

  @Test("a login is refused on another site if the user wants that")
  func restricted() throws {
    try world.add("github.com", "alice", "hunter2")
    var strict = world
    strict.settings.restrictsToSite = true
    for origin in ["https://github.com", "https://login.github.com", "https://login.github.com:443"] {
      #expect(strict.code("github.com/alice.gpg", origin: origin) == nil)
    }
    for origin in [
      "https://evil.example", "https://notgithub.com", "null", "", "https://github.com.evil.example",
      "http://github.com", "https://github.com:8443",
    ] {
      #expect(strict.code("github.com/alice.gpg", origin: origin) == .cannotDecrypt)
    }
  }

  @Test("a forged line of the index releases nothing (threat T10)", arguments: ["server", "url"])
  func forged(attribute: String) throws {
    if attribute == "server" {
      try world.add("github.com", "alice", "hunter2")
    } else {
      _ = try world.keyring.add(
        NewItem(
          itemClass: .genericPassword,
          attributes: [.service: "s", .account: "alice", "url": "https://github.com/"]),
        secret: SecretBytes(text: "hunter2"))
    }
    let index = world.store.path + "/index"
    for name in try FileManager.default.contentsOfDirectory(atPath: index) {
      let path = "\(index)/\(name)"
      let text = try String(contentsOfFile: path, encoding: .utf8)
      try text.replacingOccurrences(of: "github.com", with: "evil.example").write(
        toFile: path, atomically: false, encoding: .utf8)
    }
    let before = world.store.engine.statistics.decryptions
    #expect(try world.names == ["evil.example/alice.gpg"])
    #expect(throws: KeyringError.self) { try world.fetch("evil.example/alice.gpg") }
    #expect(throws: BrowserError.self) { try world.fetch("github.com/alice.gpg") }
    #expect(world.store.engine.statistics.decryptions == before)
  }

  @Test(
    "a secret that the extension cannot read is refused with a hint", arguments: ["", "a\nb", "pass: x "])
  func unreadable(secret: String) throws {
    try world.add("github.com", "alice", secret)
    let error = #expect(throws: BrowserError.self) { try world.fetch("github.com/alice.gpg") }
    #expect(error?.code == .cannotDecrypt)
    #expect(error?.message.contains("keytree get") == true)
  }

  @Test("more fetches than the limit in one minute are refused")
  func fetchLimit() throws {
    try world.add("github.com", "alice", "hunter2")
    for number in 0..<30 { _ = try world.fetch("github.com/alice.gpg", now: Int64(number)) }
    let error = #expect(throws: BrowserError.self) {
      try world.fetch("github.com/alice.gpg", now: 59_999_999)
    }
    #expect(error?.message == "too many logins were asked for; wait a minute")
    // A refused fetch does not count. The first times are forgotten after a minute.
    _ = try world.fetch("github.com/alice.gpg", now: 60_000_000)
    #expect(throws: BrowserError.self) { try world.fetch("github.com/alice.gpg", now: 60_000_000) }
    let path = world.store.folder.path + "/run/browser-host"
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test("without a place for the times nothing is fetched")
  func noPlaceForTimes() throws {
    try world.add("github.com", "alice", "hunter2")
    let path = world.store.folder.path + "/run"
    try Data().write(to: URL(fileURLWithPath: path))
    #expect(world.code("github.com/alice.gpg") == .cannotDecrypt)
  }

  // MARK: Saving

  @Test("a new login is an internet password with the fields of its lines")
  func saveNew() throws {
    try world.save(
      "web/github.com/alice.gpg",
      "hunter2\nurl: https://github.com/login?token=1\nnote one\nnote two\notp: JBSWY3DPEHPK3PXP")
    let record = try #require(try world.keyring.find(Query(itemClass: .internetPassword)).items.first)
    #expect(
      record.attributes == [
        .server: "github.com", .account: "alice", .protocol: "https", "url": "https://github.com/login",
      ])
    #expect(try world.keyring.text(of: record) == "hunter2")
    #expect(try world.secret(.equal(.field, "otp")) == "JBSWY3DPEHPK3PXP")
    #expect(try world.secret(.equal(.field, "note")) == "note one\nnote two\n")
    #expect(try world.names == ["github.com/alice.gpg"])
  }

  @Test(
    "the name and the lines of a new login make its attributes",
    arguments: [
      (
        "github.com/alice.gpg", "x\nlogin: bob",
        ["server": "github.com", "protocol": "https", "account": "bob", "label": "alice"]
      ),
      ("github.com.gpg", "x\nlogin: bob", ["server": "github.com", "protocol": "https", "account": "bob"]),
      ("github.com.gpg", "x", ["server": "github.com", "protocol": "https"]),
      (
        "GitHub.com:8443/@alice.dev.gpg", "x",
        ["server": "github.com", "protocol": "https", "port": 8443, "account": "alice.dev"]
      ),
      ("github.com/@alice.gpg", "x", ["server": "github.com", "protocol": "https", "account": "@alice"]),
      ("github.com/@@alice.gpg", "x", ["server": "github.com", "protocol": "https", "account": "@alice"]),
      ("github.com/a%2Fb.gpg", "x", ["server": "github.com", "protocol": "https", "account": "a/b"]),
    ] as [(String, String, [String: AttributeValue])])
  func newAttributes(file: String, contents: String, attributes: [String: AttributeValue]) throws {
    try world.save(file, contents)
    let record = try #require(try world.keyring.find(Query()).items.first)
    let found = Dictionary(uniqueKeysWithValues: record.attributes.entries.map { ($0.name.text, $0.value) })
    #expect(found == attributes)
  }

  @Test("a login that is already stored like this is not written again")
  func saveSame() throws {
    try world.add("github.com", " alice.dev ", "pass: word", [.path: "login"])
    try world.add("github.com", " alice.dev ", "JBSWY3DPEHPK3PXP\n", [.path: "login", .field: "otp"])
    let file = try #require(try world.names.first)
    let sent = try world.fetch(file, wantsSeed: true)
    let writes = world.store.engine.statistics.signatures
    #expect(try !world.save(file, sent))
    #expect(world.store.engine.statistics.signatures == writes)
    #expect(try world.names == [file])
  }

  @Test("a save changes only what differs, and lines that are missing remove nothing")
  func saveChanged() throws {
    let login = try world.add("github.com", "alice", "old", ["label": "Work"])
    try world.add("github.com", "alice", "JBSWY3DPEHPK3PXP", [.field: "otp"])
    try world.add("github.com", "alice", "the note", [.field: "note"])
    #expect(try world.save("github.com/alice.gpg", "new\nlogin: alice\nurl: https://github.com/"))
    let record = try #require(try world.keyring.find(Query()).items.first)
    #expect(record.id == login.id && record.attributes == login.attributes)
    #expect(try world.keyring.text(of: record) == "new")
    #expect(try world.secret(.equal(.field, "otp")) == "JBSWY3DPEHPK3PXP")
    #expect(try world.secret(.equal(.field, "note")) == "the note")
    #expect(try world.save("github.com/alice.gpg", "new\nanother note"))
    #expect(try world.secret(.equal(.field, "note")) == "another note")
    #expect(try world.secret(.equal(.field, "otp")) == "JBSWY3DPEHPK3PXP")
  }

  @Test("another account and another site move the login with its fields")
  func saveMoved() throws {
    let login = try world.add("github.com", "alice", "x")
    try world.add("github.com", "alice", "the note", [.field: "note"])
    #expect(try world.save("github.com/alice.gpg", "x\nlogin: bob\nurl: https://h.example:8443/a?b"))
    #expect(try world.names == ["h.example:8443/bob.gpg"])
    let moved = try #require(try world.keyring.find(Query()).items.first)
    #expect(moved.id == login.id && moved.revision == login.revision)
    #expect(
      moved.attributes == [.server: "h.example", .account: "bob", .port: 8443, .path: "a"])
    let fields = try LoginFields(of: moved, in: world.keyring.index)
    #expect(try fields["note"].map(world.keyring.text(of:)) == "the note")
  }

  @Test(
    "what cannot be saved changes nothing",
    arguments: [
      ("github.com/alice.gpg", "", BrowserError.Code.noContents),
      ("github.com/alice.gpg", " \n", .noContents),
      ("github.com/alice", "x", .notAPasswordFile), ("../alice.gpg", "x", .cannotWrite),
      ("mailer/bot.gpg", "x", .cannotWrite),
      ("github.com/alice.gpg", "login: x", .cannotWrite),
      ("github.com/alice.gpg", "x\nlogin: bob", .cannotWrite),
      ("github.com/alice.gpg", "x\nurl: nothing here", .cannotWrite),
      ("github.com/new.gpg", "x\nurl: a b", .cannotWrite),
      ("github.com/new.gpg", "x\nurl: javascript://github.com/%0aalert(1)", .cannotWrite),
      ("github.com/alice.gpg", "x\nurl: imaps://github.com/", .cannotWrite),
      ("web/github.com/alice.gpg", "x", .cannotWrite), ("github.com/alice.gpg", "x\notp: 1!", .cannotWrite),
      ("github.com/%.gpg", "x", .cannotWrite),
      ("github.com/alice.gpg", "x" + String(repeating: "y", count: 64 << 10), .cannotWrite),
    ])
  func notSaved(file: String, contents: String, code: BrowserError.Code) throws {
    try world.add("github.com", "alice", "x")
    try world.add("github.com", "bob", "y")
    let before = StoreDigest(of: world.store.path)
    let error = #expect(throws: BrowserError.self) { try world.save(file, contents) }
    #expect(error?.code == code)
    #expect(StoreDigest(of: world.store.path) == before)
  }

  @Test("a login without a host is stored only if the user wants that")
  func saveGeneric() throws {
    var generous = world
    generous.settings.storesGeneric = true
    try generous.save("mailer/bot.gpg", "x")
    let record = try #require(try world.keyring.find(Query()).items.first)
    #expect(record.itemClass == .genericPassword)
    #expect(record.attributes == [.service: "mailer", .account: "bot"])
  }

  @Test("a login is removed with all of its fields")
  func remove() throws {
    try world.add("github.com", "alice", "x")
    try world.add("github.com", "alice", "x", [.field: "otp"])
    try world.add("github.com", "bob", "x")
    let removal = LoginRemoval(world.keyring, world.settings)
    try removal.remove(try world.request("github.com/alice.gpg"))
    #expect(try world.names == ["github.com/bob.gpg"])
    #expect(try world.keyring.find(Query(predicates: [.equal(.field, "otp")])).items.isEmpty)
    for (file, code) in [
      ("github.com/alice.gpg", BrowserError.Code.cannotDelete), ("github.com/alice", .notAPasswordFile),
    ] {
      let error = #expect(throws: BrowserError.self) { try removal.remove(try world.request(file)) }
      #expect(error?.code == code)
    }
  }
}
