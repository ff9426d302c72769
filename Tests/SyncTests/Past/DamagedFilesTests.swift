import Foundation
import Keyring
import KeyringModel
import Secrets
import Sync
import TestSupport
import Testing

/// Tests files of items that are damaged in the store and intact in the history.
@Suite(.serialized) struct DamagedFilesTests {
  private let world: SyncWorld
  private let item: ItemRecord

  init() throws {
    world = try SyncWorld.withHistory()
    let added = try world.add("a.example", "alice")
    try world.commit()
    item = try world.replaceSecret(added, "new")
    try world.commit()
  }

  private var record: String { StoreLayout.recordFile(item.path, isLocal: false) }
  private var secret: String { StoreLayout.itemFile(item.path, isLocal: false) }

  private func restore() throws -> [Repair] {
    let keyring = try world.store.open()
    let lost = try keyring.missingFiles() + keyring.damagedFiles()
    let found = try HistoricalFiles(in: world.requireRepository()).find(lost, for: keyring)
    return try keyring.restore(found, replacing: lost.reduce(into: [:]) { $0.merge($1.damaged) { $1 } })
  }

  /// The ways to damage a file.
  static let damages: [@Sendable ([UInt8]) -> [UInt8]] = [
    { _ in [] }, { Array($0.dropLast()) }, { $0 + [0] }, { [$0[0] ^ 1] + $0.dropFirst() },
    { bytes in
      var bytes = bytes
      bytes[bytes.count / 2] ^= 0x10
      return bytes
    },
  ]

  @Test(arguments: damages.indices, [[true, false], [false, true], [true, true]])
  func `damaged files are restored, and their contents are quarantined`(damage: Int, parts: [Bool]) throws {
    let files = zip([record, secret], parts).filter(\.1).map(\.0)
    let before = try files.map { try world.read($0) }
    let damaged = before.map(Self.damages[damage])
    for (file, bytes) in zip(files, damaged) { try Data(bytes).write(to: world.file(file)) }
    #expect(try world.store.open().damagedFiles().flatMap(\.damaged.keys).sorted() == files.sorted())
    let repairs = try restore()
    #expect(repairs.count == 2 * files.count)
    for (file, bytes) in zip(files, damaged) {
      #expect(repairs.contains(.restoredFile(file)))
      let target = repairs.compactMap { repair -> String? in
        if case .quarantined(path: file, let target) = repair { target } else { nil }
      }
      #expect(try target.map { try world.read($0) } == [bytes])
    }
    #expect(try files.map { try world.read($0) } == before)
    #expect(try world.store.open().text(of: item) == "new")
    #expect(try world.store.open().damagedFiles().isEmpty)
    #expect(try world.store.open().check().isClean)
  }

  @Test func `a missing record and a damaged encrypted file are restored together`() throws {
    try FileManager.default.removeItem(at: world.file(record))
    try Data([1, 2, 3]).write(to: world.file(secret))
    #expect(try restore().count == 3)
    #expect(try world.store.open().text(of: item) == "new")
  }

  /// The index is not signed. If it decided, anyone who can write it could put an old secret back.
  @Test func `a damaged record is not replaced by an older version`() throws {
    try Data([1]).write(to: world.file(record))
    var old = item
    old.attributes[.label] = "not in the history"
    let shard = world.file(StoreLayout.shardFile(item.path.shard, isLocal: false))
    try Data(IndexLine.encode(old) + [10]).write(to: shard)
    #expect(try restore().isEmpty)
    #expect(try world.read(record) == [1])
  }

  @Test func `a file that is not in the history stays as it is`() throws {
    let latest = try world.store.open().update(item, secret: SecretBytes(text: "never committed"))
    let bytes = try world.read(secret) + [0]
    try Data(bytes).write(to: world.file(secret))
    #expect(try world.store.open().damagedFiles().map(\.path) == [latest.path])
    #expect(try restore().isEmpty)
    #expect(try world.read(secret) == bytes)
  }

  @Test func `a file that has changed since it was found is not replaced`() throws {
    let keyring = try world.store.open()
    let intact = try world.read(secret)
    try Data(intact + [0]).write(to: world.file(secret))
    let lost = try keyring.damagedFiles()
    let found = try HistoricalFiles(in: world.requireRepository()).find(lost, for: keyring)
    try Data(intact + [1]).write(to: world.file(secret))
    #expect(try keyring.restore(found, replacing: lost[0].damaged).isEmpty)
    #expect(try world.read(secret) == intact + [1])
  }

  @Test func `intact items, and files of other programs, are not damaged`() throws {
    let place = try #require(ItemPath(validating: "internet-password/phone.example/me"))
    let file = StoreLayout.itemFile(place, isLocal: false)
    try FileManager.default.createDirectory(
      at: world.file(file).deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(world.read(secret)).write(to: world.file(file))
    #expect(try world.store.open().damagedFiles().isEmpty)
  }
}
