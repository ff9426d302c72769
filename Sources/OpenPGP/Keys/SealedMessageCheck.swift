internal import KeyringModel

/// A check after encrypting: the message must have the requested recipients, whatever the configuration of gpg is.
enum SealedMessageCheck {
  /// Checks a new message by its packet headers.
  ///
  /// - Parameters:
  ///   - bytes: The message.
  ///   - expected: The subkeys that must be able to decrypt it.
  ///   - people: The primary fingerprints of the same people.
  ///   - table: The keys of these people, used to explain a failure.
  /// - Throws: `wrongRecipients` when the message is not encrypted to exactly these subkeys, or is not a binary,
  ///   integrity-protected message for public keys only; `incomplete` when its end is missing.
  static func check(
    _ bytes: [UInt8], expected: [KeyID], people: [Fingerprint], table: KeyTable
  ) throws(EngineError) {
    let found: [KeyID]
    do {
      found = try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(MessageError) in
        // This program made the message, so its size is not limited.
        try unsafe MessageHeader.parse(bytes, limit: .max).recipients
      }
    } catch {
      if error == .truncated || error == .empty {
        throw .incomplete(detail: "it did not write the whole message")
      }
      throw .wrongRecipients(expected: expected.sorted(), found: [], hint: hint(for: error))
    }
    guard found.sorted() != expected.sorted() else { return }
    throw .wrongRecipients(
      expected: expected.sorted(), found: found.sorted(),
      hint: hint(expected: expected, found: found, people: people, table: table))
  }

  private static func hint(for error: MessageError) -> String? {
    switch error {
    case .notBinary: "armor"
    case .noIntegrityProtection: "rfc2440"
    case .passphrase: "symmetric"
    default: nil
    }
  }

  private static func hint(
    expected: [KeyID], found: [KeyID], people: [Fingerprint], table: KeyTable
  ) -> String? {
    if found.contains(.hidden) { return "throw-keyids" }
    var extra = found
    var isMissing = false
    for id in expected {
      if let index = extra.firstIndex(of: id) { extra.remove(at: index) } else { isMissing = true }
    }
    if isMissing { return "group" }
    // GnuPG 2.4.1 and later also encrypt to a subkey that its owner marked for that (ADSK).
    let isOwn = extra.allSatisfy { id in people.contains { table.claims(id, by: $0) } }
    return isOwn ? "adsk" : "encrypt-to"
  }
}
