import Arguments
import Foundation
import Keyring
import KeyringModel
import KeytreeCLI
import TestSupport

/// Alice's store, and the changes that an attacker with push access makes to its files.
///
/// Bob is a member of the group `default`, but not of `ops`. Carol is a stranger. The attacker edits files as bytes;
/// records that Bob or Carol signs are signed with their keys by GnuPG.
final class ForgeryFixture {
  let alice: CommandFixture
  /// A GnuPG home with the secret keys of Bob and Carol.
  private let others: GnuPGHome
  private let clean: String

  /// The secrets by login: one that the attacker wants to read, and one that the user asks for.
  static let secrets = [
    "hub.example/alice": "hub-password", "mail.example/alice": "mail-password",
    "ops.example/root": "ops-password", "prod.example/root": "prod-password",
  ]
  static let seed = "otpauth://totp/hub?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

  var store: String { alice.store }

  init() throws {
    alice = try CommandFixture()
    others = try GnuPGHome(secret: [.bob, .carol], public: [.alice])
    clean = alice.folder.path + "/clean"
    try alice.joinBob()
    try alice.done(["group", "create", "ops"])
    for (item, secret) in Self.secrets.sorted(by: { $0.key < $1.key }) {
      let group: Word = item.hasSuffix("root") ? "ops" : "default"
      try alice.done(["add", Word(item), "--protocol", "https", "--group", group], input: secret)
    }
    try alice.done(["otp", "add", "hub.example/alice"], input: Self.seed)
    try alice.done(["add", "hub.example/alice", "--field", "note"], input: "hub-note")
    try alice.done(["add", "generic:app/bot"], input: "bot-password")
    try FileManager.default.copyItem(atPath: store, toPath: clean)
  }

  deinit { others.close() }

  /// Restores the store to its initial state.
  func reset() throws {
    ScratchFolder.remove(store)
    try FileManager.default.copyItem(atPath: clean, toPath: store)
  }

  /// The texts that no output of a refused command may contain, as plain text and in Base64.
  static var forbidden: [String] {
    let words = Array(secrets.values) + ["hub-note", "bot-password", "GEZDGNBVGY3TQOJQ"]
    return words + words.map { String(Data($0.utf8).base64EncodedString().prefix(10)) }
  }

  // MARK: Files

  func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: "\(store)/\(path)")))
  }

  func write(_ bytes: [UInt8], to path: String) throws {
    let url = URL(fileURLWithPath: "\(store)/\(path)")
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try Data(bytes).write(to: url)
  }

  func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: "\(store)/\(path)") }

  static func secretFile(_ record: ItemRecord) -> String {
    StoreLayout.itemFile(record.path, isLocal: record.isLocal)
  }

  static func recordFile(_ record: ItemRecord) -> String {
    StoreLayout.recordFile(record.path, isLocal: record.isLocal)
  }

  // MARK: The index

  /// Returns all lines of the index.
  func lines() throws -> [ItemRecord] {
    try [false, true].flatMap { isLocal in
      let folder = StoreLayout.indexFolder(isLocal: isLocal)
      // The folder for local items does not exist before the first local item.
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(store)/\(folder)")) ?? []
      return try names.sorted().flatMap { name in
        Shard(parsing: try bytes("\(folder)/\(name)"), number: StoreLayout.shardNumber(name) ?? 0)
          .records.map { record in
            var record = record
            record.isLocal = isLocal
            return record
          }
      }
    }
  }

  /// Returns the line of an item, such as `hub.example/alice`, or of one of its fields.
  func line(_ item: String, field: String? = nil) throws -> ItemRecord {
    let parts = item.split(separator: "/").map { AttributeValue.string(String($0)) }
    let found = try lines().first { line in
      (line.attributes[.server] ?? line.attributes[.service]) == parts[0]
        && line.attributes[.account] == parts[1] && line.field == field
    }
    guard let found else { throw CommandFixture.NoStore(reason: "no line of \(item)") }
    return found
  }

  /// Puts a line into its shard.
  func put(_ line: ItemRecord) throws {
    let file = StoreLayout.shardFile(line.path.shard, isLocal: line.isLocal)
    let old = (try? bytes(file)) ?? []
    let new = Shard(parsing: old, number: line.path.shard)
      .replacingLines(of: [line.path], by: [try IndexLine.encode(line)])
    try write(new, to: file)
  }

  /// Removes a line from its shard.
  func drop(_ line: ItemRecord) throws {
    let file = StoreLayout.shardFile(line.path.shard, isLocal: line.isLocal)
    let shard = Shard(parsing: try bytes(file), number: line.path.shard)
    try write(shard.replacingLines(of: [line.path], by: []), to: file)
  }

  /// Replaces a line with a forged one.
  @discardableResult
  func forge(_ line: ItemRecord, _ change: (inout ItemRecord) -> Void) throws -> ItemRecord {
    var forged = line
    change(&forged)
    try drop(line)
    try put(forged)
    return forged
  }

  // MARK: Signatures

  var keyring: KeyringID {
    get throws { try Policy.parse(try bytes(StoreLayout.policy)).keyring }
  }

  /// Returns the file of a record that one key signs alone.
  func sign(
    _ record: ItemRecord, by key: GnuPGKey, keyring: KeyringID? = nil
  ) throws -> RecordFile {
    let home = key == .alice ? alice.home : others
    return try home.sign(record, by: key, for: keyring ?? self.keyring, at: record.modified)
  }

  /// Adds an item signed by the given key to the store: record, file and line.
  func plant(_ record: ItemRecord, _ message: [UInt8], signedBy key: GnuPGKey) throws {
    let record = record.sealed(as: ContentDigest(of: message))
    try write(try sign(record, by: key).bytes, to: Self.recordFile(record))
    try write(message, to: Self.secretFile(record))
    try put(record)
  }

  /// Returns a message that Bob encrypts to the given people.
  func encrypt(_ text: String, to people: [GnuPGKey]) throws -> [UInt8] {
    try others.encrypt(Array(text.utf8), to: people)
  }

  /// Returns the text of an encrypted file as Bob decrypts it; nil if he cannot.
  func readByBob(_ message: [UInt8]) -> String? {
    (try? others.run(["--decrypt"], input: message)).map { String(decoding: $0, as: UTF8.self) }
  }
}
