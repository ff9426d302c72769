internal import Foundation
internal import Keyring

// Conversions between the values in a dictionary of Foundation objects and the values in the store.

/// An optional that may be wrapped in an `Any` by accident.
private protocol OptionalValue {
  var unwrapped: Any? { get }
}

extension Optional: OptionalValue {
  fileprivate var unwrapped: Any? { self.map { $0 } }
}

extension ItemAttributes {
  /// Returns a value without any optionals around it. Throws for nil and `NSNull`.
  static func present(_ value: Any) throws -> Any {
    var value = value
    while let optional = value as? any OptionalValue {
      guard let inner = optional.unwrapped else { throw SecItemFailure.parameter }
      value = inner
    }
    if value is NSNull { throw SecItemFailure.parameter }
    return value
  }

  /// Returns the value of an attribute as the store keeps it.
  ///
  /// An attribute of text or bytes accepts both, which keep their type, and a number, which becomes text. A number
  /// attribute accepts a number, a Boolean, and text that is a number or a code. A Boolean attribute accepts 0 and 1,
  /// also as text. A date attribute accepts only a date.
  ///
  /// - Throws: `parameter` for any other value.
  static func stored(_ value: Any, for name: AttributeName) throws -> AttributeValue {
    let value = try present(value)
    if plainTexts.contains(name) {
      return .string(word(for: try SecItemRequest.text(value), of: name))
    }
    let kind = AttributeSchema.kind(of: name)
    switch (kind, value) {
    case (.date, let date as Date): return try timestamp(date)
    case (.date, _): throw SecItemFailure.parameter
    case (.boolean, let number as NSNumber):
      guard let integer = integer(number), integer == 0 || integer == 1 else {
        throw SecItemFailure.parameter
      }
      return .boolean(integer == 1)
    case (.boolean, "0" as String): return .boolean(false)
    case (.boolean, "1" as String): return .boolean(true)
    case (.boolean, _): throw SecItemFailure.parameter
    case (.integer, let number as NSNumber):
      guard let integer = integer(number) else { throw SecItemFailure.parameter }
      return .integer(integer)
    case (_, let text as String):
      return AttributeSchema.normalized(name: name, value: .string(word(for: text, of: name)))
    case (.integer, _): throw SecItemFailure.parameter
    case (_, let data as Data):
      // Check the size before copying the data.
      guard data.count <= AttributeSchema.maximumValueSize else { throw SecItemFailure.parameter }
      return .bytes([UInt8](data))
    case (_, let number as NSNumber) where !number.isBoolean: return .string(number.stringValue)
    default: throw SecItemFailure.parameter
    }
  }

  /// Attributes that are always text in Apple's keychain. Most other text attributes also accept bytes and numbers.
  private static let plainTexts: Set<AttributeName> = [.accessible, .tokenID, .syncViewHint]

  /// Returns the timestamp of a date, to the microsecond.
  static func timestamp(_ date: Date) throws -> AttributeValue {
    let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
    let range =
      Double(Timestamp.earliest.microseconds)...Double(Timestamp.latest.microseconds)
    guard range.contains(microseconds) else { throw SecItemFailure.parameter }
    return .date(Timestamp(microseconds: Int64(microseconds)))
  }

  /// Returns the integer that an object represents exactly; nil if there is none within the limits of the store.
  static func integer(_ number: NSNumber) -> Int64? {
    guard let integer = Int64(exactly: number.doubleValue),
      integer.magnitude <= AttributeSchema.maximumInteger.magnitude,
      // The conversion to floating point rounds an integer just beyond the limit to the limit.
      number.int64Value == integer
    else { return nil }
    return integer
  }

  /// Returns a value of the store as a Foundation object.
  static func object(_ value: AttributeValue, of name: AttributeName) -> Any {
    switch value {
    case .string(let text): code(for: text, of: name)
    case .integer(let number): NSNumber(value: number)
    case .boolean(let flag): NSNumber(value: flag)
    case .date(let time): date(time)
    case .bytes(let bytes): Data(bytes)
    }
  }

  static func date(_ time: Timestamp) -> Date {
    Date(timeIntervalSince1970: Double(time.microseconds) / 1_000_000)
  }
}
