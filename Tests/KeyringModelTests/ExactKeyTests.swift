import KeyringModel
import TestSupport
import Testing

@Suite(.serialized)
struct ExactKeyTests {
  @Test(arguments: 0..<12)
  func `every record that matches a condition has the condition's key`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let records = (0..<40).map { _ in Sample.randomRecord(using: &generator) }
    let keys = records.map { ExactKey.all(of: $0) }
    var hits = 0
    for target in records {
      for _ in 0..<40 {
        let predicate = Sample.randomPredicate(for: target, using: &generator)
        guard let key = ExactKey.of(predicate) else { continue }
        for (record, ownKeys) in zip(records, keys) where predicate.matches(record) {
          hits += 1
          // `#expect` takes much longer than the rest of the loop.
          if !ownKeys.contains(key) { Issue.record("\(predicate) misses \(record)") }
        }
      }
    }
    #expect(hits > 100)
  }

  @Test(
    arguments: [
      .equal(.account, "alice"), .equal(.service, .bytes(Array("mail".utf8))), .equal("url", "u"),
      .equal(.applicationTag, .bytes([0xff])), .id(prefix: "0123456789ABCDEF0123456789abcdef"),
    ] as [Predicate])
  func `equality with text or bytes, and a whole id, have a key`(predicate: Predicate) {
    #expect(ExactKey.of(predicate) != nil)
  }

  @Test(
    arguments: [
      .equal(.account, ""), .equal(.account, 0), .equal(.account, "alice", ignoresCase: true),
      .equal(.port, "443"), .equal(.synchronizable, false), .equal(.group, "default"),
      .equal(.startDate, "2026-11-20T18:32:09Z"), .id(prefix: "01"),
      Predicate(subject: .any, comparison: .equal("alice")),
      Predicate(subject: .attribute(.account), comparison: .prefix("alice")),
    ] as [Predicate])
  func `a condition that other bytes can satisfy has no key`(predicate: Predicate) {
    #expect(ExactKey.of(predicate) == nil)
  }
}
