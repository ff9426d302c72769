import Encoding
import Testing

@Suite(.serialized)
struct PastTimeTests {
  private static let now = Timestamp(rfc3339: "2026-11-24T12:00:00Z") ?? .latest

  @Test(
    arguments: [
      ("yesterday", "2026-11-23T12:00:00Z"), ("YESTERDAY", "2026-11-23T12:00:00Z"),
      ("1 hour ago", "2026-11-24T11:00:00Z"), ("90 minutes ago", "2026-11-24T10:30:00Z"),
      ("3 days ago", "2026-11-21T12:00:00Z"), ("2 weeks ago", "2026-11-10T12:00:00Z"),
      ("1 month ago", "2026-10-25T12:00:00Z"), ("1 year ago", "2025-11-24T12:00:00Z"),
      ("2026-11-01", "2026-11-01T23:59:59.999999Z"), ("2026-11-01 14:30", "2026-11-01T14:30:59.999999Z"),
      ("2026-11-01 14:30:10", "2026-11-01T14:30:10.999999Z"),
      ("2026-11-01T14:30:00Z", "2026-11-01T14:30:00Z"),
      ("2026-11-01T14:30:00+01:00", "2026-11-01T13:30:00Z"),
      ("2026-11-01T22:30:00-05:30", "2026-11-02T04:00:00Z"),
    ])
  func `a time in the past is read as people write it`(text: String, expected: String) {
    #expect(Timestamp(past: text, now: Self.now) == Timestamp(rfc3339: expected))
  }

  @Test(
    arguments: [
      "", "main", "HEAD~3", "deadbeef", "2026-13-01", "2026-02-30", "2026-11-01 25:00", "tomorrow",
      "-1 days ago",
      "x days ago", "3 fortnights ago", "3 days", "ago", "9223372036854775807 years ago", "2026-1-1",
      "2026-11-01T14:30:00+1:00", "2026-11-01T14:30:00++1:00", "2026-11-01T14:30:00+24:00",
    ])
  func `other text is not a time`(text: String) {
    #expect(Timestamp(past: text, now: Self.now) == nil)
  }
}
