import Keyring
import KeyringModel
import Secrets
import Terminal
import TestSupport
import Testing

@testable import Interchange
@testable import KeytreeCLI

/// Tests the import of logins that are in another group in another spelling (threat T53): Alice is in `default` and
/// `ops`, Bob only in `default`.
@Suite(.serialized) struct ImportOtherGroupTests {
  private let store = StandInStore()
  private let bob = EngineDouble.fingerprint(2)

  init() throws {
    try store.create()
    let owner = store.owner
    try store.join(bob, "default")
    try store.changePolicy { $0.groups["ops"] = [owner] }
    var item = NewItem.login("git.example", "deploy")
    item.group = "ops"
    try store.open().add(item, secret: SecretBytes(text: "old"))
  }

  /// Imports one row.
  ///
  /// - Returns: The groups and accounts of all items.
  private func importing(_ url: String, _ user: String, isGroupGiven: Bool = false) throws -> [String] {
    let text = "name,url,username,password\nName,\(url),\(user),new\n"
    let memory = MemoryConsole()
    let keyring = try store.open()
    let run = ImportRun(
      keyring: keyring, group: "default", isGroupGiven: isGroupGiven, json: false, console: memory.console)
    _ = try run(try CSVImport.plan(SecretBytes(text: text)).draft)
    return try store.open().find(Query()).items.map { item in
      "\(item.group) \(String(decoding: item.attributes[.account]?.contentBytes ?? [], as: UTF8.self))"
    }.sorted()
  }

  @Test(
    arguments: [
      ("https://git.example/", "deploy"), ("https://git.example/", "DEPLOY"),
      ("http://git.example:80/login", "deploy"), ("https://GIT.example./", " Deploy"),
      ("https://git.example/", ""),
    ])
  func `a login that another group has in another spelling is not imported for more readers`(
    url: String, user: String
  ) throws {
    #expect(try importing(url, user) == ["ops deploy"])
  }

  @Test func `a login in another spelling is imported into the group that the user has chosen`() throws {
    #expect(
      try importing("https://git.example/", "DEPLOY", isGroupGiven: true) == ["default DEPLOY", "ops deploy"])
  }

  @Test func `a login in another spelling is imported if all readers can read the other one`() throws {
    try store.join(bob, "ops")
    #expect(try importing("https://git.example/", "DEPLOY") == ["default DEPLOY", "ops deploy"])
  }

  @Test(arguments: [("https://git.example/", "other"), ("https://other.example/", "deploy")])
  func `another account is imported beside one of another group`(url: String, user: String) throws {
    #expect(try importing(url, user) == ["default \(user)", "ops deploy"])
  }

  @Test func `a login that another person has removed from a group is not imported for more readers`() throws
  {
    let item = try #require(try store.open().find(Query()).items.first)
    try store.receiveRemoval(of: item)
    for user in ["deploy", "DEPLOY"] { #expect(try importing("https://git.example/", user) == []) }
    #expect(try importing("https://git.example/", "DEPLOY", isGroupGiven: true) == ["default DEPLOY"])
  }

  @Test func `nothing is imported while the index hides an item of another group`() throws {
    let item = try #require(try store.open().find(Query()).items.first)
    try store.put([], at: store.shardFile(item))
    #expect(throws: KeyringError.itemDamaged(.path(item.path), .notInIndex)) {
      try importing("https://git.example/", "deploy")
    }
    #expect(try importing("https://git.example/", "x", isGroupGiven: true) == ["default x"])
  }
}
