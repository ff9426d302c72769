/// A signed message in the only form that this program writes: a one-pass signature, literal data, a signature, and
/// nothing else (RFC 9580, 10.3). Not compressed.
///
/// The content is read from the packets here. It is the content that gpg verifies, because the form has only one
/// literal packet and one signature over it.
package struct SignedMessage: Equatable, Sendable {
  /// The signed bytes.
  package let content: [UInt8]

  /// The maximum size of a message, in bytes: a line of text and a signature of any size.
  package static let maximumSize = 16 << 10

  /// Reads a message.
  ///
  /// - Parameter bytes: The whole message.
  /// - Returns: nil if the message has any other form. The signature is not verified.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count <= Self.maximumSize else { return nil }
    let body: Range<Int>?
    do throws(MessageError) {
      body = try unsafe bytes.span.bytes.withUnsafeBytes { buffer throws(MessageError) in
        try unsafe Self.literalBody(in: buffer)
      }
    } catch {
      return nil
    }
    // Format, name, and four bytes of a date come before the content (RFC 9580, 5.9).
    guard let body, body.count >= 6, bytes[body.lowerBound] == UInt8(ascii: "b") else { return nil }
    let start = body.lowerBound + 2 + Int(bytes[body.lowerBound + 1]) + 4
    guard start <= body.upperBound else { return nil }
    content = Array(bytes[start..<body.upperBound])
  }

  private static func literalBody(in buffer: UnsafeRawBufferPointer) throws(MessageError) -> Range<Int>? {
    var reader = unsafe PacketReader(buffer)
    let onePass = try reader.next()
    let literal = try reader.next()
    let signature = try reader.next()
    let packets = [onePass, literal, signature]
    guard packets.map(\.tag) == [4, 11, 2], packets.allSatisfy(\.isWhole), reader.isAtEnd else { return nil }
    return literal.body
  }
}
