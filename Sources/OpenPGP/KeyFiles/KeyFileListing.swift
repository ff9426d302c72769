internal import CGPGME
package import Encoding
internal import KeyringModel

extension TemporaryHome {
  /// Lists the keys in a file without importing them. Starts one process, and one more the first time.
  ///
  /// An engine home cannot be used: it has no trust database, without which gpg does not list a revoked key.
  ///
  /// - Parameters:
  ///   - file: Any bytes; usually an armored or binary key.
  ///   - processStarted: Called for every process that is started.
  /// - Returns: The keys in the order of the file; empty if GnuPG finds none.
  /// - Throws: `incomplete` if GnuPG lists fewer keys than the file has; `unusableKey` with the errors of
  ///   `KeyContent`; an engine error.
  package func keys(
    in file: [UInt8], processStarted: () -> Void
  ) throws(EngineError) -> [PublicKey] {
    let content = try KeyContent(file).bytes
    if content.isEmpty { return [] }
    let context = try context(processStarted)
    processStarted()
    var found: [PublicKey] = []
    try unsafe content.span.bytes.withUnsafeBytes { bytes throws(EngineError) in
      let data = try unsafe DataObject(reading: bytes, isSensitive: false)
      let input = unsafe data.pointer
      // An error is damaged data. Whether GnuPG has said everything is checked below.
      _ = unsafe context.run(
        { context in
          unsafe gpgme_op_keylist_from_data_start(context, input, 0)
        }, eachKey: { key in if let facts = unsafe PublicKey(key) { found.append(facts) } })
    }
    // libgpgme does not notice that gpg was killed.
    guard found.count >= KeyPackets.ordinaryCount(in: content) else {
      throw .incomplete(detail: "it did not list all keys of a file")
    }
    return found
  }
}

extension PublicKey {
  /// The time when the key stops being usable: the expiry of the primary key or of the last subkey for encryption,
  /// whichever is earlier. Nil if it never expires.
  package var lastDay: Timestamp? {
    let encryption = subkeys.filter { $0.canEncrypt && !$0.revoked && !$0.invalid }
    let endless = encryption.isEmpty || encryption.contains { $0.expires == nil }
    let last = endless ? nil : encryption.compactMap(\.expires).max()
    return [expires, last].compactMap { $0 }.min()
  }
}
