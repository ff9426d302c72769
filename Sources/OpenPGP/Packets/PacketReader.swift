/// Reads the packets of an OpenPGP message by their headers (RFC 9580, 4.2).
///
/// Every length is compared with the remaining size before it is used, so no input causes a read out of bounds or
/// takes more than linear time. A reader must not outlive its bytes: `MessageHeader.parse` keeps it local.
@safe
struct PacketReader: ~Copyable {
  /// A packet's tag, and the position of its body. When a packet is returned, the reader is positioned after it.
  struct Packet {
    var tag: UInt8
    /// The first part of the body. It is the whole body unless the packet has partial lengths.
    var body: Range<Int>
    var isWhole: Bool
    /// The other parts of a body with partial lengths.
    var furtherParts: [Range<Int>] = []
  }

  /// The maximum number of parts of a packet after the first one. GnuPG writes parts of 8 KiB. A message of the
  /// maximum size in parts of one byte would have a million (threat T46).
  static let partLimit = 4096

  private let bytes: UnsafeRawBufferPointer
  private let count: Int
  private var position = 0
  private let acceptsLongLengths: Bool

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - bytes: The packets.
  ///   - acceptsLongLengths: True to accept a length in a longer form than necessary, which old programs write in key
  ///     files.
  init(_ bytes: UnsafeRawBufferPointer, acceptsLongLengths: Bool = false) {
    unsafe self.bytes = bytes
    count = bytes.count
    self.acceptsLongLengths = acceptsLongLengths
  }

  var isAtEnd: Bool { position == count }

  mutating func next() throws(MessageError) -> Packet {
    let first = try byte()
    guard first & 0x80 != 0 else { throw position == 1 ? .notBinary : .trailingData }
    return first & 0x40 != 0 ? try newPacket(tag: first & 0x3F) : try oldPacket(first)
  }

  /// Returns the key id in a public-key encrypted session key packet.
  func recipient(in packet: Packet) throws(MessageError) -> KeyID {
    // Only containers may have partial lengths (RFC 9580, 4.2.1.4).
    guard packet.isWhole, !packet.body.isEmpty else { throw .malformed }
    let start = packet.body.lowerBound
    switch unsafe bytes[start] {
    case 3:
      // Version, key id, algorithm, and at least one byte of key material.
      guard packet.body.count >= 11 else { throw .malformed }
      return number(at: start + 1)
    case 6:
      guard packet.body.count >= 4 else { throw .malformed }
      let length = unsafe Int(bytes[start + 1])
      if length == 0 { return .hidden }
      guard packet.body.count >= 2 + length + 2 else { throw .malformed }
      // The id is the end of a version 4 fingerprint, and the start of a version 6 one (RFC 9580, 5.5.4).
      switch (unsafe bytes[start + 2], length) {
      case (4, 21): return number(at: start + 3 + 12)
      case (6, 33): return number(at: start + 3)
      default: throw .malformed
      }
    default: throw .malformed
    }
  }

  /// Checks that a container has an existing version.
  func checkVersion(of packet: Packet) throws(MessageError) {
    guard !packet.body.isEmpty else { throw .truncated }
    let version = unsafe bytes[packet.body.lowerBound]
    // Version 2 of tag 18 is AEAD as in RFC 9580; tag 20 has version 1 only.
    guard version == 1 || (version == 2 && packet.tag == 18) else { throw .malformed }
  }

  private mutating func newPacket(tag: UInt8) throws(MessageError) -> Packet {
    let first = try newLength()
    let body = try take(first.length)
    if !first.isPartial { return Packet(tag: tag, body: body, isWhole: true) }
    // The first part has at least 512 bytes; the parts after it may be of any size (RFC 9580, 4.2.1.4).
    guard first.length >= 512, tag != 1, tag != 3 else { throw .malformed }
    var parts: [Range<Int>] = []
    while true {
      guard parts.count < Self.partLimit else { throw .tooManyParts(limit: Self.partLimit) }
      let part = try newLength()
      parts.append(try take(part.length))
      if !part.isPartial { return Packet(tag: tag, body: body, isWhole: false, furtherParts: parts) }
    }
  }

  private mutating func oldPacket(_ first: UInt8) throws(MessageError) -> Packet {
    let tag = first >> 2 & 0x0F
    let length: Int
    switch first & 3 {
    case 0: length = Int(try byte())
    case 1: length = try bigEndian(2, notBelow: 1 << 8)
    case 2: length = try bigEndian(4, notBelow: 1 << 16)
    // Indeterminate length, to the end of the file: GnuPG does not write it for encrypted or signed data.
    default: throw .malformed
    }
    return Packet(tag: tag, body: try take(length), isWhole: true)
  }

  private mutating func newLength() throws(MessageError) -> (length: Int, isPartial: Bool) {
    let first = Int(try byte())
    switch first {
    case ..<192: return (first, false)
    case ..<224: return ((first - 192) << 8 + Int(try byte()) + 192, false)
    case 255: return (try bigEndian(4, notBelow: 8384), false)
    default: return (1 << (first & 31), true)
    }
  }

  /// Reads a length. Usually rejects a longer form than necessary: each length has only one form, so the same packets
  /// cannot be written as a different file.
  private mutating func bigEndian(_ count: Int, notBelow least: Int) throws(MessageError) -> Int {
    var value = 0
    for _ in 0..<count { value = value << 8 | Int(try byte()) }
    guard value >= least || acceptsLongLengths else { throw .malformed }
    return value
  }

  private mutating func byte() throws(MessageError) -> UInt8 {
    guard position < count else { throw .truncated }
    defer { position += 1 }
    return unsafe bytes[position]
  }

  private mutating func take(_ length: Int) throws(MessageError) -> Range<Int> {
    guard length <= count - position else { throw .truncated }
    defer { position += length }
    return position..<(position + length)
  }

  private func number(at start: Int) -> KeyID {
    var value: UInt64 = 0
    for offset in 0..<8 { value = unsafe value << 8 | UInt64(bytes[start + offset]) }
    return KeyID(value: value)
  }
}
