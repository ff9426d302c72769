internal import CGPGME
package import Encoding
internal import KeyringModel

extension ThrowAwayHome {
  /// Lists the keys in a file without taking them anywhere. Starts one process, and one more the first time.
  ///
  /// Not in an engine home: those have no trust database, without which gpg does not show a revoked key.
  ///
  /// - Parameters:
  ///   - file: Armored or binary, or anything else.
  ///   - processStarted: Called for every process started.
  /// - Returns: The keys in the order of the file; none when GnuPG finds none.
  /// - Throws: What concerns the engine.
  package func keys(
    in file: [UInt8], processStarted: () -> Void
  ) throws(EngineError) -> [PublicKey] {
    if file.isEmpty { return [] }
    let context = try context(processStarted)
    processStarted()
    return try unsafe file.span.bytes.withUnsafeBytes { bytes throws(EngineError) in
      let data = try unsafe DataObject(reading: bytes, isSensitive: false)
      return unsafe context.keys(in: data.pointer)
    }
  }
}

extension Context {
  /// Lists the keys in some data. What is damaged in it ends the list.
  fileprivate func keys(in data: gpgme_data_t) -> [PublicKey] {
    guard unsafe gpgme_op_keylist_from_data_start(pointer, data, 0) == 0 else { return [] }
    var keys: [PublicKey] = []
    var next: gpgme_key_t?
    while unsafe gpgme_op_keylist_next(pointer, &next) == 0, let key = unsafe next {
      if let facts = unsafe PublicKey(key) { keys.append(facts) }
      unsafe gpgme_key_unref(key)
      unsafe next = nil
    }
    _ = unsafe gpgme_op_keylist_end(pointer)
    return keys
  }
}

extension PublicKey {
  /// When the key stops being of use: the end of the primary key or that of the last subkey for encryption,
  /// whichever is earlier; nil when it has no end.
  package var lastDay: Timestamp? {
    let encryption = subkeys.filter { $0.canEncrypt && !$0.revoked && !$0.invalid }
    let endless = encryption.isEmpty || encryption.contains { $0.expires == nil }
    let last = endless ? nil : encryption.compactMap(\.expires).max()
    return [expires, last].compactMap { $0 }.min()
  }
}
