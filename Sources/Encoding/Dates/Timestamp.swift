internal import Glibc

/// A moment in UTC with microsecond precision, which is written as RFC 3339 text.
public struct Timestamp: Hashable, Comparable, Sendable {
  /// Microseconds since 1970-01-01T00:00:00Z; negative before.
  public let microseconds: Int64

  /// The earliest moment that can be written, 0001-01-01T00:00:00Z.
  public static let earliest = Timestamp(unchecked: -62_135_596_800 * 1_000_000)

  /// The latest moment that can be written, 9999-12-31T23:59:59.999999Z.
  public static let latest = Timestamp(unchecked: 253_402_300_800 * 1_000_000 - 1)

  /// Creates a moment from a number of microseconds.
  ///
  /// - Parameter microseconds: Microseconds since 1970-01-01T00:00:00Z. Moments that RFC 3339 cannot express, because
  ///   its years have four digits, become ``earliest`` or ``latest``.
  public init(microseconds: Int64) {
    let range = Timestamp.earliest.microseconds...Timestamp.latest.microseconds
    self.microseconds = min(max(microseconds, range.lowerBound), range.upperBound)
  }

  private init(unchecked microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// Returns the current time of the system, `clock_gettime(2)` with `CLOCK_REALTIME`.
  @Sendable public static func now() -> Timestamp {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }

  /// Reads a moment in UTC.
  ///
  /// - Parameter text: A text such as `2026-11-20T18:32:09Z`, with at most six fractional digits. Other time zones,
  ///   lower-case letters, leap seconds and dates that do not exist are not accepted, so that a moment has few
  ///   spellings.
  public init?(rfc3339 text: String) {
    let text = Array(text.utf8)
    guard let moment = unsafe text.span.withUnsafeBytes({ unsafe Timestamp(rfc3339: $0) }) else {
      return nil
    }
    self = moment
  }

  package init?(rfc3339 text: UnsafeRawBufferPointer) {
    guard let microseconds = unsafe Timestamp.parse(text) else { return nil }
    self.init(unchecked: microseconds)
  }

  /// The moment as text, always with six fractional digits: `2026-11-20T18:32:09.123456Z`.
  public var rfc3339: String {
    let second: Int64 = 1_000_000
    let day = 86_400 * second
    let days = microseconds.flooredQuotient(by: day)
    let time = microseconds - days * day
    let date = CivilDate(daysSince1970: days)
    var text: [UInt8] = []
    text.reserveCapacity(27)
    func append(_ number: Int64, digits: Int, then separator: Unicode.Scalar) {
      var divisor: Int64 = 1
      for _ in 1..<digits { divisor *= 10 }
      for _ in 0..<digits {
        text.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
        divisor /= 10
      }
      text.append(UInt8(ascii: separator))
    }
    append(date.year, digits: 4, then: "-")
    append(date.month, digits: 2, then: "-")
    append(date.day, digits: 2, then: "T")
    append(time / (3600 * second), digits: 2, then: ":")
    append(time / (60 * second) % 60, digits: 2, then: ":")
    append(time / second % 60, digits: 2, then: ".")
    append(time % second, digits: 6, then: "Z")
    return String(decoding: text, as: UTF8.self)
  }

  /// Orders moments by time.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.microseconds < right.microseconds
  }

  private static func parse(_ text: UnsafeRawBufferPointer) -> Int64? {
    func number(_ start: Int, _ count: Int) -> Int64? {
      var value: Int64 = 0
      for index in start..<start + count {
        let byte = unsafe text[index]
        guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
        value = value * 10 + Int64(byte - UInt8(ascii: "0"))
      }
      return value
    }
    func has(_ scalar: Unicode.Scalar, at index: Int) -> Bool {
      unsafe text[index] == UInt8(ascii: scalar)
    }
    guard text.count == 20 || (22...27).contains(text.count), has("Z", at: text.count - 1) else {
      return nil
    }
    guard let year = number(0, 4), has("-", at: 4), let month = number(5, 2), has("-", at: 7),
      let day = number(8, 2), has("T", at: 10), let hour = number(11, 2), has(":", at: 13),
      let minute = number(14, 2), has(":", at: 16), let second = number(17, 2)
    else { return nil }
    var fraction: Int64 = 0
    if text.count > 20 {
      let digits = text.count - 21
      guard has(".", at: 19), let value = number(20, digits) else { return nil }
      fraction = value
      for _ in digits..<6 { fraction *= 10 }
    }
    let date = CivilDate(year: year, month: month, day: day)
    guard date.exists, hour < 24, minute < 60, second < 60 else { return nil }
    let seconds = date.daysSince1970 * 86_400 + hour * 3600 + minute * 60 + second
    return seconds * 1_000_000 + fraction
  }
}

extension Timestamp: CustomStringConvertible {
  /// The same as ``rfc3339``.
  public var description: String { rfc3339 }
}
