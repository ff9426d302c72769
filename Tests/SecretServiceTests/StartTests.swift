import Foundation
import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import SecretService

/// Tests the time between the start of a service and the reading of its items.
@Suite(.serialized) struct StartTests {
  private let world: ServiceWorld
  private let collection = ServiceWorld.defaultPath

  init() throws { world = try ServiceWorld() }

  private func addElsewhere(_ attributes: ServiceAttributes) throws -> ObjectPath {
    let content = ItemContent(
      label: "", attributes: attributes, secret: SecretSlice(SecretBytes(text: "x")),
      contentType: "text/plain", isLocal: false)
    let change = try ItemChanges(world.other).create(content, in: "default", replace: false)
    guard case .stored(let record) = change else { throw SecretServiceError(.failed, "not stored") }
    return ObjectPath(ItemAddress(.group("default"), record.id))
  }

  @Test func `a service starts without reading its items, and calls that need none are answered`() throws {
    try world.add(["a": "1"])
    // A folder in place of a file makes reading fail.
    let index = "\(world.store.path)/index"
    for name in try FileManager.default.contentsOfDirectory(atPath: index) {
      try FileManager.default.removeItem(atPath: "\(index)/\(name)")
      try FileManager.default.createDirectory(
        atPath: "\(index)/\(name)", withIntermediateDirectories: false)
    }
    let service = try world.restarted()
    _ = try service.openSession("plain", .text, for: world.sender)
    #expect(try service.readAlias("default") == collection)
    expect(.failed) { try service.items(of: .group("default")) }
    expect(.failed) { try service.searchItems(["a": "1"]) }
    let work = try #require(service.readingWork())
    try service.finish(work.run())
    expect(.failed) { try service.items(of: .group("default")) }
  }

  @Test func `the items are read once, by other work or by the first call that needs them`() throws {
    let path = try world.add(["a": "1"])
    let first = try world.restarted()
    let work = try #require(first.readingWork())
    try first.finish(work.run())
    #expect(first.readingWork().map(\.kind) == nil)
    #expect(try first.items(of: .group("default")) == [path])
    let second = try world.restarted()
    let late = try #require(second.readingWork())
    #expect(try second.items(of: .group("default")) == [path])
    // The work read the items before another process has added one, and a call after it.
    let outcome = late.run()
    let added = try addElsewhere(["a": "2"])
    second.storeChanged()
    #expect(second.takeEvents().contains(.itemCreated(added, collection: collection)))
    try second.finish(outcome)
    #expect(second.takeEvents().allSatisfy { $0 != .itemDeleted(added, collection: collection) })
    #expect(try second.items(of: .group("default")).count == 2)
  }

  @Test func `a change while the items are read is reported afterwards`() throws {
    try world.add(["a": "1"])
    let service = try world.restarted()
    let work = try #require(service.readingWork())
    let outcome = work.run()
    let added = try addElsewhere(["a": "2"])
    service.storeChanged()
    #expect(service.takeEvents().isEmpty)
    try service.finish(outcome)
    #expect(service.takeEvents().first == .itemCreated(added, collection: collection))
  }

  @Test func `a store in a service that has not read its items reports the new one alone`() throws {
    try world.add(["a": "1"])
    let service = try world.restarted()
    let session = try service.openSession("plain", .text, for: world.sender).session
    guard
      case .later(let work) = try service.createItem(
        NewItemProperties(attributes: ["a": "2"]), world.secret("x", session: session), replace: true,
        in: .group("default"), for: world.sender)
    else { return }
    let path = try service.finish(work.run())
    let created = service.takeEvents().filter { if case .itemCreated = $0 { true } else { false } }
    #expect(created == [.itemCreated(path, collection: collection)])
  }
}
