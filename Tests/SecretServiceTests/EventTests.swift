import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import SecretService

/// Tests the signals.
@Suite(.serialized) struct EventTests {
  private let world: ServiceWorld
  private var service: SecretService { world.service }
  private let collection = ServiceWorld.defaultPath

  init() throws {
    world = try ServiceWorld(groups: ["team"])
    // Reading the property is what makes a client interested in its changes.
    _ = try world.service.properties(of: .group("default"))
    _ = world.service.takeEvents()
  }

  private func stored(_ change: ItemChange) throws -> ObjectPath {
    guard case .stored(let record) = change else { throw SecretServiceError(.failed, "not stored") }
    return ObjectPath(ItemAddress(.group(record.group), record.id))
  }

  private func content(_ text: String, _ attributes: ServiceAttributes) -> ItemContent {
    ItemContent(
      label: text, attributes: attributes, secret: SecretSlice(SecretBytes(text: text)),
      contentType: "text/plain", isLocal: false)
  }

  private let modified = ChangedProperty.modified(1_700_000_000)

  @Test func `an own change is reported before the reply`() throws {
    let path = try world.add(["a": "1"])
    #expect(
      service.takeEvents() == [
        .itemCreated(path, collection: collection), .collectionProperties(collection, [modified]),
        .collectionProperties(collection, [.items([path])]),
      ])
    try world.add(["a": "1"], "new", replace: true)
    #expect(
      service.takeEvents() == [
        .itemChanged(path, collection: collection),
        .itemProperties(path, [.label("Label"), .attributes(["a": "1"]), modified]),
        .collectionProperties(collection, [modified]),
      ])
    _ = try world.value(service.setAttributes(["b": "2"], of: world.item(path), for: world.sender))
    #expect(
      service.takeEvents().contains(
        .itemProperties(path, [.label("Label"), .attributes(["b": "2"]), modified])))
    world.clock.advance(.seconds(1))
    _ = try world.value(service.delete(world.item(path), for: world.sender))
    #expect(
      service.takeEvents() == [
        .itemDeleted(path, collection: collection), .collectionProperties(collection, [modified]),
        .collectionProperties(collection, [.items([])]),
      ])
    // The watch on the files finds nothing new.
    service.storeChanged()
    #expect(service.takeEvents().isEmpty)
  }

  @Test func `a long list of items is sent after the reply`() throws {
    for number in 1..<EventQueue.longList { try world.add(["n": "\(number)"], in: .session) }
    world.clock.advance(.seconds(1))
    _ = service.takeEvents()
    let path = try world.add(["n": "last"], in: .session)
    let session = ObjectPath(.session)
    let list = ServiceEvent.collectionProperties(
      session, [.items(try service.items(of: .session))])
    let now = service.takeEvents()
    #expect(now.contains(.itemCreated(path, collection: session)))
    #expect(!now.contains(list))
    #expect(service.nextEventTime == world.clock.now + EventQueue.itemsInterval)
    world.clock.advance(EventQueue.itemsInterval)
    #expect(service.takeEvents() == [list])
    #expect(service.nextEventTime == nil)
  }

  @Test func `the changes of another process are reported`() throws {
    let items = ItemChanges(world.other)
    let path = try stored(items.create(content("1", ["a": "1"]), in: "default", replace: false))
    service.storeChanged()
    #expect(service.takeEvents().first == .itemCreated(path, collection: collection))
    _ = try items.create(content("2", ["a": "1"]), in: "default", replace: true)
    service.storeChanged()
    #expect(service.takeEvents().first == .itemChanged(path, collection: collection))
    try world.other.update(try #require(world.records().first), AttributeChanges(group: "team"))
    service.storeChanged()
    let moved = ObjectPath(ItemAddress(.group("team"), try #require(world.records().first).id))
    let events = service.takeEvents()
    #expect(events.contains(.itemDeleted(path, collection: collection)))
    #expect(events.contains(.itemCreated(moved, collection: ObjectPath(.group("team")))))
    try world.other.delete(world.records())
    service.storeChanged()
    #expect(service.takeEvents().first == .itemDeleted(moved, collection: ObjectPath(.group("team"))))
    // Items that are not served are no events.
    try world.other.add(.login("example.org", "me"), secret: SecretBytes(text: "x"))
    service.storeChanged()
    #expect(service.takeEvents().isEmpty)
  }

  @Test func `the items of a collection are sent at most four times a second`() throws {
    var paths = [try world.add(["n": "0"])]
    func items() -> [ServiceEvent] {
      service.takeEvents().filter {
        if case .collectionProperties(_, let properties) = $0, case .items? = properties.first {
          true
        } else {
          false
        }
      }
    }
    #expect(items() == [.collectionProperties(collection, [.items(paths)])])
    for number in 1...3 { paths.insert(try world.add(["n": "\(number)"]), at: 0) }
    #expect(items().isEmpty)
    #expect(service.nextEventTime == world.clock.now + .milliseconds(250))
    world.clock.advance(.milliseconds(250))
    #expect(items() == [.collectionProperties(collection, [.items(paths)])])
    #expect(service.nextEventTime == nil)
  }

  @Test func `changes in memory are reported`() throws {
    let session = ObjectPath(.session)
    let path = try world.add(["a": "1"], in: .session)
    #expect(
      service.takeEvents() == [
        .itemCreated(path, collection: session),
        .collectionProperties(session, [.modified(1_700_001_100)]),
        .collectionProperties(session, [.items([path])]),
      ])
    try world.add(["a": "1"], replace: true, in: .session)
    #expect(service.takeEvents().isEmpty)
    try world.add(["a": "1"], "new", replace: true, in: .session)
    #expect(service.takeEvents().first == .itemChanged(path, collection: session))
    _ = try world.value(service.delete(world.item(path), for: world.sender))
    #expect(service.takeEvents().first == .itemDeleted(path, collection: session))
  }

  @Test func `a new cache state of the agent is reported at the next query`() throws {
    world.agent.isCached = false
    world.clock.advance(.seconds(1))
    _ = try world.search([:])
    _ = try service.properties(of: .group("default"))
    let events = service.takeEvents()
    #expect(
      events.filter { $0 == .collectionProperties(collection, [.locked(true)]) }.count == 1)
    #expect(events.contains(.collectionChanged(collection)))
  }

  @Test func `a new policy changes the collections`() throws {
    let owner = world.store.owner
    try world.store.changePolicy { policy in
      policy.groups["team"] = nil
      policy.groups["new"] = [owner]
    }
    service.storeChanged()
    let events = service.takeEvents()
    #expect(
      events == [
        .collectionDeleted(ObjectPath(.group("team"))), .collectionCreated(ObjectPath(.group("new"))),
        .serviceProperties([
          .collections([collection, ObjectPath(.group("new")), ObjectPath(.session)])
        ]),
      ])
    // A change that another process makes under the new policy, and one of our own.
    try world.add(["a": "1"], in: .group("new"))
    expect(.noSuchObject) { try world.add(["a": "1"], in: .group("team")) }
  }

  @Test func `a store that cannot be read is an error, and reported again when it is back`() throws {
    try world.add(["a": "1"])
    _ = service.takeEvents()
    let tree = try world.store.tree()
    let policy = try tree.read("policy.json", limit: 1 << 20) ?? []
    try tree.remove("policy.json")
    expect(.failed) { try service.searchItems(["a": "1"]) }
    service.storeChanged()
    #expect(service.takeEvents().isEmpty)
    try tree.replaceFile("policy.json", with: policy, temporary: "tmp")
    #expect(try world.search(["a": "1"]).count == 1)
  }
}
