internal import CGPGME
package import KeyringModel
internal import Synchronization

extension Engine {
  package func signDetached(_ bytes: [UInt8], signer: Fingerprint) throws(EngineError) -> [UInt8] {
    try home().table.checkSigner(signer, at: Self.now)
    return try withSigner(signer) { session, isNamed throws(EngineError) in
      try sign(bytes, as: .detached, signer: signer, isNamed: isNamed, session: session)
    }
  }

  package func signMessage(_ content: [UInt8], signer: Fingerprint) throws(EngineError) -> [UInt8] {
    try home().table.checkSigner(signer, at: Self.now)
    let message = try withSigner(signer) { session, isNamed throws(EngineError) in
      try sign(content, as: .message, signer: signer, isNamed: isNamed, session: session)
    }
    // What a configuration of the system has changed, such as compression, is not stored.
    guard SignedMessage(message)?.content == content else { throw .corrupt }
    return message
  }

  /// The form of a signature.
  private enum SignatureForm {
    /// Armored, beside the bytes.
    case detached
    /// Binary, with the bytes.
    case message
  }

  private func sign(
    _ bytes: [UInt8], as form: SignatureForm, signer: Fingerprint, isNamed: Bool, session: Session
  ) throws(EngineError) -> [UInt8]? {
    let context = try Context(
      program: session.program, home: session.home.path, interaction: interaction)
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
        unsafe gpgme_op_sign(context, source, target, mode)
      }
    }
    guard code == 0 else { throw context.sealingFailure(code, signer: signer) }
    return context.isSigned(by: signer, table: session.home.table) ? output.bytes() : nil
  }

  package func verifyDetached(
    signature: [UInt8], of bytes: [UInt8]
  ) throws(EngineError) -> [SignatureFact] {
    let session = try session()
    let context = try Context(program: session.program, home: session.home.path, interaction: .never)
    counter.processStarted()
    let code = try unsafe signature.span.bytes.withUnsafeBytes { signature throws(EngineError) in
      let signatureData = try unsafe DataObject(reading: signature, isSensitive: false)
      return try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(EngineError) in
        let content = try unsafe DataObject(reading: bytes, isSensitive: false)
        let (source, text) = unsafe (signatureData.pointer, content.pointer)
        return unsafe context.run { context in
          unsafe gpgme_op_verify(context, source, text, nil)
        }
      }
    }
    switch gpgme_err_code(code) {
    case GPG_ERR_NO_ERROR: return context.signatures(table: session.home.table)
    // There is no signature in what was given as one.
    case GPG_ERR_NO_DATA, GPG_ERR_BAD_DATA: return []
    default: throw EngineError(code)
    }
  }

  /// Runs an operation that signs.
  ///
  /// The signer usually is the engine home's default, which costs nothing. When the home has another
  /// default, or gpg chose another key, the signer is named to libgpgme, which costs one more process, once. Who signs a
  /// lot is named as well: for a default gpg asks each time whether there is a card, and where no card daemon is
  /// installed the agent tries to start it each time.
  ///
  /// - Parameters:
  ///   - signer: Who signs.
  ///   - operation: Gets the session, and whether the signer has to be named. Returns nil when someone else's
  ///     key signed.
  /// - Returns: What the operation returns.
  /// - Throws: What the operation throws; `unusableKey` when gpg will not sign with that key.
  func withSigner<R>(
    _ signer: Fingerprint,
    _ operation: (Session, _ isNamed: Bool) throws(EngineError) -> R?
  ) throws(EngineError) -> R {
    try withAgent { session throws(EngineError) in
      if signings.add(1, ordering: .relaxed).newValue > Self.patience {
        if let result = try operation(session, true) { return result }
        throw .unusableKey(signer, .noSecretKey)
      }
      let current = session.home.defaultSigner
      if current == nil { try session.home.adoptDefaultSigner(signer) }
      if current == nil || current == signer, let result = try operation(session, false) { return result }
      if let result = try operation(session, true) { return result }
      throw .unusableKey(signer, .noSecretKey)
    }
  }
}

extension Engine {
  /// How often somebody signs before it is worth a process to name her.
  private static let patience = 8

  /// The key object of a signer, asked for once.
  func key(of signer: Fingerprint, in session: Session) throws(EngineError) -> SignerKey {
    // Mutex.withLock does not keep the type of the error.
    let result = signerKeys.withLock { keys in
      Result { () throws(EngineError) in
        if let known = keys[signer] { return known }
        let key = SignerKey(try tools().key(signer, home: session.home.path))
        keys[signer] = key
        return key
      }
    }
    return try result.get()
  }
}

/// A key object that several contexts use at once: libgpgme counts the references under a lock of its own, and changes
/// nothing else about it.
final class SignerKey: @unchecked Sendable {
  private let key: KeyObject
  init(_ key: consuming KeyObject) { self.key = key }

  /// Names it to a context as the one who signs.
  ///
  /// - Throws: When memory runs out.
  func name(to context: borrowing Context) throws(EngineError) {
    let code = unsafe gpgme_signers_add(context.pointer, key.pointer)
    if code != 0 { throw EngineError(code) }
  }
}

extension Context {
  /// Names the key that signs.
  ///
  /// - Parameter key: A key object of the same home.
  /// - Throws: When memory runs out.
  func addSigner(_ key: SignerKey) throws(EngineError) { try key.name(to: self) }

  /// Whether the last operation was signed by a person, and by nobody else.
  ///
  /// - Parameters:
  ///   - signer: The primary fingerprint.
  ///   - table: Knows the person's subkeys.
  /// - Returns: False also when nothing was signed.
  func isSigned(by signer: Fingerprint, table: KeyTable) -> Bool {
    guard let result = unsafe gpgme_op_sign_result(pointer),
      let signature = unsafe result.pointee.signatures, unsafe signature.pointee.next == nil,
      let text = unsafe signature.pointee.fpr,
      let fingerprint = unsafe Fingerprint(String(cString: text))
    else { return false }
    return table.keys[signer]?.subkeys.contains { $0.fingerprint == fingerprint } == true
  }

  /// Explains why encrypting or signing failed.
  ///
  /// - Parameters:
  ///   - code: What the operation returned; not 0.
  ///   - signer: Who was to sign, or nil.
  /// - Returns: The error, naming the key when one is to blame.
  func sealingFailure(_ code: gpgme_error_t, signer: Fingerprint?) -> EngineError {
    let general = EngineError(code)
    guard case .other = general else { return general }
    if let invalid = unsafe gpgme_op_encrypt_result(pointer)?.pointee.invalid_recipients,
      let text = unsafe invalid.pointee.fpr,
      let fingerprint = unsafe Fingerprint(String(cString: text))
    {
      // The key table said that the key is fine, so gpg has a reason that a listing does not show.
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
