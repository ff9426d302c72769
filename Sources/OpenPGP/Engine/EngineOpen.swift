internal import CGPGME
internal import KeyringModel
package import Secrets

extension Engine {
  package func open(_ ciphertext: [UInt8], limit: Int) throws(EngineError) -> SecretBytes {
    let header: MessageHeader
    do {
      header = try unsafe ciphertext.span.bytes.withUnsafeBytes { bytes throws(MessageError) in
        // The limit includes the overhead of GnuPG for a secret of the largest size that the caller accepts.
        try unsafe MessageHeader.parse(bytes, limit: max(Self.messageLimit, limit))
      }
    } catch {
      throw .message(error)
    }
    do throws(EngineError) {
      return try withAgent { session throws(EngineError) in
        try decrypt(ciphertext, header: header, limit: limit, session: session)
      }
    } catch {
      if case .notARecipient(let recipients) = error, try agentHasKey(for: recipients) {
        throw .incomplete(detail: "it did not find a secret key that its agent has")
      }
      throw error
    }
  }

  private func decrypt(
    _ ciphertext: [UInt8], header: MessageHeader, limit: Int, session: Session
  ) throws(EngineError) -> SecretBytes {
    let context = try Context(
      program: session.program, home: session.home.path, interaction: interaction, cancellation: cancellation)
    let sink = SecretSink(limit: limit)
    counter.decryptionStarted()
    let code = try unsafe ciphertext.span.bytes.withUnsafeBytes { bytes throws(EngineError) in
      let input = try unsafe DataObject(reading: bytes, isSensitive: false)
      let output = try DataObject(writingTo: sink)
      let (source, target) = unsafe (input.pointer, output.pointer)
      return unsafe context.run { context in
        unsafe gpgme_op_decrypt_start(context, source, target)
      }
    }
    if cancellation?.isCancelled == true { throw .cancelled }
    // Before the checks below the content of the sink must not be used.
    if sink.exceededLimit { throw .tooLarge(limit: limit) }
    // The content of an intact message is data.
    if context.report.hasNestedMessage { throw .corrupt }
    let result = unsafe gpgme_op_decrypt_result(context.pointer)
    guard code == 0 else {
      let error = unsafe Self.failure(code, result: result, header: header)
      switch error {
      case .corrupt, .notEncrypted, .notARecipient:
        if let problem = context.report.systemError { throw .incomplete(detail: problem) }
        if context.report.hasEnded { throw error }
        // libgpgme reports a gpg that has said nothing like one that found no data.
        if context.report.hasReachedContent, try isNotDecompressible(ciphertext, session) { throw .corrupt }
        throw .incomplete(detail: "it did not finish decrypting")
      default: throw error
      }
    }
    // gpg may have checked the message but failed to write all of its content.
    try context.report.requireSuccess()
    if let size = context.report.contentSize, size != sink.count {
      throw .incomplete(detail: "it did not write the whole content")
    }
    guard let result = unsafe result else { throw .corrupt }
    if unsafe result.pointee.legacy_cipher_nomdc != 0 { throw .message(.noIntegrityProtection) }
    if unsafe result.pointee.wrong_key_usage != 0 {
      throw EngineError(gpgme_err_make(GPG_ERR_SOURCE_USER_1, GPG_ERR_WRONG_KEY_USAGE))
    }
    let name = unsafe result.pointee.file_name.map { unsafe String(cString: $0) }
    if acceptsForeignMessages {
      // The secret was encrypted for the readers of its store and would get other readers (threat T54).
      if let name, RecipientName.hasForm(name) { throw .messageOfAStore }
    } else {
      guard name == RecipientName.of(header.recipients) else { throw .alteredRecipients }
    }
    return sink.take()
  }

  // gpg interprets the content of a damaged message before it detects the damage. GnuPG 2.2 aborts if the content looks
  // like another encrypted message, which the status lines show. It ends without a statement if the content looks like
  // compressed data and cannot be decompressed. It says so only in its messages, and libgpgme may drop the last of these.

  /// Decrypts again without a dialog, and returns true if gpg ends because it cannot decompress the content.
  ///
  /// - Throws: `incomplete` if gpg was ended.
  private func isNotDecompressible(_ ciphertext: [UInt8], _ session: Session) throws(EngineError) -> Bool {
    counter.decryptionStarted()
    let output = try ProgramCall.run(
      session.program.path,
      [
        "--homedir", session.home.path, "--batch", "--no-tty", "--pinentry-mode", "error", "--logger-fd", "1",
        "--output", "/dev/null", "--decrypt",
      ], input: ciphertext)
    let problems = ["zlib", "bz2lib"].map { Array("gpg: Fatal: \($0) inflate problem: ".utf8) }
    return output?.split(separator: UInt8(ascii: "\n")).contains { line in
      problems.contains { line.starts(with: $0) }
    } ?? false
  }

  /// The codes of errors in the protocol of the agent, `GPG_ERR_ASS_GENERAL` to `GPG_ERR_ASS_UNKNOWN_INQUIRE`.
  private static let assuanCodes = GPG_ERR_ASS_GENERAL.rawValue...GPG_ERR_ASS_UNKNOWN_INQUIRE.rawValue

  /// The codes of errors in the form of a secret key, `GPG_ERR_SEXP_INV_LEN_SPEC` to `GPG_ERR_SEXP_BAD_OCT_CHAR`. The
  /// agent reports them if the file of the key is truncated. gpg has made the form of what it sends to the agent.
  private static let secretKeyCodes = GPG_ERR_SEXP_INV_LEN_SPEC.rawValue...GPG_ERR_SEXP_BAD_OCT_CHAR.rawValue

  // The code alone is misleading: with several recipients a damaged message is reported as "no secret key". A
  // recipient with the status 0 had a secret key, so the message is damaged.
  private static func failure(
    _ code: gpgme_error_t, result: gpgme_decrypt_result_t?, header: MessageHeader
  ) -> EngineError {
    let general = EngineError(code)
    guard case .other = general, Int(gpgme_err_code(code).rawValue) & SignatureStatements.systemError == 0
    else {
      return general
    }
    var hasKey = false
    var recipient = unsafe result?.pointee.recipients
    while let current = unsafe recipient {
      if unsafe current.pointee.status == 0 { hasKey = true }
      unsafe recipient = current.pointee.next
    }
    switch (gpgme_err_code(code), gpgme_err_source(code)) {
    case (GPG_ERR_NO_SECKEY, _): return hasKey ? .corrupt : .notARecipient(recipients: header.recipients)
    case (GPG_ERR_NO_DATA, _): return hasKey ? .corrupt : .notEncrypted
    case (GPG_ERR_DECRYPT_FAILED, _), (GPG_ERR_BAD_DATA, _), (GPG_ERR_CHECKSUM, _), (GPG_ERR_INV_PACKET, _):
      return .corrupt
    // The agent, the card or the dialog failed; the message may be intact. gpg takes an answer of the agent that it cannot
    // read for an invalid S-expression. The codes of Assuan are about the connection to the agent.
    case let (code, _)
    where Self.assuanCodes.contains(code.rawValue) || Self.secretKeyCodes.contains(code.rawValue):
      return general
    case (_, GPG_ERR_SOURCE_GPGAGENT), (_, GPG_ERR_SOURCE_SCD), (_, GPG_ERR_SOURCE_PINENTRY),
      (GPG_ERR_NO_AGENT, _), (GPG_ERR_AGENT, _), (GPG_ERR_EOF, _), (GPG_ERR_INV_SEXP, _),
      (GPG_ERR_BAD_SECKEY, _):
      return general
    default: return hasKey ? .corrupt : general
    }
  }
}
