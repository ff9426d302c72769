internal import CGPGME
internal import Encoding
package import KeyringModel

extension Engine {
  package func signDetached(
    _ bytes: [UInt8], signer: Fingerprint, evenIfRevokedHere isRevokedHere: Bool
  ) throws(EngineError) -> [UInt8] {
    try home().table.checkSigner(signer, at: Self.now)
    return try withSigner(signer, evenIfRevokedHere: isRevokedHere) {
      session, signer, isNamed throws(EngineError) in
      try sign(bytes, as: .detached, signer: signer, isNamed: isNamed, session: session)
    }
  }

  package func signMessage(_ content: [UInt8], signer: Fingerprint) throws(EngineError) -> [UInt8] {
    try home().table.checkSigner(signer, at: Self.now)
    return try withSigner(signer) { session, signer, isNamed throws(EngineError) in
      let message = try sign(content, as: .message, signer: signer, isNamed: isNamed, session: session)
      // Another configuration may have changed the form, for example by compression. Such a message is not stored.
      if let message, SignedMessage(message)?.content != content {
        throw .incomplete(detail: "it did not write the signed message in the expected form")
      }
      return message
    }
  }

  /// The form of a signature.
  private enum SignatureForm {
    /// An armored signature without the signed bytes.
    case detached
    /// A binary message that includes the signed bytes.
    case message
  }

  private func sign(
    _ bytes: [UInt8], as form: SignatureForm, signer: DefaultSigner, isNamed: Bool, session: Session
  ) throws(EngineError) -> [UInt8]? {
    let context = try Context(
      program: session.program, home: session.home.path, interaction: interaction, cancellation: cancellation)
    unsafe gpgme_set_armor(context.pointer, form == .detached ? 1 : 0)
    if isNamed { try context.addSigner(try key(of: signer, in: session)) }
    let output = try DataObject()
    let target = unsafe output.pointer
    counter.signingStarted()
    let mode = form == .detached ? GPGME_SIG_MODE_DETACH : GPGME_SIG_MODE_NORMAL
    let code = try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(EngineError) in
      let input = try unsafe DataObject(reading: bytes, isSensitive: false)
      let source = unsafe input.pointer
      return unsafe context.run { context in
        unsafe gpgme_op_sign_start(context, source, target, mode)
      }
    }
    if cancellation?.isCancelled == true { throw .cancelled }
    guard code == 0 else { throw context.sealingFailure(code, signer: signer.person) }
    // gpg signs the beginning of a content that it cannot read to its end.
    try context.report.requireSuccess()
    let signature = output.bytes()
    guard form == .message || SignaturePackets.versions(in: Armor.binary(signature, .signature))?.count == 1
    else {
      throw .incomplete(detail: "it did not write the whole signature")
    }
    return context.isSigned(by: signer, table: session.home.table) ? signature : nil
  }
}

extension Context {
  /// Adds the key that signs.
  ///
  /// - Parameter key: A key object of the same home.
  /// - Throws: The error of libgpgme when memory runs out.
  func addSigner(_ key: SignerKey) throws(EngineError) { try key.name(to: self) }

  /// Returns true if the last operation made exactly one signature, by the key of the signer.
  ///
  /// - Parameters:
  ///   - signer: The signer.
  ///   - table: The keys of the people.
  /// - Returns: False also if nothing was signed.
  func isSigned(by signer: DefaultSigner, table: KeyTable) -> Bool {
    guard let result = unsafe gpgme_op_sign_result(pointer),
      let signature = unsafe result.pointee.signatures, unsafe signature.pointee.next == nil,
      let text = unsafe signature.pointee.fpr,
      let fingerprint = unsafe Fingerprint(String(cString: text))
    else { return false }
    if let key = signer.key { return fingerprint == key }
    return table.keys[signer.person]?.subkeys.contains { $0.fingerprint == fingerprint } == true
  }

  /// Returns the reason why encrypting or signing failed.
  ///
  /// - Parameters:
  ///   - code: The error code of the operation; not 0.
  ///   - signer: The requested signer, or nil.
  /// - Returns: The error, with the key that caused it, if any.
  func sealingFailure(_ code: gpgme_error_t, signer: Fingerprint?) -> EngineError {
    let general = EngineError(code)
    guard case .other = general else { return general }
    if let invalid = unsafe gpgme_op_encrypt_result(pointer)?.pointee.invalid_recipients,
      let text = unsafe invalid.pointee.fpr,
      let fingerprint = unsafe Fingerprint(String(String(cString: text).prefix { $0 != "!" }))
    {
      // The key table lists the key as usable, so gpg has a reason that a listing does not show.
      return .unusableKey(fingerprint, .invalid)
    }
    guard let signer else { return general }
    switch gpgme_err_code(code) {
    case GPG_ERR_NO_SECKEY, GPG_ERR_UNUSABLE_SECKEY, GPG_ERR_INV_VALUE:
      return .unusableKey(signer, .noSecretKey)
    default: break
    }
    let invalid = unsafe gpgme_op_sign_result(pointer)?.pointee.invalid_signers
    return unsafe invalid == nil ? general : .unusableKey(signer, .noSecretKey)
  }
}
