import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

/// Tests changes of items of a group that the user is not in. Deletions are not signed, so no other check refuses them.
@Suite struct ForeignGroupTests {
  private let store = StandInStore()
  private let bob = EngineDouble.fingerprint(2)
  private let alice: Keyring
  private let item: ItemRecord

  /// Creates a store in which only Alice is in `ops`, with a login of `ops` and its field.
  init() throws {
    try store.create()
    try store.join(bob, "default")
    let owner = store.owner
    try store.changePolicy { $0.groups["ops"] = [owner] }
    alice = try store.open()
    var login = NewItem.login("git.example", "deploy")
    login.group = "ops"
    item = try alice.add(login, secret: SecretBytes(text: "of ops"))
  }

  private var refusal: KeyringError { .team(.notInGroup("ops", item.reference)) }

  @Test func `a member cannot remove or change an item of a group that they are not in`() throws {
    let keyring = try store.open(as: bob)
    #expect(throws: refusal) { try keyring.delete([item]) }
    #expect(throws: refusal) { _ = try keyring.delete([item], ifUnchanged: true) }
    #expect(throws: refusal) { try keyring.update(item, .set(.label, "x")) }
    #expect(throws: refusal) { try keyring.update(item, .set(.account, "other")) }
    #expect(throws: refusal) { try keyring.update(item, AttributeChanges(group: "default")) }
    #expect(throws: refusal) { try keyring.update(item, secret: SecretBytes(text: "x")) }
    #expect(throws: refusal) {
      try keyring.update(item, AttributeChanges(group: "default"), secret: SecretBytes(text: "x"))
    }
    #expect(throws: refusal) { _ = try keyring.replaceSecret(of: item, with: SecretBytes(text: "x")) }
    // With an item of their own, nothing of both is changed.
    let own = try keyring.add(.login("a.example", "bob"), secret: SecretBytes(text: "b"))
    #expect(throws: refusal) { try keyring.delete([own, item]) }
    try keyring.delete([own])
    #expect(try store.open().find(Query()).items == [item])
    try alice.delete([item])
  }

  @Test func `a former member of a group cannot change its items either`() throws {
    try store.join(bob, "ops")
    let shared = try store.open().update(item, secret: SecretBytes(text: "of both"))
    #expect(try store.open(as: bob).text(of: shared) == "of both")
    try store.leave(bob, "ops")
    // The file is still encrypted to them.
    let keyring = try store.open(as: bob)
    #expect(try keyring.text(of: shared) == "of both")
    #expect(throws: refusal) { try keyring.update(shared, AttributeChanges(group: "default")) }
    #expect(throws: refusal) { try keyring.delete([shared]) }
  }

  @Test func `a user with several keys changes items of the groups of each`() throws {
    let carol = EngineDouble.fingerprint(3)
    try store.join(carol, "ops")
    let shared = try store.open().update(item, secret: SecretBytes(text: "of both"))
    let keyring = try store.open(as: bob, withKeysOf: carol)
    let changed = try keyring.update(shared, .set(.label, "x"))
    #expect(try store.open().text(of: changed) == "of both")
    try keyring.delete([changed])
    #expect(try store.open().find(Query()).items.isEmpty)
  }

  @Test func `a file of a group that does not verify is not removed by others either`() throws {
    try store.tree().replaceFile(
      "items/\(item.path.text).json", with: Array("x\n".utf8), temporary: "tmp")
    #expect(throws: refusal) { try store.open(as: bob).delete([item]) }
    try store.open().delete([item])
    #expect(try store.open().find(Query()).items.isEmpty)
  }

  @Test func `an admin can remove an item of a group that they are not in, if they ask for it`() throws {
    #expect(throws: refusal) { try store.open(as: bob).delete([item], asAdmin: true) }
    try store.changePolicy { $0.people[bob]?.role = .admin }
    let admin = try store.open(as: bob)
    #expect(throws: refusal) { try admin.delete([item]) }
    #expect(throws: refusal) { try admin.update(item, .set(.label, "x")) }
    try admin.delete([item], asAdmin: true)
    #expect(try store.open().find(Query()).items.isEmpty)
  }

  @Test(arguments: ConflictChoice.allCases)
  func `a conflict of an item of a group is resolved by its members`(choice: ConflictChoice) throws {
    _ = try alice.keepAsConflictCopy(item, secret: SecretBytes(text: "copy"))
    let keyring = try store.open(as: bob)
    let copy = try #require(try keyring.conflictCopies().first)
    #expect(throws: refusal) { try keyring.resolve(copy, keeping: choice) }
    #expect(throws: refusal) { try keyring.resolve(copy, keeping: choice, asAdmin: true) }
    #expect(try keyring.conflictCopies().count == 1)
    #expect(try alice.resolve(copy, keeping: choice).count == (choice == .both ? 2 : 1))
  }

  /// The copy is in another group than the item, because another person has moved it there.
  @Test func `a copy of another group is discarded by a person in both groups, or by an admin`() throws {
    let moved = try alice.update(item, AttributeChanges(group: "default"))
    var copy = moved
    copy.group = "ops"
    _ = try alice.keepAsConflictCopy(copy, secret: SecretBytes(text: "copy"))
    let found = try #require(try alice.conflictCopies().first)
    #expect(throws: KeyringError.team(.notInGroup("ops", found.record.reference))) {
      try store.open(as: bob).resolve(found, keeping: .item)
    }
    try store.changePolicy { $0.people[bob]?.role = .admin }
    let admin = try store.open(as: bob)
    #expect(throws: KeyringError.self) { try admin.resolve(found, keeping: .copy, asAdmin: true) }
    #expect(try admin.resolve(found, keeping: .item, asAdmin: true) == [moved])
  }

  @Test func `a deleted item of a group is brought back by its members`() throws {
    let file = try #require(try store.tree().read("items/\(item.path.text).json", limit: 1 << 20))
    let message = try #require(try store.tree().read("items/\(item.path.text).gpg", limit: 1 << 20))
    try alice.delete([item])
    let keyring = try store.open(as: bob)
    let past = try keyring.historicalItem(file, message: message, at: item.path)
    #expect(throws: refusal) { try keyring.bringBack([past]) }
    #expect(try alice.bringBack([past]) == [item])
  }
}
