import Foundation
import Encoding
import TestSupport
import Testing

@Suite(.serialized)
struct TimestampTests {
  @Test(
    arguments: [
      ("1970-01-01T00:00:00Z", 0),
      ("1970-01-01T00:00:00.000001Z", 1),
      ("1969-12-31T23:59:59.999999Z", -1),
      ("2026-11-20T18:32:09.123456Z", 1_795_199_529_123_456),
      ("2026-11-20T18:32:09.1Z", 1_795_199_529_100_000),
      ("2026-11-20T18:32:09.12Z", 1_795_199_529_120_000),
      ("2000-02-29T00:00:00Z", 951_782_400_000_000),
      ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
      ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
    ] as [(String, Int64)])
  func `a valid timestamp is read`(text: String, microseconds: Int64) throws {
    let moment = try #require(Timestamp(rfc3339: text))
    #expect(moment.microseconds == microseconds)
    #expect(Timestamp(rfc3339: moment.rfc3339) == moment)
    #expect(moment.rfc3339.utf8.count == 27)
  }

  @Test(arguments: [
    "", "2026-11-20", "2026-11-20T18:32:09", "2026-11-20t18:32:09Z", "2026-11-20T18:32:09z",
    "2026-11-20 18:32:09Z", "2026-11-20T18:32:09.Z", "2026-11-20T18:32:09.1234567Z",
    "2026-11-20T18:32:09,1Z", "2026-11-20T18:32:09+00:00", "2026-11-20T18:32:09.123456+01:00",
    "2026-00-20T18:32:09Z", "2026-13-20T18:32:09Z", "2026-11-00T18:32:09Z", "2026-11-31T18:32:09Z",
    "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-11-20T24:00:00Z", "2026-11-20T18:60:09Z",
    "2026-12-31T23:59:60Z", "0000-01-01T00:00:00Z", "-001-01-01T00:00:00Z", "12026-11-20T18:32:09Z",
    "2026-1a-20T18:32:09Z", "２026-11-20T18:32:09Z", " 2026-11-20T18:32:09Z", "2026-11-20T18:32:09Z\n",
    "2026-11-20T18:32:09-Z", "2026-11-20T18:32:0９Z",
  ])
  func `anything else is not a timestamp`(text: String) {
    #expect(Timestamp(rfc3339: text) == nil)
  }

  @Test(arguments: 0..<20)
  func `dates agree with Foundation's calendar`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      // Foundation uses the Julian calendar before 1582; RFC 3339 does not.
      let second = Int64.random(in: -12_000_000_000...253_402_300_799, using: &generator)
      let text = Date(timeIntervalSince1970: TimeInterval(second)).formatted(.iso8601)
      let moment = try #require(Timestamp(rfc3339: text))
      #expect(moment.microseconds == second * 1_000_000)
      #expect(moment.rfc3339 == text.dropLast() + ".000000Z")
    }
  }

  @Test func `every day of four centuries reads back unchanged`() {
    let day: Int64 = 86_400 * 1_000_000
    for number in 0..<Int64(146_097) {
      let moment = Timestamp(microseconds: number * day)
      // Only failures are recorded, because an expectation for each of so many days would be slow.
      if Timestamp(rfc3339: moment.rfc3339) != moment { Issue.record("day \(number) is \(moment)") }
    }
    #expect(Timestamp(microseconds: 146_096 * day).rfc3339 == "2369-12-31T00:00:00.000000Z")
  }

  @Test func `a time that cannot be written becomes the nearest one that can`() {
    #expect(Timestamp(microseconds: .max) == Timestamp.latest)
    #expect(Timestamp(microseconds: .min) == Timestamp.earliest)
    #expect(Timestamp.earliest.rfc3339 == "0001-01-01T00:00:00.000000Z")
    #expect(Timestamp.latest.rfc3339 == "9999-12-31T23:59:59.999999Z")
  }
}
