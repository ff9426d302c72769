import KeyringModel

/// A generator that repeats, so that a failing law can be run again.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    // splitmix64
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
    return word ^ (word >> 31)
  }
}

/// Records and texts to test with.
enum Sample {
  /// Texts that are alike in one way or another, and texts that parsers stumble over.
  static let texts: [String] = [
    "", "a", "A", "alice", "Alice", "ALICE", "alice ", "bob", "github.com", "GitHub.com", "git", "hub",
    "\u{e9}", "e\u{301}", "\u{212a}", "k", "stra\u{df}e", "\u{130}", "a\"b", "a\\b", "a\nb", "a\u{0}b",
    "\u{1b}[2J", "\u{7f}", "22", "022", "443", "0", "1", "-1", "true", "base64", "{\"base64\":\"YQ==\"}",
    "2026-11-20T18:32:09.000000Z", "2026-11-20T18:32:09Z", "\u{1f511}", "\u{202e}", "default", "https",
    "generic-password", "\\u0061",
  ]

  static let bytes: [[UInt8]] = [
    [], Array("alice".utf8), Array("22".utf8), [0xff], [0xff, 0x61], [0xc3], [0x61, 0, 0x62], Array("a".utf8),
  ]

  static func record(
    _ attributes: Attributes, itemClass: ItemClass = .internetPassword, group: String = "default",
    seed: UInt64 = 1
  ) -> ItemRecord {
    var generator = SeededGenerator(seed: seed)
    let created = Timestamp(microseconds: 1_700_000_000_000_000 + Int64(seed) * 1_003)
    return ItemRecord(
      itemClass: itemClass, id: ItemID(using: &generator), revision: Revision(using: &generator),
      created: created, modified: created, secretModified: created, group: group,
      sealed: ContentDigest(of: [UInt8(truncatingIfNeeded: seed)]), attributes: attributes)
  }

  /// A value that an attribute of this type may have.
  static func value(
    _ kind: AttributeKind, using generator: inout some RandomNumberGenerator
  ) -> AttributeValue {
    switch kind {
    case .string, .bytes:
      if Int.random(in: 0..<5, using: &generator) == 0 {
        return .bytes(bytes.randomElement(using: &generator) ?? [])
      }
      return .string(texts.randomElement(using: &generator) ?? "")
    case .integer:
      if Bool.random(using: &generator) {
        return .integer([-1, 0, 1, 22, 443, 1 << 53].randomElement(using: &generator) ?? 0)
      }
      return .string(texts.randomElement(using: &generator) ?? "")
    case .boolean: return .boolean(Bool.random(using: &generator))
    case .date:
      let moments: [Int64] = [0, 1, 1_795_199_529_000_000, -1]
      return .date(Timestamp(microseconds: moments.randomElement(using: &generator) ?? 0))
    }
  }

  static let customNames: [AttributeName] = ["url", "tags", "e\u{301}", "\u{e9}", "a\"b", "Server"]

  /// A record as the store would hold it: random class, some attributes, values normalised.
  static func randomRecord(using generator: inout SeededGenerator) -> ItemRecord {
    let itemClass = ItemClass.allCases.randomElement(using: &generator) ?? .key
    var attributes = Attributes()
    let names = AttributeSchema.names(of: itemClass) + customNames
    for _ in 0..<Int.random(in: 0..<10, using: &generator) {
      guard let name = names.randomElement(using: &generator) else { continue }
      let value = value(AttributeSchema.kind(of: name) ?? .string, using: &generator)
      attributes[name] = AttributeSchema.normalized(name: name, value: value)
    }
    let group = ["default", "ops", "Ops"].randomElement(using: &generator) ?? "default"
    return record(attributes, itemClass: itemClass, group: group, seed: generator.next() >> 32)
  }
}
