import Foundation
import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import BrowserHost

@Suite("The extension, members of other groups, and damaged files")
struct HostileStoreTests {
  private let world: BrowserWorld

  init() throws { world = try BrowserWorld() }

  /// Returns the keyring with a second group, of which the user is a member.
  private func keyringWithTeam() throws -> Keyring {
    let edits: [PolicyEdit] = [.create(group: "ops"), .join(world.store.owner, group: "ops")]
    return try world.keyring.make(world.keyring.plan(edits))
  }

  /// The case of a password that was changed on a web site and that others use (threat T53).
  @Test("a login of another group is saved in its group, and one that others read is not removed")
  func sharedLogin() throws {
    try world.store.join(EngineDouble.fingerprint(2), "default", "ops")
    let keyring = try world.store.open()
    var item = NewItem.login("bank.example", "deploy")
    item.group = "ops"
    let login = try keyring.add(item, secret: SecretBytes(text: "old"))
    let save = LoginSave(keyring, world.settings)
    #expect(try save.save(world.request("bank.example/deploy.gpg", contents: "new\nnote")))
    #expect(try keyring.text(of: login) == "new" && keyring.find(Query()).items.map(\.group) == ["ops"])
    #expect(throws: KeyringError.shared(.removal(group: "ops"), [login.reference])) {
      try LoginRemoval(keyring, world.settings).remove(world.request("bank.example/deploy.gpg"))
    }
    // A login with a port has the same name for people, and another one for the extension.
    try keyring.update(login, .set(.port, 8443))
    let reference = try #require(try keyring.find(Query()).items.first?.reference)
    #expect(throws: KeyringError.shared(.otherGroup("ops"), [reference])) {
      try save.save(world.request("bank.example/deploy.gpg", contents: "second"))
    }
    #expect(try keyring.find(Query()).items.count == 1)
  }

  @Test("a seed of another group is neither sent with a login nor replaced by a new one")
  func plantedSeed() throws {
    let keyring = try keyringWithTeam()
    var planted = NewItem.login("github.com", "alice", [.field: "otp"])
    planted.group = "ops"
    try keyring.add(planted, secret: SecretBytes(text: "GEZDGNBVGY3TQOJQ"))
    try keyring.add(.login("github.com", "alice"), secret: SecretBytes(text: "mine"))
    func sent() throws -> String {
      try LoginFetch(keyring, world.settings, limit: world.limit).contents(
        of: world.request("github.com/alice.gpg", wantsSeed: true), now: Timestamp(microseconds: 0)
      ).text()
    }
    #expect(try sent() == "mine\nlogin: alice\nurl: https://github.com/")
    let contents = "mine\notp: JBSWY3DPEHPK3PXP"
    _ = try LoginSave(keyring, world.settings).save(world.request("github.com/alice.gpg", contents: contents))
    var fields = Query(predicates: [.equal(.field, "otp")])
    fields.includesFields = true
    let found = try keyring.find(fields).items
    let texts = try found.map { ($0.group, try keyring.text(of: $0)) }.sorted { $0.0 < $1.0 }
    #expect(texts.map(\.0) == ["default", "ops"])
    #expect(texts.map(\.1) == ["JBSWY3DPEHPK3PXP", "GEZDGNBVGY3TQOJQ"])
    #expect(try sent().hasSuffix("\notp: JBSWY3DPEHPK3PXP"))
  }

  @Test(
    "a name that logins of several groups would have is used for no request", arguments: ["alice", "a.b"])
  func contested(account: String) throws {
    let keyring = try keyringWithTeam()
    for group in ["ops", "default"] {
      var item = NewItem.login("bank.example", account)
      item.group = group
      try keyring.add(item, secret: SecretBytes(text: "of \(group)"))
    }
    let before = StoreDigest(of: world.store.path)
    let decryptions = world.store.engine.statistics.decryptions
    let marked = account.contains(".") ? ["", "@"] : [""]
    for mark in marked {
      let file = "bank.example/\(mark)\(account).gpg"
      for (code, action) in [
        (.cannotWrite, { _ = try LoginSave(keyring, world.settings).save($0) }),
        (.cannotDelete, { try LoginRemoval(keyring, world.settings).remove($0) }),
        (
          .cannotDecrypt,
          {
            _ = try LoginFetch(keyring, world.settings, limit: world.limit).contents(
              of: $0, now: Timestamp(microseconds: 0))
          }
        ),
      ] as [(BrowserError.Code, (BrowserRequest) throws -> Void)] {
        let error = #expect(throws: BrowserError.self) { try action(world.request(file, contents: "new")) }
        #expect(error?.code == code && error?.message.contains("several groups") == true)
      }
    }
    #expect(StoreDigest(of: world.store.path) == before)
    #expect(world.store.engine.statistics.decryptions == decryptions)
    // Each can be used under its own name.
    for item in try keyring.find(Query()).items {
      let mark = account.contains(".") ? "@" : ""
      let file = "bank.example/\(mark)\(account) #\(item.id.hex.prefix(8)).gpg"
      _ = try LoginSave(keyring, world.settings).save(
        world.request(file, contents: "new of \(item.group)\nlogin: \(account)"))
      #expect(try keyring.text(of: item) == "new of \(item.group)")
      // Without the other login, it has another name. The old one means no new login.
      try LoginRemoval(keyring, world.settings).remove(world.request(file))
      let error = #expect(throws: BrowserError.self) {
        try LoginSave(keyring, world.settings).save(world.request(file, contents: "new"))
      }
      #expect(error?.code == .cannotWrite)
      break
    }
  }

  @Test("a seed that cannot be read does not keep the login from being sent")
  func damagedSeed() throws {
    try world.add("github.com", "alice", "hunter2")
    let seed = try world.add("github.com", "alice", "JBSWY3DPEHPK3PXP", [.field: "otp"])
    let file = "\(world.store.path)/\(StoreLayout.itemFile(seed.path, isLocal: false))"
    try Data("damaged".utf8).write(to: URL(fileURLWithPath: file))
    var reports = 0
    let contents = try LoginFetch(world.keyring, world.settings, limit: world.limit).contents(
      of: world.request("github.com/alice.gpg", wantsSeed: true), now: Timestamp(microseconds: 0)
    ) { reports += 1 }
    #expect(contents.text() == "hunter2\nlogin: alice\nurl: https://github.com/" && reports == 1)
  }

  @Test(
    "a damaged file of times neither ends the host nor counts",
    arguments: [
      "-9223372036854775808\n9223372036854775807\n", "{\"times\":1}\n0.5\nnull\n", "\u{0}\n", "-1e9\n",
    ])
  func damagedTimes(text: String) throws {
    try world.add("github.com", "alice", "hunter2")
    var strict = world
    strict.settings.fetchesPerMinute = 1
    let folder = world.store.folder.path + "/run"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try text.write(toFile: folder + "/browser-host", atomically: false, encoding: .utf8)
    #expect(try strict.fetch("github.com/alice.gpg", now: 1_000_000_000).hasPrefix("hunter2\n"))
    #expect(throws: BrowserError.self) { try strict.fetch("github.com/alice.gpg", now: 1_000_000_001) }
  }
}
