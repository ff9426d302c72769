import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import Credentials

/// Tests the rule for programs that store and remove secrets without naming a group (threat T53), with a store of two
/// people: Alice is in `default` and `ops`, Bob only in `default`.
@Suite(.serialized) struct SharedItemTests {
  private let store = StandInStore()
  private let bob = EngineDouble.fingerprint(2)
  private let carol = EngineDouble.fingerprint(3)

  init() throws {
    try store.create()
    let owner = store.owner
    try store.join(bob, "default")
    try store.changePolicy { $0.groups["ops"] = [owner] }
  }

  // MARK: Programs

  /// A program with an account `deploy` at `git.example`, by its functions of store and erase.
  enum Client: CaseIterable {
    case git, gitWithPath, docker, cargo, python, certificate

    /// The item of the account as a person would add it.
    var item: NewItem {
      var item =
        switch self {
        case .git, .gitWithPath: NewItem.login("git.example", "deploy")
        case .docker:
          NewItem.login(
            "git.example", "deploy",
            [
              "label": "Docker Credentials", "protocol": "https", "authenticationType": "default",
              "url": "git.example",
            ])
        case .cargo:
          NewItem(itemClass: .genericPassword, attributes: ["service": "cargo-registry:git.example"])
        case .python:
          NewItem(itemClass: .genericPassword, attributes: ["service": "git.example", "account": "deploy"])
        case .certificate:
          NewItem(itemClass: .genericPassword, attributes: ["service": "cert", "account": "/deploy.pem"])
        }
      if self == .gitWithPath { item.attributes[.path] = "team/a" }
      return item
    }

    private static let question = "protocol=https\nhost=git.example\nusername=deploy\n"

    private func helper(_ keyring: Keyring, _ state: String) -> GitCredentialHelper {
      GitCredentialHelper(
        keyring, recent: RecentLogins(base: state, keyring: keyring.policy.keyring),
        now: Timestamp(microseconds: 1_800_000_000_000_000))
    }

    private func message(_ password: String?) throws -> GitCredential {
      let place = self == .certificate ? "protocol=cert\nhost=\npath=/deploy.pem\n" : Self.question
      return try GitWorld.message(place + (password.map { "password=\($0)\n" } ?? ""))
    }

    /// Returns the password that the program gets; nil for none.
    func get(_ keyring: Keyring, _ state: String) throws -> String? {
      switch self {
      case .git, .gitWithPath, .certificate:
        return try helper(keyring, state).get(message(nil))?.answer.password?.copy().text()
      case .docker:
        guard let answer = try DockerCredentialHelper(keyring).get(Array("git.example".utf8)) else {
          return nil
        }
        return answer.text().split(separator: "\"").dropLast().last.map { String($0) }
      case .cargo:
        guard let answer = try CargoCredentialProvider(keyring).token(of: "git.example") else { return nil }
        return answer.text().split(separator: "\"").dropFirst(9).first.map { String($0) }
      case .python:
        return try logins(keyring, state).find(
          service: Array("git.example".utf8), account: Array("deploy".utf8))?.secret.copy().text()
      }
    }

    @discardableResult
    func store(_ password: String, _ keyring: Keyring, _ state: String) throws -> Bool {
      let secret = SecretSlice(SecretBytes(text: password))
      switch self {
      case .git, .gitWithPath, .certificate: return try helper(keyring, state).store(message(password))
      case .docker:
        let text = #"{"ServerURL":"git.example","Username":"deploy","Secret":"\#(password)"}"#
        return try DockerCredentialHelper(keyring).store(DockerCredential(SecretBytes(text: text)))
      case .cargo:
        let line = #"{"v":1,"kind":"login","registry":{"index-url":"git.example"}}"#
        return try CargoCredentialProvider(keyring).store(secret, for: CargoRequest(SecretBytes(text: line)))
      case .python:
        return try logins(keyring, state).store(
          secret, service: Array("git.example".utf8), account: Array("deploy".utf8))
      }
    }

    @discardableResult
    func erase(_ password: String, _ keyring: Keyring, _ state: String) throws -> Bool {
      switch self {
      case .git, .gitWithPath, .certificate: return try helper(keyring, state).erase(message(password)) > 0
      case .docker: return try DockerCredentialHelper(keyring).erase(Array("git.example".utf8))
      case .cargo: return try CargoCredentialProvider(keyring).erase("git.example")
      case .python:
        return try logins(keyring, state).remove(
          service: Array("git.example".utf8), account: Array("deploy".utf8))
      }
    }

    private func logins(_ keyring: Keyring, _ state: String) -> ServiceLogins {
      ServiceLogins(
        keyring, recent: RecentLogins(base: state, keyring: keyring.policy.keyring),
        now: Timestamp(microseconds: 1_800_000_000_000_000))
    }
  }

  private var state: String { store.host.stateBase }

  /// Adds the item of a program as Alice, or as a person who has opened the store.
  @discardableResult
  private func add(_ client: Client, _ group: String, as keyring: Keyring? = nil) throws -> ItemRecord {
    var item = client.item
    item.group = group
    return try (keyring ?? store.open()).add(item, secret: SecretBytes(text: "old"))
  }

  /// The groups and secrets of all items.
  private func texts() throws -> [String] {
    let keyring = try store.open()
    return try keyring.find(Query()).items.map { "\($0.group) \(try keyring.text(of: $0))" }.sorted()
  }

  private func isRemoval(_ error: any Error) -> Bool {
    if case KeyringError.shared(.removal, _) = error { true } else { false }
  }

  // MARK: The sequence after a rejected password

  @Test(arguments: Client.allCases)
  func `a new password of a group stays in the group after the old one was rejected`(client: Client) throws {
    try store.join(carol, "default", "ops")
    let item = try add(client, "ops")
    let keyring = try store.open()
    #expect(try client.get(keyring, state) == "old")
    #expect { try client.erase("old", keyring, state) } throws: { isRemoval($0) }
    #expect(try texts() == ["ops old"])
    #expect(try client.store("new", keyring, state))
    #expect(try texts() == ["ops new"])
    #expect(try keyring.find(Query()).items.map(\.id) == [item.id])
    // The next person of the group gets it, and the other member of `default` does not.
    #expect(try client.get(store.open(as: carol), state) == "new")
    #expect(throws: (any Error).self) { try client.get(store.open(as: bob), state) }
  }

  /// Nobody else can read the item, but Bob could read a new one.
  @Test(arguments: Client.allCases)
  func `a private item is not removed and stored again for the team`(client: Client) throws {
    let item = try add(client, "ops")
    let keyring = try store.open()
    #expect(throws: KeyringError.shared(.newReaders(group: "default"), [item.reference])) {
      try client.erase("old", keyring, state)
    }
    #expect(try client.store("new", keyring, state))
    #expect(try texts() == ["ops new"])
  }

  @Test(arguments: Client.allCases)
  func `an item is removed if neither it nor a new one has other readers`(client: Client) throws {
    try add(client, "ops")
    try store.remove(bob)
    let keyring = try store.open()
    #expect(try client.erase("old", keyring, state))
    #expect(try texts() == [])
    #expect(try client.store("new", keyring, state))
    #expect(try texts() == ["default new"])
    #expect(try client.erase("new", keyring, state))
    #expect(try texts() == [])
  }

  @Test(arguments: Client.allCases)
  func `no second item is stored beside one of a group that the user is not in`(client: Client) throws {
    let item = try add(client, "ops")
    let refusal = KeyringError.team(.notInGroup("ops", item.reference))
    let keyring = try store.open(as: bob)
    #expect(throws: refusal) { try client.store("mine", keyring, state) }
    #expect(throws: (any Error).self) { try client.erase("old", keyring, state) }
    #expect(try texts() == ["ops old"])
  }

  @Test(arguments: Client.allCases)
  func `a former member of a group stores nothing beside or into its item`(client: Client) throws {
    try store.join(bob, "ops")
    let item = try add(client, "ops")
    try store.leave(bob, "ops")
    let keyring = try store.open(as: bob)
    #expect(throws: KeyringError.team(.notInGroup("ops", item.reference))) {
      try client.store("mine", keyring, state)
    }
    #expect(try texts() == ["ops old"])
  }

  @Test(arguments: Client.allCases)
  func `items of several groups are neither replaced nor joined by a third`(client: Client) throws {
    try add(client, "ops")
    try add(client, "default")
    let keyring = try store.open()
    #expect(throws: CredentialError.self) { try client.store("new", keyring, state) }
    #expect(throws: CredentialError.self) { try client.erase("old", keyring, state) }
    #expect(try texts() == ["default old", "ops old"])
  }

  /// Carol cannot read new items of Alice, so she must not get one by storing the name first.
  @Test(arguments: Client.allCases)
  func `a secret is not stored in an item that a stranger to default has stored last`(client: Client) throws {
    try store.join(carol, "ops")
    let planted = try add(client, "ops", as: store.open(as: carol))
    let keyring = try store.open()
    let refusal = KeyringError.shared(
      .plantedBy(carol, name: "Person 03"), [planted.reference])
    #expect(throws: refusal) { try client.store("new", keyring, state) }
    #expect(try texts() == ["ops old"])
    // The same secret is no change, and a server has accepted it.
    #expect(try !client.store("old", keyring, state))
    if client == .git || client == .gitWithPath {
      #expect(try client.store("new", keyring, state))
      #expect(try texts() == ["ops new"])
    } else {
      #expect(throws: refusal) { try client.store("new", keyring, state) }
    }
    // Somebody whom Alice would let read a new item anyway has changed it.
    _ = try store.open().update(planted, secret: SecretBytes(text: "of Alice"))
    #expect(try client.store("newer", keyring, state))
    #expect(try texts() == ["ops newer"])
  }

  /// A change of the attributes and a new reader make Alice the signer of the item.
  @Test(arguments: Client.allCases)
  func `a secret is not stored in the item of a stranger to default that the user has only signed again`(
    client: Client
  ) throws {
    try store.join(carol, "ops")
    var planted = try add(client, "ops", as: store.open(as: carol))
    let refusal = KeyringError.shared(.storedElsewhere(readers: 1), [planted.reference])
    planted = try store.open().update(planted, AttributeChanges(set: ["comment": "changed by Alice"]))
    #expect(throws: refusal) { try client.store("new", store.open(), state) }
    try store.join(bob, "ops")
    #expect(try store.open().reencryptOutdated() == 1)
    #expect(throws: refusal) { try client.store("new", store.open(), state) }
    #expect(try texts() == ["ops old"])
    _ = try store.open().update(planted, secret: SecretBytes(text: "of Alice"))
    #expect(try client.store("newer", store.open(), state))
    #expect(try texts() == ["ops newer"])
  }

  @Test func `a copy of an item of the user is not one that the user has stored`() throws {
    try store.join(carol, "ops")
    var own = NewItem.login("own.example", "deploy")
    own.group = "ops"
    let mine = try store.open().add(own, secret: SecretBytes(text: "mine"))
    var copy = NewItem.login("git.example", "deploy")
    copy.group = "ops"
    // The copy has the revision of the original.
    let planted = try store.open(as: carol).duplicate(mine, as: copy)
    #expect(planted.revision == mine.revision)
    let signed = try store.open().update(planted, AttributeChanges(set: ["comment": "changed by Alice"]))
    #expect(throws: KeyringError.shared(.storedElsewhere(readers: 1), [signed.reference])) {
      try store.open().requireReplaceable(signed)
    }
    try store.open().requireReplaceable(mine)
  }

  @Test func `an item that the user has stored stays replaceable under another name`() throws {
    try store.join(carol, "ops")
    let item = try add(.docker, "ops")
    let renamed = try store.open().update(item, AttributeChanges(set: ["account": "robot"]))
    try store.open().requireReplaceable(renamed)
    let labelled = try store.open().update(renamed, AttributeChanges(set: ["label": "robot"]))
    try store.open().requireReplaceable(labelled)
  }

  @Test func `an item that was stored from another machine is not replaced`() throws {
    try store.join(carol, "ops")
    let item = try add(.docker, "ops")
    try FileTree(at: state).remove("\(store.open().policy.keyring.hex)/memory")
    #expect(throws: KeyringError.shared(.storedElsewhere(readers: 1), [item.reference])) {
      try store.open().requireReplaceable(item)
    }
  }

  // MARK: Names

  /// Items of `ops`, and items with the same name that git and docker do not take for the same account.
  @Test(
    arguments: [
      ["port": 443], ["path": "team/a", "protocol": "https"], ["server": "GIT.example"],
    ] as [[AttributeName: AttributeValue]])
  func `no item is added beside one with the same name`(more: [AttributeName: AttributeValue]) throws {
    var item = NewItem.login("git.example", "deploy")
    for (name, value) in more { item.attributes[name] = value }
    item.group = "ops"
    let keyring = try store.open()
    try keyring.add(item, secret: SecretBytes(text: "old"))
    for client in [Client.docker, .git] {
      do {
        try client.store("new", keyring, state)
      } catch KeyringError.shared(.otherGroup("ops"), _) {
        // The item is not the one of the request.
      }
      #expect(try texts().allSatisfy { $0.hasPrefix("ops ") }, "\(client)")
    }
  }

  @Test func `another server, account or port is another item`() throws {
    try add(.git, "ops")
    let keyring = try store.open()
    let helper = GitCredentialHelper(
      keyring, recent: RecentLogins(base: state, keyring: keyring.policy.keyring),
      now: Timestamp(microseconds: 1_800_000_000_000_000))
    for place in ["host=git.example\nusername=other", "host=other.example\nusername=deploy"] {
      #expect(try helper.store(GitWorld.message("protocol=https\n\(place)\npassword=mine\n")))
    }
    try keyring.add(
      NewItem(
        itemClass: .internetPassword,
        attributes: ["server": "port.example", "account": "deploy", "port": 8443], group: "ops"),
      secret: SecretBytes(text: "old"))
    #expect(
      try helper.store(
        GitWorld.message("protocol=https\nhost=port.example:9443\nusername=deploy\npassword=mine\n")))
    #expect(try texts() == ["default mine", "default mine", "default mine", "ops old", "ops old"])
  }

  @Test func `a field of a group does not hold up the password of default`() throws {
    var field = NewItem.login("git.example", "deploy", ["field": "otp"])
    field.group = "ops"
    let keyring = try store.open()
    try keyring.add(field, secret: SecretBytes(text: "seed"))
    #expect(try Client.git.store("new", keyring, state))
  }

  /// pip gets the internet password for a URL, and stores another one under the host alone.
  @Test(arguments: ["git.example", "https://git.example/simple", "git.example:8443"])
  func `a generic password is not stored beside the internet password of a group`(service: String) throws {
    try add(.git, "ops")
    let keyring = try store.open()
    let logins = ServiceLogins(
      keyring, recent: RecentLogins(base: state, keyring: keyring.policy.keyring),
      now: Timestamp(microseconds: 1_800_000_000_000_000))
    #expect {
      try logins.store(
        SecretSlice(SecretBytes(text: "new")), service: Array(service.utf8), account: Array("deploy".utf8))
    } throws: { error in
      if case KeyringError.shared(.similar, _) = error { true } else { false }
    }
    #expect(try texts() == ["ops old"])
  }

  @Test(arguments: Client.allCases)
  func `an item that the index hides is not stored a second time`(client: Client) throws {
    if client == .gitWithPath { return }
    let item = try add(client, "ops")
    let file = StoreLayout.shardFile(item.path.shard, isLocal: false)
    try store.tree().replaceFile(file, with: [], temporary: "tmp")
    #expect(throws: KeyringError.itemDamaged(.path(item.path), .notInIndex)) {
      try client.store("new", store.open(), state)
    }
  }

  @Test func `docker does not remove the credential of another account that others use`() throws {
    try add(.docker, "default")
    let keyring = try store.open()
    let text = #"{"ServerURL":"git.example","Username":"alice","Secret":"mine"}"#
    #expect {
      try DockerCredentialHelper(keyring).store(DockerCredential(SecretBytes(text: text)))
    } throws: { isRemoval($0) }
    #expect(try texts() == ["default old"])
  }

  @Test func `of several passwords of a group without the exact name none is replaced`() throws {
    try add(.gitWithPath, "ops")
    var other = Client.gitWithPath.item
    other.attributes[.path] = "team/b"
    other.group = "ops"
    let keyring = try store.open()
    try keyring.add(other, secret: SecretBytes(text: "b"))
    #expect(throws: CredentialError.self) { try Client.git.store("new", keyring, state) }
    #expect(try texts() == ["ops b", "ops old"])
  }
}
