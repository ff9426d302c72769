/// What the packet headers of an encrypted message say, read without decrypting and without a process.
///
/// Accepted is one shape only: one or more public-key encrypted session key packets (version 3 or 6), then
/// one integrity-protected container (tag 18, or LibrePGP's tag 20) that ends exactly where the file ends.
/// Everything else is refused before GnuPG sees it: a symmetric message would ask the user for a
/// passphrase, a literal one would pass off plaintext as an item, a second message would be ignored
/// silently. Rules: RFC 9580, 4.2 (headers), 5.1 (session keys), 5.13 (containers).
package struct MessageHeader: Equatable, Sendable {
  /// The kind of encrypted container.
  package enum Container: Sendable, Equatable {
    /// Tag 18: modification detection (version 1) or AEAD (version 2).
    case seipd
    /// Tag 20: OCB as GnuPG 2.3 and later write it.
    case ocb
  }

  /// Ids of the subkeys that can decrypt, in the order of the message.
  package var recipients: [KeyID]
  /// The container that follows.
  package var container: Container
  /// Where the encrypted data is in the message: the body of the container, in parts where its length is partial.
  package var content: [Range<Int>]

  /// Puts the parts together.
  ///
  /// - Parameters:
  ///   - recipients: Ids of the subkeys that can decrypt.
  ///   - container: The container that follows.
  ///   - content: Where the encrypted data is in the message.
  package init(recipients: [KeyID], container: Container, content: [Range<Int>] = []) {
    self.recipients = recipients
    self.container = container
    self.content = content
  }

  /// How many recipients are accepted at most.
  package static let recipientLimit = 1024

  /// Reads the headers of a whole message.
  ///
  /// - Parameters:
  ///   - bytes: The message, all of it.
  ///   - limit: How many bytes the message may have at most.
  /// - Returns: Recipients and container.
  /// - Throws: The first thing that is not as it must be.
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

/// Why a file is not a sealed message.
public enum MessageError: Error, Equatable, Sendable {
  /// The file is empty.
  case empty
  /// It has more bytes than accepted.
  case tooLarge(limit: Int)
  /// It is not binary OpenPGP: armored, or something else altogether.
  case notBinary
  /// A packet of another kind stands where recipients or the container belong.
  case notEncrypted(tag: UInt8)
  /// It can be opened by a passphrase, or only by one.
  case passphrase
  /// Its container is of the old kind that anyone could alter unnoticed (tag 9).
  case noIntegrityProtection
  /// The container comes without a recipient before it.
  case noRecipients
  /// There are more recipients than accepted.
  case tooManyRecipients(limit: Int)
  /// Its container is cut into more parts than accepted.
  case tooManyParts(limit: Int)
  /// It ends too early; a killed gpg leaves recipients without a container.
  case truncated
  /// Something follows the container.
  case trailingData
  /// A length or version is not possible in this place.
  case malformed
}
