extension Timestamp {
  /// Reads a time in the past as people write it, in UTC.
  ///
  /// - Parameters:
  ///   - text: `yesterday`, `3 days ago` (minutes, hours, days, weeks, months of 30 days, years of 365 days), a date
  ///     `2026-11-01`, which means the end of that day, a date and a time `2026-11-01 14:30`, or RFC 3339, with any
  ///     offset. The result is nil for any other text.
  ///   - now: The current time.
  package init?(past text: String, now: Timestamp) {
    if let time = Timestamp(rfc3339: text) ?? Self.withOffset(text) {
      self = time
      return
    }
    let words = text.lowercased().split(separator: " ")
    if let seconds = Self.age(words) {
      let (age, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
      guard !overflow else { return nil }
      self.init(microseconds: now.microseconds - min(age, now.microseconds))
      return
    }
    // A date and a time without seconds, zone or the letter T.
    switch words.map(\.utf8.count) {
    case [10]: self.init(rfc3339: "\(words[0])T23:59:59.999999Z")
    case [10, 5]: self.init(rfc3339: "\(words[0])T\(words[1]):59.999999Z")
    case [10, 8]: self.init(rfc3339: "\(words[0])T\(words[1]).999999Z")
    default: return nil
    }
  }

  /// Reads a time with an offset from UTC, such as `2026-11-01T14:30:00+01:00`.
  private static func withOffset(_ text: String) -> Timestamp? {
    let (time, offset) = (text.dropLast(6), Array(text.utf8.suffix(6)))
    let digits = [1, 2, 4, 5].compactMap { $0 < offset.count ? offset[$0] : nil }
    guard digits.count == 4, digits.allSatisfy({ (0x30...0x39).contains($0) }),
      offset[3] == UInt8(ascii: ":"), let utc = Timestamp(rfc3339: time + "Z"),
      let hours = Int64(String(decoding: offset[1...2], as: UTF8.self)), (0...23).contains(hours),
      let minutes = Int64(String(decoding: offset[4...5], as: UTF8.self)), (0...59).contains(minutes)
    else { return nil }
    let microseconds = (hours * 60 + minutes) * 60_000_000
    switch offset[0] {
    case UInt8(ascii: "+"): return Timestamp(microseconds: utc.microseconds - microseconds)
    case UInt8(ascii: "-"): return Timestamp(microseconds: utc.microseconds + microseconds)
    default: return nil
    }
  }

  /// Returns the seconds of an age; nil for other words.
  private static func age(_ words: [Substring]) -> Int64? {
    if words == ["yesterday"] { return day }
    guard words.count == 3, words[2] == "ago", let count = Int64(words[0]), count >= 0 else { return nil }
    let unit = words[1].hasSuffix("s") ? words[1].dropLast() : words[1]
    guard let seconds = units.first(where: { $0.name == unit })?.seconds else { return nil }
    let (age, overflow) = count.multipliedReportingOverflow(by: seconds)
    return overflow ? nil : age
  }

  private static let day: Int64 = 86_400
  private static let units: [(name: Substring, seconds: Int64)] = [
    ("minute", 60), ("hour", 3600), ("day", day), ("week", 7 * day), ("month", 30 * day), ("year", 365 * day),
  ]
}
