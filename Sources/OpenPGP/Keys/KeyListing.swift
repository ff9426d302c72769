internal import CGPGME
internal import Encoding
internal import KeyringModel

extension Context {
  /// Lists keys of the context's home. Starts one process, and another one if a key is revoked: libgpgme reports
  /// neither the reason nor the time of a revocation.
  ///
  /// - Parameters:
  ///   - pattern: The search pattern for GnuPG; nil for every key.
  ///   - secretOnly: True to list only keys with a secret key.
  ///   - processStarted: Called for each process that is started.
  /// - Returns: The keys in GnuPG's order. A key with an unknown form of fingerprint is left out, because a policy
  ///   could not name it.
  /// - Throws: The error of libgpgme; `incomplete` if gpg does not list the revocations. If no key is found, the list
  ///   is empty and there is no error.
  func keys(
    matching pattern: String?, secretOnly: Bool, processStarted: () -> Void
  ) throws(EngineError) -> [PublicKey] {
    var keys: [PublicKey] = []
    processStarted()
    try unsafe forEachKey(matching: pattern, secretOnly: secretOnly) { key in
      if let facts = unsafe PublicKey(key) { keys.append(facts) }
    }
    return try withRevocations(keys, processStarted)
  }

  /// Returns listed keys with the reasons and times of their revocations.
  private func withRevocations(
    _ keys: [PublicKey], _ processStarted: () -> Void
  ) throws(EngineError) -> [PublicKey] {
    let revoked = keys.filter(\.hasRevocation)
    if revoked.isEmpty { return keys }
    let options =
      (home.map { ["--homedir", $0] } ?? []) + [
        "--batch", "--no-tty", "--quiet", "--no-auto-check-trustdb", "--disable-dirmngr", "--with-colons",
        "--list-sigs",
      ]
    // A command line has a limited length. Without names gpg lists all keys.
    let names = revoked.count <= Self.nameLimit ? ["--"] + revoked.map(\.fingerprint.text) : []
    processStarted()
    var output = try ProgramCall.run(program.path, options + names)
    if output == nil {
      // A process that does not collect the status of its children sees only whether a revocation is missing.
      output = try ProgramCall.output(of: program.path, options + names)
    }
    guard let output, let completed = RevocationListing(output)?.completing(keys) else {
      throw .incomplete(detail: "it did not list the revocations of all keys")
    }
    return completed
  }

  /// The number of keys above which all keys are listed.
  private static let nameLimit = 512

  /// Calls a closure with each key of the context's home as a libgpgme object. Starts one process.
  ///
  /// - Parameters:
  ///   - pattern: The search pattern for GnuPG; nil for every key.
  ///   - secretOnly: True to list only keys with a secret key.
  ///   - mode: An additional mode, one of `GPGME_KEYLIST_MODE_...`.
  ///   - body: Receives each key in GnuPG's order. The key is released when `body` returns.
  /// - Throws: The error of libgpgme. If no key is found, there is no error.
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
        // GnuPG marks the whole key only, but a disabled key has no usable subkey.
        facts.disabled = unsafe facts.disabled || key.pointee.disabled != 0
        subkeys.append(facts)
      }
      unsafe next = subkey.pointee.next
    }
    guard var primary = subkeys.first else { return nil }
    if unsafe primary.revocation == nil && key.pointee.revoked != 0 { primary.revocation = .unexplained }
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
  /// Returns true for an algorithm that every supported GnuPG knows. libgpgme returns the number of any other one
  /// unchanged.
  private static func isKnown(_ algorithm: gpgme_pubkey_algo_t) -> Bool {
    [
      GPGME_PK_RSA, GPGME_PK_RSA_E, GPGME_PK_RSA_S, GPGME_PK_ELG_E, GPGME_PK_DSA, GPGME_PK_ECC, GPGME_PK_ELG,
      GPGME_PK_ECDSA, GPGME_PK_ECDH, GPGME_PK_EDDSA,
    ].contains(algorithm)
  }

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
      revocation: unsafe subkey.pointee.revoked != 0 ? .unexplained : nil,
      disabled: unsafe subkey.pointee.disabled != 0,
      invalid: unsafe subkey.pointee.invalid != 0,
      isUnsupported: unsafe subkey.pointee.invalid != 0 && !Self.isKnown(subkey.pointee.pubkey_algo))
    if unsafe subkey.pointee.secret != 0 {
      secret = unsafe subkey.pointee.is_cardkey != 0 ? .onCard : .here
    }
  }
}

extension Timestamp {
  /// Creates a time from an OpenPGP time.
  ///
  /// - Parameter seconds: The seconds since 1970. If the microseconds would overflow, the result is the maximum.
  init(seconds: Int) {
    let (product, overflow) = Int64(seconds).multipliedReportingOverflow(by: 1_000_000)
    self.init(microseconds: overflow ? .max : product)
  }
}
