internal import Encoding
internal import KeyringModel

/// The file name that an encrypted message carries inside: a digest of its recipients.
///
/// The packets in front of a message are not authenticated. A member of one group could add one of these packets to a message
/// of another group, and would then look like a recipient. The literal data packet (RFC 9580, 5.9) is encrypted
/// and authenticated with the plaintext, so its file name tells who the message was encrypted to when it was made.
package enum RecipientName {
  /// Returns the name for a message to these subkeys.
  ///
  /// - Parameter recipients: The ids of the subkeys, in any order.
  /// - Returns: `readers-` and the SHA-256 of the ids, in ascending order, eight bytes each, the highest first; as base64url.
  package static func of(_ recipients: [KeyID]) -> String {
    var bytes: [UInt8] = []
    for id in recipients.sorted() {
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: id.value >> UInt64(shift)))
      }
    }
    return "readers-\(ContentDigest(of: bytes).base64url)"
  }
}
