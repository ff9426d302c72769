import OpenPGP
import Testing

/// Builds messages byte by byte, to test the parser alone.
enum Packets {
  static func new(_ tag: UInt8, _ body: [UInt8]) -> [UInt8] {
    let length: [UInt8]
    switch body.count {
    case ..<192: length = [UInt8(body.count)]
    case ..<8384:
      length = [UInt8((body.count - 192) >> 8 + 192), UInt8(truncatingIfNeeded: body.count - 192)]
    default: length = [255] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: body.count >> $0) }
    }
    return [0xC0 | tag] + length + body
  }

  static func recipient(_ id: UInt64) -> [UInt8] {
    new(1, [3] + (0..<8).map { UInt8(truncatingIfNeeded: id >> (56 - 8 * $0)) } + [18, 1, 2, 3])
  }

  static let container = new(18, [1] + [UInt8](repeating: 7, count: 40))
}

@Suite(.serialized) struct MessageHeaderTests {
  struct Accepted: CustomTestStringConvertible {
    var testDescription: String
    var bytes: [UInt8]
    var header: MessageHeader

    init(_ name: String, _ bytes: [UInt8], _ ids: [UInt64], _ container: MessageHeader.Container = .seipd) {
      testDescription = name
      self.bytes = bytes
      header = MessageHeader(recipients: ids.map { KeyID(value: $0) }, container: container)
    }
  }

  static let one = Packets.recipient(0x0102_0304_0506_0708)
  static let body = [UInt8](repeating: 9, count: 600)

  static func old(_ id: UInt8, size: Int) -> [UInt8] {
    [3, 0, 0, 0, 0, 0, 0, 0, id] + [UInt8](repeating: 1, count: size - 9)
  }

  static let accepted = [
    Accepted("one recipient", one + Packets.container, [0x0102_0304_0506_0708]),
    Accepted("two recipients", one + Packets.recipient(2) + Packets.container, [0x0102_0304_0506_0708, 2]),
    Accepted("a hidden recipient", Packets.recipient(0) + Packets.container, [0]),
    Accepted("OCB of GnuPG 2.3", one + Packets.new(20, [1, 9, 2, 16] + body), [0x0102_0304_0506_0708], .ocb),
    Accepted("AEAD of RFC 9580", one + Packets.new(18, [2, 9, 2, 16] + body), [0x0102_0304_0506_0708]),
    Accepted(
      "old format lengths of 1, 2 and 4 bytes",
      [0x84, 12, 3, 0, 0, 0, 0, 0, 0, 0, 5, 1, 1, 1] + [0x85, 1, 0] + old(6, size: 256)
        + [0x86, 0, 1, 0, 0] + old(7, size: 1 << 16) + Packets.container, [5, 6, 7]),
    Accepted(
      "two-byte length", one + [0xD2, 192, 0] + [1] + [UInt8](repeating: 0, count: 191),
      [0x0102_0304_0506_0708]),
    Accepted(
      "partial lengths up to the end of the file",
      one + [0xD2, 0xE9, 1] + [UInt8](repeating: 0, count: 511) + [0xE0, 5, 3, 1, 2, 3],
      [0x0102_0304_0506_0708]),
    Accepted(
      "version 6 recipient with a version 4 fingerprint",
      Packets.new(1, [6, 21, 4] + [UInt8](repeating: 1, count: 12) + [0, 0, 0, 0, 0, 0, 0, 9] + [25, 1, 1])
        + Packets.container, [9]),
    Accepted(
      "version 6 recipient with a version 6 fingerprint",
      Packets.new(1, [6, 33, 6] + [0, 0, 0, 0, 0, 0, 0, 8] + [UInt8](repeating: 1, count: 24) + [25, 1, 1])
        + Packets.container, [8]),
    Accepted("version 6 recipient, anonymous", Packets.new(1, [6, 0, 25, 1, 1]) + Packets.container, [0]),
  ]

  @Test(arguments: accepted)
  func `messages of every allowed form are read`(message: Accepted) throws {
    let found = try header(of: message.bytes)
    #expect(found.recipients == message.header.recipients)
    #expect(found.container == message.header.container)
    #expect(found.content.last?.upperBound == message.bytes.count)
  }

  /// Returns a message with a container that is split into a first part and parts of one byte.
  private static func parts(_ count: Int) -> [UInt8] {
    let first = [0xD2, 0xE9, 1] + [UInt8](repeating: 0, count: 511)
    return one + first + [UInt8](repeating: 0xE0, count: 2 * (count - 1)) + [1, 7]
  }

  @Test func `a container in more parts than GnuPG writes is refused`() throws {
    #expect(try header(of: Self.parts(4096)).content.count == 4097)
    #expect(throws: MessageError.tooManyParts(limit: 4096)) { try header(of: Self.parts(4097)) }
  }

  struct Refused: CustomTestStringConvertible {
    var testDescription: String
    var bytes: [UInt8]
    var error: MessageError

    init(_ name: String, _ bytes: [UInt8], _ error: MessageError) {
      testDescription = name
      self.bytes = bytes
      self.error = error
    }
  }

  static let refused = [
    Refused("nothing", [], .empty),
    Refused("zeros", [0, 0, 0, 0], .notBinary),
    Refused("text", Array("-----BEGIN PGP MESSAGE-----".utf8), .notBinary),
    Refused("recipients only", one, .truncated),
    Refused("container only", Packets.container, .noRecipients),
    Refused("passphrase", Packets.new(3, [4, 9, 0, 8]) + Packets.container, .passphrase),
    Refused(
      "passphrase beside a recipient", one + Packets.new(3, [4, 9, 0, 8]) + Packets.container, .passphrase),
    Refused("old container", one + Packets.new(9, body), .noIntegrityProtection),
    Refused("literal", Packets.new(11, body), .notEncrypted(tag: 11)),
    Refused("one-pass signature", Packets.new(4, body), .notEncrypted(tag: 4)),
    Refused("signature", Packets.new(2, body), .notEncrypted(tag: 2)),
    Refused("compressed", Packets.new(8, body), .notEncrypted(tag: 8)),
    Refused(
      "a marker packet", Packets.new(10, Array("PGP".utf8)) + one + Packets.container,
      .notEncrypted(tag: 10)),
    Refused(
      "a length of five bytes that needs one",
      [0xC1, 255, 0, 0, 0, 12] + one.dropFirst(2) + Packets.container,
      .malformed),
    Refused(
      "a length of two bytes that needs one", [0x85, 0, 12] + one.dropFirst(2) + Packets.container,
      .malformed),
    Refused(
      "a length of four bytes that needs two", [0x86, 0, 0, 1, 0] + old(6, size: 256) + Packets.container,
      .malformed),
    Refused(
      "a container whose length is longer than it needs",
      one + [0xD2, 255, 0, 0, 0, 41] + Packets.container.dropFirst(2),
      .malformed),
    Refused("key", Packets.new(6, body), .notEncrypted(tag: 6)),
    Refused("literal after a recipient", one + Packets.new(11, body), .notEncrypted(tag: 11)),
    Refused("two messages", one + Packets.container + one + Packets.container, .trailingData),
    Refused("a newline at the end", one + Packets.container + [10], .trailingData),
    Refused("literal at the end", one + Packets.container + Packets.new(11, body), .trailingData),
    Refused("truncated container", one + Packets.container.dropLast(), .truncated),
    Refused("container longer than the file", one + [0xD2, 255, 255, 255, 255, 255, 1], .truncated),
    Refused("empty container", one + [0xD2, 0], .truncated),
    Refused("container of an unknown version", one + Packets.new(18, [3] + body), .malformed),
    Refused("OCB of an unknown version", one + Packets.new(20, [2] + body), .malformed),
    Refused(
      "recipient in parts", [0xC1, 0xE9] + [UInt8](repeating: 3, count: 512) + [0] + Packets.container,
      .malformed),
    Refused("recipient without a length", [0x87, 3, 0, 0, 0, 0, 0, 0, 0, 5, 1, 1, 1], .malformed),
    Refused("recipient too short", Packets.new(1, [3, 1, 2]) + Packets.container, .malformed),
    Refused("recipient of an unknown version", Packets.new(1, [4] + body) + Packets.container, .malformed),
    Refused(
      "recipient with an impossible fingerprint",
      Packets.new(1, [6, 20, 4] + body) + Packets.container, .malformed),
    Refused(
      "first part too small", one + [0xD2, 0xE8] + [UInt8](repeating: 1, count: 256) + [0], .malformed),
    Refused(
      "partial lengths without an end", one + [0xD2, 0xE9] + [UInt8](repeating: 1, count: 512), .truncated),
    Refused(
      "too many recipients",
      [UInt8]((0...1024).flatMap { Packets.recipient(UInt64($0)) }) + Packets.container,
      .tooManyRecipients(limit: 1024)),
  ]

  @Test(arguments: refused)
  func `everything else is refused with the reason`(message: Refused) {
    #expect(throws: message.error) { try header(of: message.bytes) }
  }

  @Test func `a file over the limit is refused without being read`() {
    #expect(throws: MessageError.tooLarge(limit: 10)) {
      try header(of: Self.one + Packets.container, limit: 10)
    }
  }

  @Test func `a message truncated anywhere is refused`() {
    for message in Self.accepted {
      for length in 0..<message.bytes.count where length < 700 || length % 997 == 0 {
        #expect(throws: MessageError.self) { try header(of: Array(message.bytes.prefix(length))) }
      }
    }
  }

  @Test func `none of 100,000 inputs makes the parser read out of bounds or report too many recipients`() {
    var random = Xorshift(state: 0x2545_F491_4F6C_DD1D)
    let seeds =
      (Self.accepted + Self.accepted).map(\.bytes).filter { $0.count < 2000 }
      + Self.refused.map(\.bytes).filter { $0.count < 2000 }
    var sound = 0
    for _ in 0..<100_000 {
      var bytes = seeds[Int(random.next() % UInt64(seeds.count))]
      for _ in 0...(random.next() % 4) where !bytes.isEmpty {
        let place = Int(random.next() % UInt64(bytes.count))
        switch random.next() % 4 {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
        default: bytes.removeSubrange(place...)
        }
      }
      guard let header = try? header(of: bytes) else { continue }
      sound += 1
      // A recipient takes at least 6 bytes, a container at least 3.
      if header.recipients.isEmpty || header.recipients.count * 6 + 3 > bytes.count {
        Issue.record("\(header.recipients.count) recipients in \(bytes.count) bytes: \(bytes)")
      }
    }
    // If it were 0, only the first packet would have been tested.
    #expect(sound > 1000)
  }

  @Test func `a key id has exactly 16 digits`() {
    #expect(KeyID("C11945FA7D8856D8")?.text == "C11945FA7D8856D8")
    #expect(KeyID("c11945fa7d8856d8")?.text == "C11945FA7D8856D8")
    #expect(KeyID(value: 1).text == "0000000000000001")
    for text in [
      "", "C11945FA7D8856D", "C11945FA7D8856D88", "+11945FA7D8856D8", "0xC11945FA7D8856", "é11945FA7D8856D",
    ] {
      #expect(KeyID(text) == nil)
    }
  }
}

/// Pseudo-random numbers that are the same in every run.
struct Xorshift: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}
