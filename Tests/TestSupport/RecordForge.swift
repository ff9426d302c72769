package import Keyring
package import KeyringModel

/// Direct changes to the files of a store, and records with forged signatures.
extension StandInStore {
  /// Returns the path of the encrypted file of an item.
  package func secretFile(_ record: ItemRecord) -> String {
    StoreLayout.itemFile(record.path, isLocal: record.isLocal)
  }

  /// Returns the path of the record of an item.
  package func recordFile(_ record: ItemRecord) -> String {
    StoreLayout.recordFile(record.path, isLocal: record.isLocal)
  }

  /// Returns the path of the shard that contains the line of an item.
  package func shardFile(_ record: ItemRecord) -> String {
    StoreLayout.shardFile(record.path.shard, isLocal: record.isLocal)
  }

  /// Returns the bytes of a file, or nil if it does not exist.
  package func bytes(_ path: String) throws -> [UInt8]? { try tree().read(path, limit: 4 << 20) }

  /// Writes a file, or removes it if there are no bytes.
  package func put(_ bytes: [UInt8]?, at path: String) throws {
    let tree = try tree()
    guard let bytes else { return try tree.remove(path) }
    try tree.makeDirectory(RelativePath.parent(of: path))
    try tree.replaceFile(path, with: bytes, temporary: ".keytree/test")
  }

  /// Puts a line into the index, where it replaces the line with the same path.
  package func putLine(_ record: ItemRecord) throws {
    let file = shardFile(record)
    var shard = Shard(parsing: try bytes(file) ?? [], number: record.path.shard)
    try shard.put(record)
    try put(shard.encode(), at: file)
  }

  /// Signs records with one signature, by any signer and for any keyring.
  package func sign(
    _ records: [ItemRecord], by signer: Fingerprint, for keyring: KeyringID
  ) throws -> [RecordFile] {
    let lines = try records.map { try IndexLine.encode($0) }
    let tree = MerkleTree(leaves: lines.map { MerkleTree.leaf(of: $0) })
    let statement = SignedRoot(keyring: keyring, root: tree.root, leaves: lines.count, time: host.clock())
    let signature = try engine.signMessage(statement.encode(), signer: signer)
    let proofs = RecordProof.all(of: tree, count: lines.count, signature: signature)
    return zip(zip(records, lines), proofs).map { RecordFile(line: $0.1, record: $0.0, proof: $1) }
  }

  /// Writes a conflict copy of a version of an item, as a merge does.
  ///
  /// - Parameters:
  ///   - record: The bytes of the record.
  ///   - message: The encrypted file.
  package func putConflictCopy(_ record: [UInt8], _ message: [UInt8]) throws {
    let file = try RecordFile(parsing: record)
    let digest = ContentDigest(of: file.line)
    let endings = [StoreLayout.secretExtension, StoreLayout.recordExtension]
    for (bytes, ending) in zip([message, record], endings) {
      try put(bytes, at: StoreLayout.conflictFile(file.record.id, digest, ending))
    }
  }
}

extension AttributeChanges {
  /// Returns changes that set one attribute; for tests.
  package static func set(_ name: AttributeName, _ value: AttributeValue) -> AttributeChanges {
    var set = Attributes()
    set[name] = value
    return AttributeChanges(set: set)
  }
}
