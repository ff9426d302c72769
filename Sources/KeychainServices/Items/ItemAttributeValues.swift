internal import Foundation
internal import Keyring

// Values as they come in a dictionary of Foundation's objects, and as the store keeps them.

/// An optional that may be wrapped in an `Any` by accident.
private protocol OptionalValue {
  var unwrapped: Any? { get }
}

extension Optional: OptionalValue {
  fileprivate var unwrapped: Any? { self.map { $0 } }
}

extension ItemAttributes {
  /// A value without the optionals around it; `NSNull`, nil and nothing are refused.
  static func present(_ value: Any) throws -> Any {
    var value = value
    while let optional = value as? any OptionalValue {
      guard let inner = optional.unwrapped else { throw SecItemFailure.parameter }
      value = inner
    }
    if value is NSNull { throw SecItemFailure.parameter }
    return value
  }

  /// The value of an attribute as the store keeps it.
  ///
  /// Text and bytes are taken for text and bytes, and keep their type; a number is taken for text as it is written;
  /// a number and a yes or no for a number, and text that is a number or a code; 0 and 1, also as text, for a yes or
  /// no; only a date for a date.
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
      // Refused before it is copied.
      guard data.count <= AttributeSchema.maximumValueSize else { throw SecItemFailure.parameter }
      return .bytes([UInt8](data))
    case (_, let number as NSNumber) where !number.isBoolean: return .string(number.stringValue)
    default: throw SecItemFailure.parameter
    }
  }

  /// Attributes that are text at Apple's, where most of what looks like text may be bytes and numbers as well.
  private static let plainTexts: Set<AttributeName> = [.accessible, .tokenID, .syncViewHint]

  /// The moment, to the microsecond.
  static func timestamp(_ date: Date) throws -> AttributeValue {
    let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
    let range =
      Double(Timestamp.earliest.microseconds)...Double(Timestamp.latest.microseconds)
    guard range.contains(microseconds) else { throw SecItemFailure.parameter }
    return .date(Timestamp(microseconds: Int64(microseconds)))
  }

  /// The whole number that an object holds exactly, within what the store keeps.
  static func integer(_ number: NSNumber) -> Int64? {
    guard let integer = Int64(exactly: number.doubleValue),
      integer.magnitude <= AttributeSchema.maximumInteger.magnitude,
      // A whole number just beyond the limit is rounded to it on its way through floating point.
      number.int64Value == integer
    else { return nil }
    return integer
  }

  /// A value of the store as an object.
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
