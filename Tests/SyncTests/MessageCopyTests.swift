import Foundation
import Keyring
import KeyringModel
import Secrets
import Sync
import TestSupport
import Testing

/// Tests the search for files of other programs that are copies of encrypted files.
///
/// Eve is a member of another group. She cannot read the items of the first clone, but she can copy their files.
@Suite(.serialized) struct MessageCopyTests {
  private let clones: SyncClones
  private let bank: ItemRecord
  private var store: StandInStore { clones.world.store }

  init() throws {
    clones = try SyncClones(2)
    bank = try clones.add(0, "bank.example", "alice", "money")
    for clone in [0, 1] { try clones.sync(clone) }
  }

  private func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: "\(clones.paths[0])/\(path)")))
  }

  private func write(_ bytes: [UInt8], at path: String) throws {
    let file = URL(fileURLWithPath: "\(clones.paths[0])/\(path)")
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: file)
  }

  private func commit() throws {
    _ = try clones.git(0, "add", "--all")
    _ = try clones.git(0, "commit", "--quiet", "--message", "push")
  }

  /// Returns a message with one more recipient, who knows its session key only if they could read it before.
  private func adding(_ reader: UInt8, to message: [UInt8]) -> [UInt8] {
    let line = message.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    return message[..<line] + Array("\(EngineDouble.fingerprint(reader).text),".utf8) + message[line...]
  }

  private func message(_ text: String) throws -> [UInt8] {
    try store.engine.seal(SecretBytes(text: text), to: [store.owner])
  }

  /// Returns the origins of all files of other programs.
  private func origins() throws -> [MessageCopies.Origin?] {
    let keyring = try clones.open(0)
    let files = try keyring.foreignFiles()
    let repository = try #require(try Repository.find(store: clones.paths[0], git: clones.world.makeGit))
    let copies = try MessageCopies(among: files, of: keyring, in: repository)
    return files.map(copies.origin)
  }

  private let new = "items/web/team-wifi.gpg"

  @Test(arguments: [false, true])
  func `a copy of an item is found, with and without further recipients`(isWider: Bool) throws {
    let original = try bytes(store.secretFile(bank))
    try write(isWider ? adding(9, to: original) : original, at: new)
    #expect(try origins() == [.file(store.secretFile(bank))])
    try commit()
    #expect(try origins() == [.file(store.secretFile(bank))])
  }

  @Test func `a changed file with the data of another item is found`() throws {
    let own = try clones.add(0, "phone.example", "shared")
    try write(adding(9, to: try bytes(store.secretFile(bank))), at: store.secretFile(own))
    try commit()
    #expect(try origins() == [.file(store.secretFile(bank))])
  }

  @Test func `a copy of an item that only the history has is found`() throws {
    let original = try bytes(store.secretFile(bank))
    try clones.open(0).delete([bank])
    for clone in [0, 1] { try clones.sync(clone) }
    try write(adding(9, to: original), at: new)
    #expect(try origins() == [.file(store.secretFile(bank))])
    // The same bytes at another path are one content for git.
    try write(original, at: new)
    try commit()
    #expect(try origins() == [.file(store.secretFile(bank))])
  }

  @Test func `a copy of another file that was not adopted is found`() throws {
    let phone = "items/web/bank.gpg"
    try write(try message("mail"), at: phone)
    try commit()
    try write(adding(9, to: try bytes(phone)), at: new)
    try commit()
    #expect(try origins() == [.file(new), .file(phone)])
    try FileManager.default.removeItem(atPath: "\(clones.paths[0])/\(phone)")
    try commit()
    #expect(try origins() == [.file(phone)])
  }

  @Test(arguments: [false, true])
  func `an older version of the same item is found`(isWider: Bool) throws {
    let file = store.secretFile(bank)
    let old = try bytes(file)
    try clones.replace(0, bank, "more money")
    try clones.sync(0)
    try write(isWider ? adding(9, to: old) : old, at: file)
    #expect(try origins() == [.earlierVersion])
    let second = SecondPath.of(file, ContentDigest(of: old))
    try write(old, at: second)
    #expect(try origins().contains(.earlierVersion))
  }

  @Test func `a copy of an item of this machine only is found`() throws {
    var login = NewItem.login("local.example", "alice")
    login.isLocal = true
    let local = try clones.open(0).add(login, secret: SecretBytes(text: "local"))
    let file = StoreLayout.itemFile(local.path, isLocal: true)
    try write(adding(9, to: try bytes(file)), at: new)
    #expect(try origins() == [.file(file)])
  }

  @Test func `a new file, a changed file and a file at its second path are no copies`() throws {
    try write(try message("new"), at: new)
    try write(try message("newer"), at: store.secretFile(bank))
    #expect(try origins() == [nil, nil])
    try commit()
    #expect(try origins() == [nil, nil])
    _ = try clones.git(0, "push", "--quiet", "origin", "main")
    try clones.sync(1)
    try clones.sync(0)
    let files = try clones.open(0).foreignFiles()
    #expect(files.map(\.kind) == [.kept(bank), .added])
    #expect(try origins() == [nil, nil])
  }
}
