internal import CGPGME
internal import KeyringModel

/// The operations that make an engine home. Each starts a process.
struct EngineTools {
  /// The gpg to use.
  var program: Library.Program
  /// The gpgconf beside it.
  var gpgconf: Gpgconf
  /// Called for every process started.
  var processStarted: () -> Void

  /// Imports key files.
  ///
  /// - Parameters:
  ///   - bytes: Armored keys, any number.
  ///   - home: The GnuPG home.
  /// - Throws: What libgpgme reports, except that a key cannot be read: that shows in the listing.
  func importKeys(_ bytes: [UInt8], home: String) throws(EngineError) {
    let context = try Context(program: program, home: home, interaction: .never)
    try unsafe bytes.span.bytes.withUnsafeBytes { buffer throws(EngineError) in
      let data = try unsafe DataObject(reading: buffer, isSensitive: false)
      processStarted()
      _ = unsafe gpgme_op_import(context.pointer, data.pointer)
    }
  }

  /// Lists every key of a home.
  ///
  /// - Parameter home: The GnuPG home.
  /// - Returns: The keys.
  /// - Throws: What libgpgme reports.
  func keys(home: String) throws(EngineError) -> [PublicKey] {
    let context = try Context(program: program, home: home, interaction: .never)
    processStarted()
    return try context.keys(matching: nil, secretOnly: false)
  }

  /// Gets a key object.
  ///
  /// - Parameters:
  ///   - fingerprint: The primary fingerprint; the key found has exactly this one.
  ///   - home: The GnuPG home.
  /// - Returns: The object.
  /// - Throws: `unusableKey` when there is none.
  func key(_ fingerprint: Fingerprint, home: String) throws(EngineError) -> KeyObject {
    // Not gpgme_get_key(3): it lists in a context of its own, which is not offline and probes gpg again.
    let context = try Context(program: program, home: home, interaction: .never)
    processStarted()
    var found: gpgme_key_t?
    guard unsafe gpgme_op_keylist_start(context.pointer, fingerprint.text, 0) == 0,
      unsafe gpgme_op_keylist_next(context.pointer, &found) == 0, let found = unsafe found
    else { throw .unusableKey(fingerprint, .missing) }
    let key = unsafe KeyObject(found)
    _ = unsafe gpgme_op_keylist_end(context.pointer)
    guard let text = unsafe found.pointee.fpr, unsafe String(cString: text) == fingerprint.text else {
      throw .unusableKey(fingerprint, .missing)
    }
    return key
  }

  /// Deletes a public key.
  ///
  /// - Parameters:
  ///   - fingerprint: Its primary fingerprint.
  ///   - home: The GnuPG home.
  /// - Throws: What libgpgme reports.
  func delete(_ fingerprint: Fingerprint, home: String) throws(EngineError) {
    let key = try key(fingerprint, home: home)
    let context = try Context(program: program, home: home, interaction: .never)
    processStarted()
    let code = unsafe gpgme_op_delete_ext(context.pointer, key.pointer, UInt32(GPGME_DELETE_FORCE))
    if code != 0 { throw EngineError(code) }
  }
}

/// A key object of libgpgme.
@safe
struct KeyObject: ~Copyable {
  let pointer: gpgme_key_t

  init(_ pointer: gpgme_key_t) { unsafe self.pointer = unsafe pointer }

  deinit { unsafe gpgme_key_unref(pointer) }
}
