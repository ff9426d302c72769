internal import Foundation
internal import Keyring

// Values as they come in a dictionary of Foundation's objects, and as the store keeps them.

/// What may be wrapped in an `Any` without anybody having meant it.
private protocol OptionalValue {
  var unwrapped: Any? { get }
}

extension Optional: OptionalValue {
  fileprivate var unwrapped: Any? { self.map { $0 } }
}

extension ItemAttributes {
  /// A value without the optionals around it; `NSNull`, nil and nothing are refused.
  static func present(_ value: Any) throws(SecItemFailure) -> Any {
    var value = value
    while let optional = value as? any OptionalValue {
      guard let inner = optional.unwrapped else { throw .parameter }
      value = inner
    }
    if value is NSNull { throw .parameter }
    return value
  }

  /// The value of an attribute as the store keeps it.
  ///
  /// Text, bytes and numbers are taken for text and bytes, and keep their type; a number also for a number or a yes
  /// or no; text that is a number for a number; only a date for a date.
  ///
  /// - Throws: `parameter` for any other value.
  static func stored(_ value: Any, for name: AttributeName) throws(SecItemFailure) -> AttributeValue {
    let value = try present(value)
    let kind = AttributeSchema.kind(of: name)
    switch (kind, value) {
    case (.date, let date as Date): return try timestamp(date)
    case (.date, _): throw .parameter
    case (.boolean, let number as NSNumber):
      guard let integer = integer(number), integer == 0 || integer == 1 else { throw .parameter }
      return .boolean(integer == 1)
    case (.boolean, _): throw .parameter
    case (.integer, let number as NSNumber):
      guard let integer = integer(number) else { throw .parameter }
      return .integer(integer)
    case (_, let text as String):
      return AttributeSchema.normalized(name: name, value: .string(word(for: text, of: name)))
    case (.integer, _): throw .parameter
    case (_, let data as Data): return .bytes([UInt8](data))
    case (_, let number as NSNumber): return .string(number.stringValue)
    default: throw .parameter
    }
  }

  /// The moment, to the microsecond.
  static func timestamp(_ date: Date) throws(SecItemFailure) -> AttributeValue {
    let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
    let range =
      Double(Timestamp.earliest.microseconds)...Double(Timestamp.latest.microseconds)
    guard range.contains(microseconds) else { throw .parameter }
    return .date(Timestamp(microseconds: Int64(microseconds)))
  }

  /// The whole number that an object holds exactly, within what the store keeps.
  static func integer(_ number: NSNumber) -> Int64? {
    guard let integer = Int64(exactly: number.doubleValue), abs(integer) <= AttributeSchema.maximumInteger
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
