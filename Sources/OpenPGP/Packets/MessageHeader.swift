/// The packet headers of an encrypted message, read without decrypting and without a process.
///
/// Only one form is accepted: one or more public-key encrypted session key packets (version 3 or 6), then one
/// integrity-protected container (tag 18, or LibrePGP's tag 20) that ends exactly at the end of the file. Everything
/// else is refused before GnuPG sees it: a symmetric message would prompt the user for a passphrase, a literal one
/// would make plaintext look like an item, and a second message would be ignored silently. Rules: RFC 9580, 4.2
/// (headers), 5.1 (session keys), 5.13 (containers).
package struct MessageHeader: Equatable, Sendable {
  /// The kind of encrypted container.
  package enum Container: Sendable, Equatable {
    /// Tag 18: modification detection (version 1) or AEAD (version 2).
    case seipd
    /// Tag 20: OCB as written by GnuPG 2.3 and later.
    case ocb
  }

  /// The ids of the subkeys that can decrypt, in the order of the message.
  package var recipients: [KeyID]
  /// The container that follows.
  package var container: Container
  /// The position of the encrypted data in the message: the body of the container, as several ranges if it has partial
  /// lengths.
  package var content: [Range<Int>]

  /// Creates a header from its parts.
  ///
  /// - Parameters:
  ///   - recipients: The ids of the subkeys that can decrypt.
  ///   - container: The container that follows.
  ///   - content: The position of the encrypted data in the message.
  package init(recipients: [KeyID], container: Container, content: [Range<Int>] = []) {
    self.recipients = recipients
    self.container = container
    self.content = content
  }

  /// The maximum number of recipients.
  package static let recipientLimit = 1024

  /// Reads the headers of a whole message.
  ///
  /// - Parameters:
  ///   - bytes: The whole message.
  ///   - limit: The maximum size of the message, in bytes.
  /// - Returns: The recipients and the container.
  /// - Throws: The first fault that is found.
  package static func parse(
    _ bytes: UnsafeRawBufferPointer, limit: Int
  ) throws(MessageError) -> MessageHeader {
    if bytes.count > limit { throw .tooLarge(limit: limit) }
    if bytes.count == 0 { throw .empty }
    var reader = unsafe PacketReader(bytes)
    var recipients: [KeyID] = []
    while !reader.isAtEnd {
      let packet = try reader.next()
      switch packet.tag {
      case 1:
        if recipients.count == recipientLimit { throw .tooManyRecipients(limit: recipientLimit) }
        recipients.append(try reader.recipient(in: packet))
      case 3: throw .passphrase
      case 9: throw .noIntegrityProtection
      case 18, 20:
        if recipients.isEmpty { throw .noRecipients }
        try reader.checkVersion(of: packet)
        if !reader.isAtEnd { throw .trailingData }
        return MessageHeader(
          recipients: recipients, container: packet.tag == 18 ? .seipd : .ocb,
          content: [packet.body] + packet.furtherParts)
      default: throw .notEncrypted(tag: packet.tag)
      }
    }
    throw .truncated
  }
}

/// The reasons why a file is not an acceptable encrypted message.
public enum MessageError: Error, Equatable, Sendable {
  /// The file is empty.
  case empty
  /// It has more bytes than the limit.
  case tooLarge(limit: Int)
  /// It is not binary OpenPGP: it is armored, or another format.
  case notBinary
  /// It has a packet of another kind before or instead of the container.
  case notEncrypted(tag: UInt8)
  /// It can be decrypted with a passphrase.
  case passphrase
  /// Its container is of the old kind without integrity protection (tag 9).
  case noIntegrityProtection
  /// The container has no recipient before it.
  case noRecipients
  /// It has more recipients than the limit.
  case tooManyRecipients(limit: Int)
  /// Its container has more parts than the limit.
  case tooManyParts(limit: Int)
  /// It is truncated. If gpg is killed, the file may have recipients without a container.
  case truncated
  /// It has data after the container.
  case trailingData
  /// It has an invalid length or version.
  case malformed
}
