internal import CGPGME
package import KeyringModel

extension Engine {
  /// Lists the keys in a file without taking them anywhere. Starts one process.
  ///
  /// - Parameter file: Armored or binary, or anything else.
  /// - Returns: The keys in the order of the file; none when GnuPG finds none.
  /// - Throws: What concerns the engine.
  package func keys(in file: [UInt8]) throws(EngineError) -> [PublicKey] {
    if file.isEmpty { return [] }
    let session = try session()
    let context = try Context(program: session.program, home: session.home.path, interaction: .never)
    counter.processStarted()
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
