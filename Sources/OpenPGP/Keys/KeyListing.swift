internal import CGPGME
internal import Encoding
internal import KeyringModel

extension Context {
  /// Lists keys of the context's home. Starts one process.
  ///
  /// - Parameters:
  ///   - pattern: What GnuPG should look for, or nil for every key.
  ///   - secretOnly: Whether only keys with a secret half are wanted.
  /// - Returns: The keys in GnuPG's order. One whose fingerprint is not of a known form is left out: it
  ///   could not be named in a policy.
  /// - Throws: What libgpgme reports; not "nothing found", which is an empty list.
  func keys(matching pattern: String?, secretOnly: Bool) throws(EngineError) -> [PublicKey] {
    var keys: [PublicKey] = []
    try unsafe forEachKey(matching: pattern, secretOnly: secretOnly) { key in
      if let facts = unsafe PublicKey(key) { keys.append(facts) }
    }
    return keys
  }

  /// Lists keys of the context's home as libgpgme has them. Starts one process.
  ///
  /// - Parameters:
  ///   - pattern: What GnuPG should look for, or nil for every key.
  ///   - secretOnly: Whether only keys with a secret half are wanted.
  ///   - mode: What to list beyond the usual, as one of `GPGME_KEYLIST_MODE_...`.
  ///   - body: Takes each key in GnuPG's order; it is released when `body` returns.
  /// - Throws: What libgpgme reports; not "nothing found".
  func forEachKey(
    matching pattern: String?, secretOnly: Bool = false, mode: Int32 = 0, _ body: (gpgme_key_t) -> Void
  ) throws(EngineError) {
    _ = unsafe gpgme_set_keylist_mode(pointer, gpgme_keylist_mode_t(GPGME_KEYLIST_MODE_LOCAL | mode))
    var code = unsafe gpgme_op_keylist_start(pointer, pattern, secretOnly ? 1 : 0)
    guard code == 0 else { throw EngineError(code) }
    while true {
      var next: gpgme_key_t?
      code = unsafe gpgme_op_keylist_next(pointer, &next)
      guard code == 0, let key = unsafe next else { break }
      unsafe body(key)
      unsafe gpgme_key_unref(key)
    }
    guard gpgme_err_code(code) == GPG_ERR_EOF else {
      _ = unsafe gpgme_op_keylist_end(pointer)
      throw EngineError(code)
    }
  }
}

extension PublicKey {
  init?(_ key: gpgme_key_t) {
    var subkeys: [Subkey] = []
    var next = unsafe key.pointee.subkeys
    while let subkey = unsafe next {
      if var facts = unsafe Subkey(subkey) {
        // GnuPG marks the whole key only; a disabled key has no usable subkey.
        facts.disabled = unsafe facts.disabled || key.pointee.disabled != 0
        subkeys.append(facts)
      }
      unsafe next = subkey.pointee.next
    }
    guard var primary = subkeys.first else { return nil }
    primary.revoked = unsafe primary.revoked || key.pointee.revoked != 0
    primary.invalid = unsafe primary.invalid || key.pointee.invalid != 0
    subkeys[0] = primary

    var userIDs: [String] = []
    var nextUser = unsafe key.pointee.uids
    while let user = unsafe nextUser {
      if let text = unsafe user.pointee.uid, unsafe user.pointee.revoked == 0 {
        unsafe userIDs.append(String(cString: text))
      }
      unsafe nextUser = user.pointee.next
    }
    self.init(
      fingerprint: primary.fingerprint, userIDs: userIDs, subkeys: subkeys,
      hasSecret: unsafe key.pointee.secret != 0)
  }
}

extension PublicKey.Subkey {
  init?(_ subkey: gpgme_subkey_t) {
    guard let fpr = unsafe subkey.pointee.fpr, let id = unsafe subkey.pointee.keyid,
      let fingerprint = unsafe Fingerprint(String(cString: fpr)),
      let keyID = unsafe KeyID(String(cString: id))
    else { return nil }
    let expires = unsafe subkey.pointee.expires
    self.init(
      fingerprint: fingerprint, keyID: keyID,
      canEncrypt: unsafe subkey.pointee.can_encrypt != 0,
      canSign: unsafe subkey.pointee.can_sign != 0,
      created: Timestamp(seconds: unsafe subkey.pointee.timestamp),
      expires: expires > 0 ? Timestamp(seconds: expires) : nil,
      revoked: unsafe subkey.pointee.revoked != 0,
      disabled: unsafe subkey.pointee.disabled != 0,
      invalid: unsafe subkey.pointee.invalid != 0)
  }
}

extension Timestamp {
  /// A time as OpenPGP has it.
  ///
  /// - Parameter seconds: Since 1970; beyond what can be counted in microseconds the last such second.
  init(seconds: Int) {
    let (product, overflow) = Int64(seconds).multipliedReportingOverflow(by: 1_000_000)
    self.init(microseconds: overflow ? .max : product)
  }
}
