import Foundation
import Keyring
import KeyringModel
import Sync
import TestSupport
import Testing

/// Tests files of items that are missing in the store and present in the history.
@Suite(.serialized) struct MissingFilesTests {
  private let world: SyncWorld
  private let item: ItemRecord

  init() throws {
    world = try SyncWorld.withHistory()
    let added = try world.add("a.example", "alice")
    try world.commit()
    item = try world.replaceSecret(added, "new")
  }

  private var record: String { StoreLayout.recordFile(item.path, isLocal: false) }
  private var secret: String { StoreLayout.itemFile(item.path, isLocal: false) }

  private func restore() throws -> [String] {
    let keyring = try world.store.open()
    let found = try HistoricalFiles(in: world.requireRepository()).find(
      try keyring.missingFiles(), for: keyring)
    return try files(keyring.restore(found))
  }

  /// Returns the paths of the restored files. There are no other repairs.
  private func files(_ repairs: [Repair]) throws -> [String] {
    try repairs.map { repair in
      guard case .restoredFile(let path) = repair else { throw Unexpected(repair: repair) }
      return path
    }.sorted()
  }

  private struct Unexpected: Error { let repair: Repair }

  @Test("missing files are restored unchanged", arguments: [[true, false], [false, true], [true, true]])
  func missing(parts: [Bool]) throws {
    let files = zip([record, secret], parts).filter(\.1).map(\.0)
    let before = try files.map { try world.read($0) }
    for file in files { try FileManager.default.removeItem(at: world.file(file)) }
    #expect(try world.store.open().missingFiles().map(\.path) == [item.path])
    #expect(try restore() == files.sorted())
    #expect(try files.map { try world.read($0) } == before)
    #expect(try world.store.open().text(of: item) == "new")
    #expect(try world.store.open().missingFiles().isEmpty)
  }

  @Test func `if the index has another record, the newest signed one is restored`() throws {
    for file in [record, secret] { try FileManager.default.removeItem(at: world.file(file)) }
    var forged = item
    forged.attributes[.label] = "forged"
    let shard = world.file(StoreLayout.shardFile(item.path.shard, isLocal: false))
    try Data(IndexLine.encode(forged) + [10]).write(to: shard)
    #expect(try restore() == [record, secret].sorted())
    #expect(try RecordFile(parsing: world.read(record)).record == item)
  }

  @Test func `unsigned records are not written, and existing files are not replaced`() throws {
    let keyring = try world.store.open()
    let (signed, message) = (try world.read(record), try world.read(secret))
    var forged = item
    forged.attributes[.label] = "forged"
    let unsigned = try world.unsigned(forged, proofOf: item)
    #expect(try keyring.restore([record: unsigned, secret: message]).isEmpty, "both files exist")
    try FileManager.default.removeItem(at: world.file(record))
    #expect(try keyring.restore([record: unsigned]).isEmpty)
    #expect(try files(keyring.restore([record: signed, "items/a.txt": [1]])) == [record])
    try FileManager.default.removeItem(at: world.file(secret))
    #expect(try keyring.restore([secret: message + [0]]).isEmpty)
    #expect(try files(keyring.restore([secret: message])) == [secret])
    #expect(try world.store.open().text(of: item) == "new")
  }
}
