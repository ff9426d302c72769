internal import Encoding
internal import KeyringModel

/// The file name inside an encrypted message: a digest of its recipients.
///
/// The packets before the encrypted data are not authenticated. A member of one group could add such a packet to a
/// message of another group, and would then look like a recipient. The literal data packet (RFC 9580, 5.9) is
/// encrypted and authenticated with the plaintext, so its file name proves the original recipients.
package enum RecipientName {
  private static let prefix = "readers-"

  /// Returns true if the file name in a message has the form of such a digest. Only Keytree writes such names, so the
  /// message is the secret of an item of a store.
  static func hasForm(_ name: String) -> Bool { name.hasPrefix(prefix) }

  /// Returns the name for a message that is encrypted to these subkeys.
  ///
  /// - Parameter recipients: The ids of the subkeys, in any order.
  /// - Returns: `readers-` and the base64url form of a SHA-256 digest over the ids in ascending order, each as eight
  ///   bytes in big-endian order.
  package static func of(_ recipients: [KeyID]) -> String {
    var bytes: [UInt8] = []
    for id in recipients.sorted() {
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: id.value >> UInt64(shift)))
      }
    }
    return "\(prefix)\(ContentDigest(of: bytes).base64url)"
  }
}
