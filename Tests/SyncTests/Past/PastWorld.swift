import Foundation
import Glibc
import Keyring
import KeyringModel
import Secrets
import Sync
import TestSupport

extension SyncWorld {
  /// The repository, which a test with a history has.
  func requireRepository() throws -> Repository {
    guard let repository = try repository() else { throw GitFailed(words: "the store uses no git") }
    return repository
  }

  /// All versions of an item, the newest first.
  func history(of record: ItemRecord) throws -> ItemHistory {
    try ItemHistory(of: record.id, from: record.path, in: try requireRepository())
  }

  /// What became of an item, the newest change first.
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

  /// Seals an item again without another secret, as a change of the members does, and commits.
  func sealAgain(_ record: ItemRecord) throws {
    let keyring = try store.open()
    let file = "\(path)/\(StoreLayout.itemFile(record.path, isLocal: false))"
    let message = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
    // The stand-in seals the same to the same bytes, so the times make the difference.
    var again = record
    again.modified = Timestamp(microseconds: record.modified.microseconds + 1)
    guard let sealed = try keyring.sealAgain(again, message) else { throw GitFailed(words: "no key") }
    var line = record
    line.sealed = sealed.record.sealed
    let number = record.path.shard
    let shardFile = URL(fileURLWithPath: "\(path)/\(StoreLayout.shardFile(number, isLocal: false))")
    var shard = Shard(parsing: [UInt8](try Data(contentsOf: shardFile)), number: number)
    try shard.put(line)
    try Data(shard.encode()).write(to: shardFile)
    try Data(sealed.message).write(to: URL(fileURLWithPath: file))
    try git(["commit", "-q", "-am", "seal again"])
  }

  /// Git that notes each of its starts in a file, for those who count them.
  func countedRepository() throws -> (repository: Repository, starts: () throws -> Int) {
    let folder = "\(store.folder.path)/counted"
    let log = "\(folder)/log"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let script = "#!/bin/sh\necho >> '\(log)'\nexec /usr/bin/git \"$@\"\n"
    try Data(script.utf8).write(to: URL(fileURLWithPath: "\(folder)/git"))
    _ = unsafe chmod("\(folder)/git", 0o700)
    let found = try Repository.find(store: path) { top in
      Git(in: top, searchPath: folder, environment: environment)
    }
    guard let found else { throw GitFailed(words: "the store uses no git") }
    return (found, { FileManager.default.contents(atPath: log)?.count ?? 0 })
  }
}
