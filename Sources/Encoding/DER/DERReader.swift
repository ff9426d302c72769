/// One value of DER (ITU-T X.690): its tag, and where its content and all of it lie.
package struct DERElement<Bytes: RandomAccessCollection>
where Bytes.Element == UInt8, Bytes.Index == Int, Bytes.SubSequence == Bytes {
  /// The identifier octet.
  package let tag: UInt8
  /// The content without identifier and length.
  package let content: Bytes
  /// Identifier, length and content.
  package let whole: Bytes

  /// Reads the values inside this one.
  package var reader: DERReader<Bytes> { DERReader(content) }
}

/// Walks through DER values one after the other; every read answers nil for bytes that are not DER.
///
/// It knows what certificates and keys are made of: identifiers of one octet, and lengths in the one form that
/// DER allows (definite and as short as possible, X.690 section 10.1), at most 2^31.
package struct DERReader<Bytes: RandomAccessCollection>
where Bytes.Element == UInt8, Bytes.Index == Int, Bytes.SubSequence == Bytes {
  private var rest: Bytes

  /// Starts before the first value of some bytes.
  package init(_ bytes: Bytes) {
    rest = bytes
  }

  /// A Boolean value that indicates whether all bytes were read.
  package var isAtEnd: Bool { rest.isEmpty }

  /// The identifier of the next value; nil at the end.
  package var nextTag: UInt8? { rest.first }

  /// Reads the next value.
  ///
  /// - Returns: The value, or nil when there is none or it does not lie wholly inside the bytes.
  package mutating func next() -> DERElement<Bytes>? {
    let whole = rest
    guard let tag = rest.popFirst(), tag & 0x1F != 0x1F, let length = takeLength(), length <= rest.count
    else { return nil }
    let end = rest.startIndex + length
    let content = rest[rest.startIndex..<end]
    rest = rest[end..<rest.endIndex]
    return DERElement(tag: tag, content: content, whole: whole[whole.startIndex..<end])
  }

  /// Reads the next value when it has the wanted identifier.
  ///
  /// - Parameter tag: The identifier octet.
  /// - Returns: The value; nil for any other, which was passed then.
  package mutating func next(_ tag: UInt8) -> DERElement<Bytes>? {
    guard let element = next(), element.tag == tag else { return nil }
    return element
  }

  /// Reads the one value that all of the bytes are.
  ///
  /// - Parameters:
  ///   - bytes: The value and nothing behind it.
  ///   - tag: The identifier octet that it must have.
  package static func only(_ bytes: Bytes, _ tag: UInt8) -> DERElement<Bytes>? {
    var reader = DERReader(bytes)
    guard let element = reader.next(tag), reader.isAtEnd else { return nil }
    return element
  }

  /// Reads an INTEGER that is not negative.
  ///
  /// - Returns: Its magnitude without leading zeros; zero has no bytes.
  package mutating func nextUnsigned() -> Bytes? {
    guard let content = next(DER.integer)?.content, let first = content.first, first < 0x80 else {
      return nil
    }
    guard first == 0 else { return content }
    let magnitude = content.dropFirst()
    // A zero in front is there only to keep the next octet from being a sign (X.690 section 8.3.2).
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

/// Identifiers of DER, and how values are written.
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
  /// The bit of an identifier that says that the content is made of values.
  package static let constructed: UInt8 = 0x20

  /// Returns true if bytes are a sequence of DER values without a gap, and so is the content of every
  /// constructed value.
  ///
  /// - Parameters:
  ///   - bytes: The values.
  ///   - depth: How many values may lie within each other; a certificate needs about ten.
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
  /// - Returns: Identifier, shortest length and content.
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

  /// Writes an INTEGER that is not negative.
  ///
  /// - Parameter magnitude: The number, biggest octet first, without leading zeros.
  package static func encode(unsigned magnitude: some Collection<UInt8>) -> [UInt8] {
    let needsZero = magnitude.first.map { $0 >= 0x80 } ?? true
    return encode(integer, (needsZero ? [0] : []) + Array(magnitude))
  }
}
