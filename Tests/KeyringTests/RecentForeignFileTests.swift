import FileSystem
import Foundation
import Glibc
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests that `status`, which reads only changed files, finds the same files of other programs as a complete look, and
/// counts the same items.
@Suite(.serialized) struct RecentForeignFileTests {
  private let store = StandInStore()
  private let file = ".keytree/clean-folders"

  /// Creates the store, in which all files seem old, so that stamps are remembered.
  ///
  /// - Parameter tick: The resolution of the file clock in nanoseconds.
  private func make(tick: Int64 = 1) throws -> Keyring {
    try store.create()
    let clocks = KeptIndexTests.Clocks()
    clocks.makeFilesOld()
    return try store.openKept(clock: clocks.clock(tick: tick))
  }

  private func add(_ keyring: Keyring, _ server: String, field: String? = nil) throws -> ItemRecord {
    var item = NewItem.login(server, "me")
    if let field { item.attributes[.field] = .string(field) }
    let secret = SecretBytes(text: "old")
    return try keyring.add(item, secret: secret)
  }

  private func message(_ text: String = "new") throws -> [UInt8] {
    let secret = SecretBytes(text: text)
    return try store.engine.seal(secret, to: [store.owner])
  }

  /// Overwrites a file without replacing it, so that its folder does not change.
  private func overwrite(_ path: String, _ bytes: [UInt8]) throws {
    let tree = try store.tree()
    let descriptor = try tree.openForLock(path)
    defer { close(descriptor) }
    #expect(ftruncate(descriptor, off_t(bytes.count)) == 0)
    try tree.write(bytes, to: descriptor, path: path)
  }

  private func stored() throws -> [UInt8]? { try store.bytes(file) }

  @Test(arguments: ForeignFileTests.names)
  func `a file that another program adds later is found`(path: String) throws {
    let keyring = try make()
    _ = try add(keyring, "b.example")
    _ = try add(keyring, "b.example", field: "note")
    #expect(try keyring.recentForeignFiles().isEmpty)
    try store.put(try message(), at: path)
    for _ in 0..<2 {
      #expect(try keyring.recentForeignFiles() == keyring.foreignFiles())
      #expect(try keyring.recentForeignFiles().map(\.path) == [path])
    }
    try store.put(nil, at: path)
    #expect(try keyring.recentForeignFiles().isEmpty)
  }

  @Test(arguments: [nil, "note"] as [String?])
  func `a file that another program replaces or overwrites later is found`(field: String?) throws {
    let keyring = try make()
    _ = try add(keyring, "a.example")
    let item = try add(keyring, "b.example", field: field)
    let path = store.secretFile(item)
    let old = try #require(try store.bytes(path))
    #expect(try keyring.recentForeignFiles().isEmpty)
    for change in [store.put, { try overwrite($1, $0 ?? []) }] as [([UInt8]?, String) throws -> Void] {
      try change(try message(), path)
      #expect(try keyring.recentForeignFiles().map(\.kind) == [.changed(item)])
      #expect(try keyring.recentForeignFiles() == keyring.foreignFiles())
      try change(old, path)
      #expect(try keyring.recentForeignFiles().isEmpty)
    }
  }

  @Test func `the file of an item on this machine only is no change of another item`() throws {
    let keyring = try make()
    let item = try add(keyring, "a.example")
    var local = NewItem.login("b.example", "me")
    local.isLocal = true
    let own = try keyring.add(local, secret: SecretBytes(text: "local"))
    #expect(try keyring.recentForeignFiles().isEmpty)
    try store.put(store.bytes(store.secretFile(own)), at: store.secretFile(item))
    #expect(try keyring.recentForeignFiles() == keyring.foreignFiles())
    #expect(try keyring.recentForeignFiles().isEmpty)
  }

  @Test func `what is remembered is written again only after a change`() throws {
    // One file seems to be new for ever, as after a copy from a machine whose clock is ahead.
    let keyring = try make()
    _ = try add(keyring, "a.example")
    let item = try add(keyring, "b.example")
    let path = "\(store.path)/\(store.secretFile(item))"
    try FileManager.default.setAttributes([.modificationDate: Date.distantFuture], ofItemAtPath: path)
    _ = try keyring.recentForeignFiles()
    let inode = try FileManager.default.attributesOfItem(atPath: "\(store.path)/\(file)")[.systemFileNumber]
    _ = try keyring.recentForeignFiles()
    let next = try FileManager.default.attributesOfItem(atPath: "\(store.path)/\(file)")[.systemFileNumber]
    #expect(inode as? Int == next as? Int && inode != nil)
  }

  @Test
  func `only files with another stamp are read, and never those that could change within the same tick`()
    throws
  {
    // All times are the same, so only size and inode show a change.
    let keyring = try make(tick: .max)
    let item = try add(keyring, "a.example")
    let old = try #require(try store.bytes(store.secretFile(item)))
    let other = try message("odd")
    #expect(other.count == old.count && other != old)
    #expect(try keyring.recentForeignFiles().isEmpty)
    try overwrite(store.secretFile(item), other)
    #expect(try keyring.recentForeignFiles().isEmpty && keyring.foreignFiles().count == 1)

    let real = try store.open()
    try store.put(nil, at: file)
    #expect(try real.recentForeignFiles().count == 1)
    try overwrite(store.secretFile(item), old)
    #expect(try real.recentForeignFiles().isEmpty)
    try overwrite(store.secretFile(item), other)
    #expect(try real.recentForeignFiles().count == 1)
  }

  @Test func `changes by Keytree itself and changes of the index alone are compared again`() throws {
    let keyring = try make()
    let item = try add(keyring, "a.example")
    let other = try add(keyring, "b.example")
    #expect(try keyring.recentForeignFiles().isEmpty)
    let secret = SecretBytes(text: "new")
    let changed = try keyring.update(item, secret: secret)
    _ = try add(keyring, "c.example")
    try keyring.delete([other])
    #expect(try keyring.recentForeignFiles().isEmpty)
    // The record and the file stay, but the index has another digest.
    var line = changed
    line.sealed = ContentDigest(of: [1])
    try store.putLine(line)
    #expect(try keyring.recentForeignFiles() == keyring.foreignFiles())
    // The file is then an unknown one for this line.
    let message = try message("third")
    try overwrite(store.secretFile(changed), message)
    #expect(try keyring.recentForeignFiles() == keyring.foreignFiles())
    #expect(try keyring.recentForeignFiles().count == 1)
  }

  @Test func `a damaged list of clean folders changes nothing`() throws {
    let keyring = try make()
    let item = try add(keyring, "a.example")
    _ = try add(keyring, "a.example", field: "note")
    #expect(try keyring.recentForeignFiles().isEmpty)
    let bytes = try #require(try stored())
    try overwrite(store.secretFile(item), try message())
    let expected = try keyring.foreignFiles()
    #expect(expected.count == 1)
    for size in stride(from: 0, to: bytes.count, by: 7) {
      try store.put(Array(bytes.prefix(size)), at: file)
      #expect(try keyring.recentForeignFiles() == expected)
    }
    for place in bytes.indices {
      var damaged = bytes
      damaged[place] ^= 0x41
      try store.put(damaged, at: file)
      #expect(try keyring.recentForeignFiles() == expected, "\(place)")
    }
  }

  @Test func `the counts are those of a search, also after changes and with damage`() throws {
    let keyring = try make()
    func expectSame() throws {
      let matches = try keyring.find(Query())
      for _ in 0..<2 {
        let counts = try keyring.index.counts()
        #expect(counts.items.values.reduce(0, +) == matches.items.count)
        #expect(counts.local == matches.items.count(where: \.isLocal) && counts.problems == matches.problems)
      }
    }
    try expectSame()
    let item = try add(keyring, "a.example")
    _ = try add(keyring, "a.example", field: "note")
    try expectSame()
    var local = NewItem.login("local.example", "me")
    local.isLocal = true
    let secret = SecretBytes(text: "old")
    try keyring.add(local, secret: secret)
    try expectSame()
    #expect(try keyring.index.counts().statistics.shardsRead == 0)
    let shard = StoreLayout.shardFile(item.path.shard, isLocal: false)
    let bytes = try #require(try store.bytes(shard))
    for damaged in [bytes + bytes, bytes + Array("{}\n".utf8), Array(bytes.dropLast(9)), []] {
      try store.put(damaged, at: shard)
      try expectSame()
    }
    try store.put(bytes, at: shard)
    try expectSame()
  }
}
