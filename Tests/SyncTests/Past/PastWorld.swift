import Foundation
import Glibc
import Keyring
import KeyringModel
import Secrets
import Sync
import TestSupport

extension SyncWorld {
  /// Returns the repository; a test with a history has one.
  func requireRepository() throws -> Repository {
    guard let repository = try repository() else { throw GitFailed(words: "the store uses no git") }
    return repository
  }

  /// Returns all versions of an item, the newest first.
  func history(of record: ItemRecord) throws -> ItemHistory {
    try ItemHistory(of: record.id, from: record.path, in: try requireRepository())
  }

  /// Returns the changes of an item, the newest first.
  func changes(of record: ItemRecord) throws -> [[ItemVersion.Change]] {
    try history(of: record).versions.map(\.changes)
  }

  /// Changes attributes and commits.
  @discardableResult
  func set(_ record: ItemRecord, _ attributes: Attributes, group: String? = nil) throws -> ItemRecord {
    let result = try store.open().update(record, AttributeChanges(set: attributes, group: group))
    try commit()
    return result
  }

  /// Replaces the secret and commits.
  @discardableResult
  func replaceSecret(_ record: ItemRecord, _ text: String = "another") throws -> ItemRecord {
    let result = try store.open().update(record, secret: SecretBytes(text: text))
    try commit()
    return result
  }

  /// Deletes an item and commits.
  func delete(_ record: ItemRecord) throws {
    try store.open().delete([record])
    try commit()
  }

  /// Re-encrypts the secret of an item, as a change of the members does, and commits.
  func sealAgain(_ record: ItemRecord) throws {
    let keyring = try store.open()
    let message = try store.engine.seal(
      try keyring.secret(for: record), to: keyring.policy.groups[record.group] ?? [])
    var again = record
    again.sealed = ContentDigest(of: message)
    try write(try keyring.sign([again])[0].bytes, message, for: again)
    try git(["commit", "-q", "-am", "encrypt again"])
  }

  /// Writes the files and the line of an item, whatever the line says.
  func write(_ record: [UInt8], _ message: [UInt8]?, for item: ItemRecord) throws {
    try Data(record).write(to: file(StoreLayout.recordFile(item.path, isLocal: false)))
    if let message { try Data(message).write(to: file(StoreLayout.itemFile(item.path, isLocal: false))) }
    let number = item.path.shard
    let shardFile = file(StoreLayout.shardFile(number, isLocal: false))
    var shard = Shard(parsing: [UInt8](try Data(contentsOf: shardFile)), number: number)
    try shard.put(item)
    try Data(shard.encode()).write(to: shardFile)
  }

  /// Returns an unsigned record file of an item: the proof is that of another record.
  func unsigned(_ item: ItemRecord, proofOf other: ItemRecord) throws -> [UInt8] {
    let bytes = try read(StoreLayout.recordFile(other.path, isLocal: false))
    let proof = bytes.drop { $0 != 10 }.dropFirst()
    return try IndexLine.encode(item) + [10] + proof
  }

  /// Returns the URL of a file in the store.
  func file(_ path: String) -> URL { URL(fileURLWithPath: "\(self.path)/\(path)") }

  /// Returns the bytes of a file in the store.
  func read(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: file(path))) }

  /// Returns a repository whose git records each start in a file, and a function that counts them.
  func countedRepository() throws -> (repository: Repository, starts: () throws -> Int) {
    let folder = "\(store.folder.path)/counted"
    let log = "\(folder)/log"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let script = "#!/bin/sh\necho >> '\(log)'\nexec /usr/bin/git \"$@\"\n"
    try ExecutableFile.write(script, to: "\(folder)/git")
    let found = try Repository.find(store: path) { top in
      Git(in: top, searchPath: folder, environment: environment)
    }
    guard let found else { throw GitFailed(words: "the store uses no git") }
    return (found, { FileManager.default.contents(atPath: log)?.count ?? 0 })
  }
}
