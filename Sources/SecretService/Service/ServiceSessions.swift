internal import KeyringModel

extension SecretService {
  /// `OpenSession`.
  ///
  /// - Throws: `notSupported` for an unknown algorithm, `invalidArguments`, `limitsExceeded`, `failed`.
  package func openSession(
    _ algorithm: String, _ input: SessionInput, for sender: Sender
  ) throws -> (output: SessionOutput, session: ObjectPath) {
    try senders.checkSession(of: sender)
    let (cipher, output) = try SessionCipher.negotiate(algorithm, input)
    return (output, ObjectPath(try senders.open(cipher, for: sender)))
  }

  /// `Session.Close`.
  package func close(_ session: SessionID, for sender: Sender) { senders.close(session, of: sender) }
}
