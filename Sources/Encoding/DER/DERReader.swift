/// A DER value (ITU-T X.690): its tag, its content, and its whole encoding.
package struct DERElement<Bytes: RandomAccessCollection>
where Bytes.Element == UInt8, Bytes.Index == Int, Bytes.SubSequence == Bytes {
  /// The identifier octet.
  package let tag: UInt8
  /// The content octets.
  package let content: Bytes
  /// The whole encoding: identifier, length and content.
  package let whole: Bytes

  /// A reader of the values inside this one.
  package var reader: DERReader<Bytes> { DERReader(content) }
}

/// Reads DER values in sequence. Each read returns nil for bytes that are not DER.
///
/// It supports the subset that certificates and keys use: identifiers of one octet, and lengths up to 2^31 in the only
/// form that DER allows (definite and as short as possible, X.690 section 10.1).
package struct DERReader<Bytes: RandomAccessCollection>
where Bytes.Element == UInt8, Bytes.Index == Int, Bytes.SubSequence == Bytes {
  private var rest: Bytes

  /// Creates a reader at the start of the bytes.
  package init(_ bytes: Bytes) {
    rest = bytes
  }

  /// True if all bytes were read.
  package var isAtEnd: Bool { rest.isEmpty }

  /// The identifier of the next value; nil at the end.
  package var nextTag: UInt8? { rest.first }

  /// Reads the next value.
  ///
  /// - Returns: The value; nil if there is none, or if it extends beyond the end of the bytes.
  package mutating func next() -> DERElement<Bytes>? {
    let whole = rest
    guard let tag = rest.popFirst(), tag & 0x1F != 0x1F, let length = takeLength(), length <= rest.count
    else { return nil }
    let end = rest.startIndex + length
    let content = rest[rest.startIndex..<end]
    rest = rest[end..<rest.endIndex]
    return DERElement(tag: tag, content: content, whole: whole[whole.startIndex..<end])
  }

  /// Reads the next value, which must have the given identifier.
  ///
  /// - Parameter tag: The identifier octet.
  /// - Returns: The value; nil if it has another identifier, in which case it was read nevertheless.
  package mutating func next(_ tag: UInt8) -> DERElement<Bytes>? {
    guard let element = next(), element.tag == tag else { return nil }
    return element
  }

  /// Reads bytes that consist of exactly one value.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - tag: The identifier octet that the value must have.
  package static func only(_ bytes: Bytes, _ tag: UInt8) -> DERElement<Bytes>? {
    var reader = DERReader(bytes)
    guard let element = reader.next(tag), reader.isAtEnd else { return nil }
    return element
  }

  /// Reads a nonnegative INTEGER.
  ///
  /// - Returns: Its magnitude without leading zeros; zero has no bytes.
  package mutating func nextUnsigned() -> Bytes? {
    guard let content = next(DER.integer)?.content, let first = content.first, first < 0x80 else {
      return nil
    }
    guard first == 0 else { return content }
    let magnitude = content.dropFirst()
    // A leading zero is allowed only if the next octet would otherwise set the sign bit (X.690 section 8.3.2).
    guard magnitude.first.map({ $0 >= 0x80 }) ?? true else { return nil }
    return magnitude
  }

  private mutating func takeLength() -> Int? {
    guard let first = rest.popFirst() else { return nil }
    if first < 0x80 { return Int(first) }
    let count = Int(first & 0x7F)
    guard (1...4).contains(count), rest.count >= count, rest.first != 0 else { return nil }
    var length = 0
    for _ in 0..<count {
      guard let byte = rest.popFirst() else { return nil }
      length = length << 8 | Int(byte)
    }
    return length >= 0x80 && length <= Int(Int32.max) ? length : nil
  }
}

/// Identifiers of DER types, and functions that check and write values.
package enum DER {
  package static let integer: UInt8 = 0x02
  package static let bitString: UInt8 = 0x03
  package static let octetString: UInt8 = 0x04
  package static let objectIdentifier: UInt8 = 0x06
  package static let utf8String: UInt8 = 0x0C
  package static let numericString: UInt8 = 0x12
  package static let printableString: UInt8 = 0x13
  package static let teletexString: UInt8 = 0x14
  package static let ia5String: UInt8 = 0x16
  package static let visibleString: UInt8 = 0x1A
  package static let universalString: UInt8 = 0x1C
  package static let bmpString: UInt8 = 0x1E
  package static let sequence: UInt8 = 0x30
  package static let set: UInt8 = 0x31
  /// The bit of an identifier that marks a constructed value, whose content consists of values.
  package static let constructed: UInt8 = 0x20

  /// Returns true if the bytes are a contiguous sequence of DER values, and so is the content of every constructed
  /// value.
  ///
  /// - Parameters:
  ///   - bytes: The values.
  ///   - depth: The maximum nesting depth. A certificate needs about ten.
  package static func isWellFormed(_ bytes: ArraySlice<UInt8>, depth: Int = 32) -> Bool {
    var reader = DERReader(bytes)
    while !reader.isAtEnd {
      guard let element = reader.next() else { return false }
      guard element.tag & constructed != 0 else { continue }
      guard depth > 1, isWellFormed(element.content, depth: depth - 1) else { return false }
    }
    return true
  }

  /// Writes one value.
  ///
  /// - Parameters:
  ///   - tag: The identifier octet.
  ///   - content: The content.
  /// - Returns: The identifier, the length in its shortest form, and the content.
  package static func encode(_ tag: UInt8, _ content: some Collection<UInt8>) -> [UInt8] {
    let count = content.count
    var bytes = [tag]
    if count < 0x80 {
      bytes.append(UInt8(count))
    } else {
      let octets = (Int.bitWidth - count.leadingZeroBitCount + 7) / 8
      bytes.append(0x80 | UInt8(octets))
      for octet in (0..<octets).reversed() { bytes.append(UInt8(count >> (8 * octet) & 0xFF)) }
    }
    bytes.append(contentsOf: content)
    return bytes
  }

  /// Writes a nonnegative INTEGER.
  ///
  /// - Parameter magnitude: The number in big-endian order, without leading zeros.
  package static func encode(unsigned magnitude: some Collection<UInt8>) -> [UInt8] {
    let needsZero = magnitude.first.map { $0 >= 0x80 } ?? true
    return encode(integer, (needsZero ? [0] : []) + Array(magnitude))
  }
}
