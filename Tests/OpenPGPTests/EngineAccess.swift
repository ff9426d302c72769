import Encoding
import Foundation
import KeyringModel
import OpenPGP
import Secrets
import TestSupport

extension Engine {
  /// Creates an engine in the home of a test.
  convenience init(
    _ home: GnuPGHome, people: [GnuPGKey], interaction: Interaction = .never, keyringID: String = "test"
  ) {
    self.init(
      locations: home.locations, keyringID: keyringID, keys: GnuPGKey.files(people),
      interaction: interaction)
  }

  /// Decrypts a message with a limit that no test reaches.
  func opened(_ ciphertext: [UInt8], limit: Int = 2 << 20) throws(EngineError) -> [UInt8] {
    let secret = try open(ciphertext, limit: limit)
    return unsafe secret.withBytes { unsafe Array($0) }
  }

  /// Encrypts bytes that are not secret.
  func sealed(
    _ bytes: [UInt8] = Array("hello".utf8), to people: [GnuPGKey]
  ) throws(EngineError) -> [UInt8] {
    try seal(SecretBytes(copying: bytes), to: people.map(\.fingerprint))
  }

  /// Returns the ids of the newest encryption subkeys of people.
  func newestRecipients(_ people: [GnuPGKey]) throws(EngineError) -> Set<KeyID> {
    let keys = try publicKeys()
    return Set(
      people.compactMap { person in
        keys.first { $0.fingerprint == person.fingerprint }?.subkey(for: .encrypt, at: .now())?.keyID
      })
  }

  /// Signs a line as a person, and returns the fact that the engine reports about the signature.
  func signed(by person: GnuPGKey) throws(EngineError) -> SignatureFact? {
    let message = try signMessage(Array("hello".utf8), signer: person.fingerprint)
    return try verifyMessages([message])[0]
  }
}

/// Parses the header of a message in an array.
func header(of bytes: [UInt8], limit: Int = 2 << 20) throws(MessageError) -> MessageHeader {
  try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(MessageError) in
    try unsafe MessageHeader.parse(bytes, limit: limit)
  }
}
