import Foundation
import KeyringModel
import OpenPGP
import Secrets
import TestSupport

/// An opened message whose plaintext a test may copy.
struct Opened: Equatable {
  var bytes: [UInt8]
  var signatures: [SignatureFact]
}

extension Engine {
  /// An engine in a test's home.
  convenience init(
    _ home: GnuPGHome, people: [GnuPGKey], interaction: Interaction = .never, keyringID: String = "test"
  ) {
    self.init(
      locations: home.locations, keyringID: keyringID, keys: GnuPGKey.files(people),
      interaction: interaction)
  }

  /// Opens a message with a limit that no test reaches by chance.
  func opened(_ ciphertext: [UInt8], limit: Int = 2 << 20) throws(EngineError) -> Opened {
    let message = try open(ciphertext, limit: limit)
    let bytes = unsafe message.plaintext.withBytes { unsafe Array($0) }
    return Opened(bytes: bytes, signatures: message.signatures)
  }

  /// Seals bytes that are no secret.
  func sealed(
    _ bytes: [UInt8] = Array("hello".utf8), to people: [GnuPGKey], signer: GnuPGKey? = nil
  ) throws(EngineError) -> [UInt8] {
    try seal(
      SecretBytes(copying: bytes), to: people.map(\.fingerprint), signer: signer?.fingerprint)
  }
}

/// Reads the headers of a message that is held in an array.
func header(of bytes: [UInt8], limit: Int = 2 << 20) throws(MessageError) -> MessageHeader {
  try unsafe bytes.span.bytes.withUnsafeBytes { bytes throws(MessageError) in
    try unsafe MessageHeader.parse(bytes, limit: limit)
  }
}
