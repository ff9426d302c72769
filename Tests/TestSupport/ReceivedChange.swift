package import Keyring
package import KeyringModel

/// Changes that a merge brings, without git.
extension StandInStore {
  /// Returns the two files of an item.
  package func files(of record: ItemRecord) throws -> [String: Keyring.NewFile] {
    var files: [String: Keyring.NewFile] = [:]
    for path in [recordFile(record), secretFile(record)] {
      if let bytes = try bytes(path) { files[path] = .bytes(bytes) }
    }
    return files
  }

  /// Replaces files of the store and the line of an item, as a merge does.
  ///
  /// - Parameters:
  ///   - files: The new files.
  ///   - path: The path of the item.
  ///   - line: The new line; nil to remove the line.
  package func receive(
    _ files: [String: Keyring.NewFile], _ path: ItemPath, _ line: ItemRecord?
  ) throws {
    let keyring = try open()
    let file = StoreLayout.shardFile(path.shard, isLocal: false)
    var shard = Shard(parsing: try bytes(file) ?? [], number: path.shard)
    if let line { try shard.put(line) } else { _ = try shard.remove(at: path) }
    var files = files
    files[file] = .bytes(shard.encode())
    let count = try keyring.transactionCount()
    let new = try keyring.replace(files, ifCountIs: count, subject: "merge 1 change") { _, _ in true }
    precondition(new != nil, "no other process changes the store")
  }

  /// Removes an item, as a merge does if another person has removed it.
  package func receiveRemoval(of record: ItemRecord) throws {
    try receive([recordFile(record): .removed, secretFile(record): .removed], record.path, nil)
  }
}
