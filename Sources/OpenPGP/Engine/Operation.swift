internal import CGPGME
internal import Encoding
internal import KeyringModel
internal import Secrets

extension Context {
  /// Runs an operation of libgpgme on a stack that is wiped afterwards.
  ///
  /// - Parameter operation: The call, which gets the context.
  /// - Returns: The operation's error code, 0 when it succeeded.
  func run(_ operation: (gpgme_ctx_t) -> gpgme_error_t) -> gpgme_error_t {
    let context = unsafe pointer
    var code: gpgme_error_t = 0
    WipedStack.run { code = unsafe operation(context) }
    return code
  }

  /// Returns the signatures that the last operation verified.
  ///
  /// - Parameter table: The keys of the people, used to find the signers.
  /// - Returns: One fact for each signature, in the order of the message.
  func signatures(table: KeyTable) -> [SignatureFact] {
    var facts: [SignatureFact] = []
    var next = unsafe gpgme_op_verify_result(pointer)?.pointee.signatures
    while let signature = unsafe next {
      let key = unsafe signature.pointee.fpr.flatMap { unsafe Fingerprint(String(cString: $0)) }
      let status: SignatureFact.Status =
        switch unsafe gpgme_err_code(signature.pointee.status) {
        case GPG_ERR_NO_ERROR: unsafe signature.pointee.wrong_key_usage != 0 ? .bad : .good
        case GPG_ERR_KEY_EXPIRED: .expiredKey
        case GPG_ERR_CERT_REVOKED: .revokedKey
        case GPG_ERR_NO_PUBKEY: .unknownKey
        // Bad and expired signatures and unknown algorithms: a caller must not accept any of them.
        default: .bad
        }
      facts.append(
        SignatureFact(
          primary: key.flatMap { table.owner(of: $0) }, key: key, status: status,
          created: Timestamp(seconds: Int(clamping: unsafe signature.pointee.timestamp))))
      unsafe next = signature.pointee.next
    }
    return facts
  }
}
