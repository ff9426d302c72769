package import Keyring
package import KeyringModel

/// Ways to change a store behind its back, and to sign records as anyone.
extension StandInStore {
  /// The encrypted file of an item.
  package func secretFile(_ record: ItemRecord) -> String {
    StoreLayout.itemFile(record.path, isLocal: record.isLocal)
  }

  /// The record of an item.
  package func recordFile(_ record: ItemRecord) -> String {
    StoreLayout.recordFile(record.path, isLocal: record.isLocal)
  }

  /// The shard that has the line of an item.
  package func shardFile(_ record: ItemRecord) -> String {
    StoreLayout.shardFile(record.path.shard, isLocal: record.isLocal)
  }

  /// The bytes of a file; nil when there is none.
  package func bytes(_ path: String) throws -> [UInt8]? { try tree().read(path, limit: 4 << 20) }

  /// Writes a file, or removes it where there are no bytes.
  package func put(_ bytes: [UInt8]?, at path: String) throws {
    let tree = try tree()
    guard let bytes else { return try tree.remove(path) }
    try tree.makeDirectory(RelativePath.parent(of: path))
    try tree.replaceFile(path, with: bytes, temporary: ".keytree/test")
  }

  /// Puts a line into the index, in place of the one of its path.
  package func putLine(_ record: ItemRecord) throws {
    let file = shardFile(record)
    var shard = Shard(parsing: try bytes(file) ?? [], number: record.path.shard)
    try shard.put(record)
    try put(shard.encode(), at: file)
  }

  /// Signs records with one signature, as anyone and for any keyring.
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

  /// Makes a conflict copy of a version of an item, as a merge does.
  ///
  /// - Parameters:
  ///   - record: The bytes of its record.
  ///   - message: Its encrypted file.
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
  /// One attribute with another value; for tests.
  package static func set(_ name: AttributeName, _ value: AttributeValue) -> AttributeChanges {
    var set = Attributes()
    set[name] = value
    return AttributeChanges(set: set)
  }
}
