internal import Encoding

/// A random 128-bit number that permanently identifies one thing.
///
/// The type parameter keeps identifiers of different things apart; it holds no data.
public struct Identifier<Subject>: Hashable, Sendable {
  private let high: UInt64
  private let low: UInt64

  /// Generates a new identifier. Collisions are practically impossible for any number of items.
  ///
  /// - Parameter generator: The source of randomness. Tests pass a reproducible one.
  package init(using generator: inout some RandomNumberGenerator) {
    high = generator.next()
    low = generator.next()
  }

  /// Parses the form that ``hex`` writes.
  ///
  /// - Parameter hex: Exactly 32 lower-case hexadecimal digits; anything else gives nil.
  public init?(hex: String) {
    let digits = Array(hex.utf8)
    guard let identifier = unsafe digits.span.withUnsafeBytes({ unsafe Self(digits: $0) }) else {
      return nil
    }
    self = identifier
  }

  init?(digits: UnsafeRawBufferPointer) {
    guard digits.count == 32, let high = unsafe Hexadecimal.word(digits, from: 0),
      let low = unsafe Hexadecimal.word(digits, from: 16)
    else { return nil }
    self.high = high
    self.low = low
  }

  /// The identifier as 32 lower-case hexadecimal digits, the only written form.
  public var hex: String {
    var bytes: [UInt8] = []
    for word in [high, low] {
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
      }
    }
    return Hexadecimal.text(bytes)
  }
}

extension Identifier: CustomStringConvertible {
  /// The same as ``hex``.
  public var description: String { hex }
}
