internal import Encoding
package import KeyringModel
package import Secrets

/// A salted digest of a secret. The process that clears the clipboard knows only this digest.
package struct ClipboardMark: Equatable {
  /// The identifier of one `--clip`, and the salt of the digest.
  package let turn: Identifier<ClipboardMark>
  private let digest: ContentDigest

  /// Creates the mark of a secret that was just copied to the clipboard.
  package init(of secret: borrowing SecretBytes) {
    var random = SystemRandomNumberGenerator()
    turn = Identifier(using: &random)
    digest = Self.digest(of: secret, salt: turn)
  }

  /// Parses the form that `text` returns.
  package init?(_ text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard words.count == 2, let turn = Identifier<ClipboardMark>(hex: words[0]),
      let digest = ContentDigest(base64url: words[1])
    else { return nil }
    (self.turn, self.digest) = (turn, digest)
  }

  /// The mark on one line.
  package var text: String { "\(turn.hex) \(digest.base64url)" }

  /// Returns true if the given content of the clipboard is the secret.
  package func matches(_ content: borrowing SecretBytes) -> Bool {
    Self.digest(of: content, salt: turn) == digest
  }

  private static func digest(of secret: borrowing SecretBytes, salt: Identifier<ClipboardMark>)
    -> ContentDigest
  {
    var salted = SecretBytes(capacity: secret.count + 32)
    salted.append(salt.hex)
    salted.append(secret)
    return unsafe salted.withBytes { unsafe ContentDigest(of: $0) }
  }
}
