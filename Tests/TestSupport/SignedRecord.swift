package import Encoding
package import KeyringModel

extension GnuPGHome {
  /// Signs a single record, by any key whose secret half is in this home and for any keyring.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - signer: The key that signs.
  ///   - keyring: The keyring that the signature names.
  ///   - time: The time that the signature names.
  package func sign(
    _ record: ItemRecord, by signer: GnuPGKey, for keyring: KeyringID, at time: Timestamp
  ) throws -> RecordFile {
    let line = try IndexLine.encode(record)
    let tree = MerkleTree(leaves: [MerkleTree.leaf(of: line)])
    let statement = SignedRoot(keyring: keyring, root: tree.root, leaves: 1, time: time)
    let signature = try run(
      ["--compress-algo", "none", "--local-user", signer.fingerprint.text, "--sign"],
      input: statement.encode())
    return RecordFile(
      line: line, record: record, proof: RecordProof(leaf: 0, path: [], root: tree.root, signature: signature)
    )
  }
}
