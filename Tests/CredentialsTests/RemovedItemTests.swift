import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import Credentials

/// Tests items that another person removes by a push, and that come back or are stored again by a program that names no
/// group (threat T53): Alice is in `default` and `ops`, Bob only in `default`, Carol only in `ops`.
@Suite(.serialized) struct RemovedItemTests {
  typealias Client = SharedItemTests.Client

  private let store = StandInStore()
  private let bob = EngineDouble.fingerprint(2)
  private let carol = EngineDouble.fingerprint(3)

  init() throws {
    try store.create()
    let owner = store.owner
    try store.join(bob, "default")
    try store.changePolicy { $0.groups["ops"] = [owner] }
    try store.join(carol, "ops")
  }

  private var state: String { store.host.stateBase }

  @discardableResult
  private func add(_ item: NewItem, _ group: String, _ secret: String = "old") throws -> ItemRecord {
    var item = item
    item.group = group
    return try store.open().add(item, secret: SecretBytes(text: secret))
  }

  /// The groups and secrets of all items.
  private func texts() throws -> [String] {
    let keyring = try store.open()
    return try keyring.find(Query()).items.map { "\($0.group) \(try keyring.text(of: $0))" }.sorted()
  }

  // MARK: Known secrets

  /// The id of an item is public, so another person can sign an item that has it.
  @Test func `git does not take another item with the id of one that it has used for that one`() throws {
    let client = Client.git
    #expect(try client.store("mine", store.open(), state))
    let used = try #require(try store.open().find(Query()).items.first)
    try store.receiveRemoval(of: used)

    var planted = used
    planted.group = "ops"
    var draft = NewItem.login("other.example", "carol")
    draft.group = "ops"
    let other = try store.open(as: carol).add(draft, secret: SecretBytes(text: "wrong"))
    let message = try #require(try store.bytes(store.secretFile(other)))
    planted.sealed = ContentDigest(of: message)
    let file = try store.sign([planted], by: carol, for: store.open().policy.keyring)[0]
    try store.receive(
      [store.recordFile(planted): .bytes(file.bytes), store.secretFile(planted): .bytes(message)],
      planted.path, planted)

    #expect(throws: KeyringError.shared(.plantedBy(carol, name: "Person 03"), [planted.reference])) {
      try client.store("new", store.open(), state)
    }
    #expect(try texts() == ["ops wrong", "ops wrong"])
  }

  @Test(arguments: [Client.git, .docker, .cargo, .python])
  func `an own item that was moved is not own again when its old version comes back`(client: Client) throws {
    let old = try add(client.item, "ops")
    let oldFiles = try store.files(of: old)
    let moved = try store.open().update(old, AttributeChanges(group: "default"))
    let changed = try store.open().update(moved, secret: SecretBytes(text: "private"))
    try store.receiveRemoval(of: changed)
    try store.receive(oldFiles, old.path, old)
    #expect(throws: KeyringError.shared(.storedElsewhere(readers: 1), [old.reference])) {
      try client.store("new", store.open(), state)
    }
    #expect(try texts() == ["ops old"])
  }

  @Test func `an own item that was removed is not own again when it comes back`() throws {
    for isByOthers in [false, true] {
      let old = try add(Client.docker.item, "ops")
      let oldFiles = try store.files(of: old)
      if isByOthers { try store.receiveRemoval(of: old) } else { try store.open().delete([old]) }
      try store.receive(oldFiles, old.path, old)
      #expect(throws: KeyringError.shared(.storedElsewhere(readers: 1), [old.reference])) {
        try store.open().requireReplaceable(old)
      }
      try store.open().delete([old])
    }
  }

  // MARK: Removed accounts

  /// Expects that nothing is stored, because another person has removed the item of the account from `ops`.
  private func expectRefused(_ store: () throws -> some Any) {
    #expect {
      try store()
    } throws: { error in
      if case .shared(.removed(_, _, group: "default", from: "ops"), _)? = error as? KeyringError {
        true
      } else {
        false
      }
    }
  }

  @Test(arguments: Client.allCases)
  func `an account of a group that another person has removed is not stored for more readers`(
    client: Client
  ) throws {
    let item = try add(client.item, "ops")
    try store.receiveRemoval(of: item)
    expectRefused { try client.store("new", store.open(), state) }
    #expect(try texts() == [])
    // The user decides, and the program goes on.
    try add(client.item, "default", "on purpose")
    #expect(try client.store("new", store.open(), state))
    #expect(try texts().contains("default new"))
    try store.open().delete(store.open().find(Query()).items)
    #expect(try client.store("again", store.open(), state))
    #expect(try texts() == ["default again"])
  }

  @Test(arguments: SimilarAccountTests.spellings)
  func `another spelling of an account that another person has removed is not stored`(
    item: NewItem, request: SimilarAccountTests.Request
  ) throws {
    try store.receiveRemoval(of: add(item, "ops"))
    expectRefused { try request.store(in: store.open(), state) }
    #expect(try texts() == [])
  }

  @Test(arguments: Client.allCases)
  func `a secret does not follow an item that others have added instead of the removed one of a group`(
    client: Client
  ) throws {
    try store.receiveRemoval(of: add(client.item, "ops"))
    var planted = client.item
    planted.group = "default"
    try store.open(as: bob).add(planted, secret: SecretBytes(text: "wrong"))
    expectRefused { try client.store("new", store.open(), state) }
    #expect(try texts() == ["default wrong"])
  }

  @Test(arguments: Client.allCases)
  func `an account that the user has removed is stored again`(client: Client) throws {
    try store.open().delete([add(client.item, "ops")])
    #expect(try client.store("new", store.open(), state))
    #expect(try texts() == ["default new"])
  }

  @Test func `a removed item of default, of a group of all readers or of other people refuses nothing`()
    throws
  {
    let client = Client.docker
    try store.receiveRemoval(of: add(client.item, "default"))
    #expect(try client.store("new", store.open(), state))
    try store.open().delete(store.open().find(Query()).items)
    let owner = store.owner
    try store.changePolicy { $0.groups["all"] = [owner, EngineDouble.fingerprint(2)] }
    try store.receiveRemoval(of: add(client.item, "all"))
    #expect(try client.store("new", store.open(), state))
    try store.open().delete(store.open().find(Query()).items)
    let item = try add(client.item, "ops")
    try store.leave(owner, "ops")
    try store.receiveRemoval(of: item)
    #expect(try client.store("new", store.open(), state))
    #expect(try texts() == ["default new"])
  }

  @Test func `the item of a group that was renamed or moved by its members refuses nothing`() throws {
    let item = try add(Client.docker.item, "ops")
    let before = try store.files(of: item)
    let moved = try store.open().update(item, AttributeChanges(group: "default"))
    let after = try store.files(of: moved)
    try store.open().delete([moved])
    try store.receive(before, item.path, item)
    var files = after
    for path in before.keys { files[path] = .removed }
    try store.receive(files, item.path, nil)
    try store.receive([:], moved.path, moved)
    #expect(try Client.docker.store("new", store.open(), state))
    #expect(try texts() == ["default new"])
  }

  // MARK: The index

  /// The index is not signed, and plain git does not repair it.
  @Test func `another spelling of an item that the index hides is not stored`() throws {
    let item = try add(.login("git.example", "deploy"), "ops")
    try store.put([], at: store.shardFile(item))
    for place in ["git.example:8443", "GIT.example", "unrelated.example"] {
      let text = "protocol=https\nhost=\(place)\nusername=Deploy"
      #expect(throws: KeyringError.itemDamaged(.path(item.path), .notInIndex)) {
        try SimilarAccountTests.Request.git(text).store(in: store.open(), state)
      }
    }
    // An item of the group itself may be missing: nobody would read the new one who could not read that.
    try store.putLine(item)
    let other = try add(.login("other.example", "deploy"), "default")
    try store.put([], at: store.shardFile(other))
    try store.putLine(item)
    try SimilarAccountTests.Request.git("protocol=https\nhost=x.example\nusername=me").store(
      in: store.open(), state)
  }

  // MARK: git

  @Test func `git does not remove a refresh token that others use`() throws {
    try add(.login("git.example", "deploy", ["protocol": "https"]), "ops", "old")
    let place = "capability[]=authtype\nprotocol=https\nhost=git.example\nusername=deploy\n"
    func store(_ text: String) throws {
      let keyring = try self.store.open()
      let recent = RecentLogins(base: state, keyring: keyring.policy.keyring)
      let now = Timestamp(microseconds: 1_800_000_000_000_000)
      _ = try GitCredentialHelper(keyring, recent: recent, now: now).store(GitWorld.message(place + text))
    }
    try store("password=old\noauth_refresh_token=shared\n")
    #expect(try texts() == ["ops old", "ops shared"])
    try store("password=new\n")
    #expect(try texts() == ["ops new", "ops shared"])
  }
}
