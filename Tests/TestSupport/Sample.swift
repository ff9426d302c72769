internal import Encoding
package import KeyringModel

/// A generator with a seed, so that a test that fails can be repeated.
package struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    // splitmix64
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
    return word ^ (word >> 31)
  }
}

/// Sample records and texts.
package enum Sample {
  /// Texts that are similar to each other, and texts that are difficult for parsers.
  package static let texts: [String] = [
    "", "a", "A", "alice", "Alice", "ALICE", "alice ", "bob", "github.com", "GitHub.com", "git", "hub",
    "\u{e9}", "e\u{301}", "\u{212a}", "k", "stra\u{df}e", "\u{130}", "a\"b", "a\\b", "a\nb", "a\u{0}b",
    "\u{1b}[2J", "\u{7f}", "22", "022", "443", "0", "1", "-1", "true", "base64", "{\"base64\":\"YQ==\"}",
    "2026-11-20T18:32:09.000000Z", "2026-11-20T18:32:09Z", "\u{1f511}", "\u{202e}", "default", "https",
    "generic-password", "\\u0061",
  ]

  package static let bytes: [[UInt8]] = [
    [], Array("alice".utf8), Array("22".utf8), [0xff], [0xff, 0x61], [0xc3], [0x61, 0, 0x62], Array("a".utf8),
  ]

  package static func record(
    _ attributes: Attributes, itemClass: ItemClass = .internetPassword, group: String = "default",
    seed: UInt64 = 1, id: ItemID? = nil
  ) -> ItemRecord {
    var generator = SeededGenerator(seed: seed)
    let created = Timestamp(microseconds: 1_700_000_000_000_000 + Int64(seed) * 1_003)
    return ItemRecord(
      itemClass: itemClass, id: id ?? ItemID(using: &generator), revision: Revision(using: &generator),
      created: created, modified: created, secretModified: created, group: group,
      sealed: ContentDigest(of: [UInt8(truncatingIfNeeded: seed)]), attributes: attributes)
  }

  /// Returns a random value that an attribute of this type may have.
  package static func value(
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

  package static let customNames: [AttributeName] = ["url", "tags", "e\u{301}", "\u{e9}", "a\"b", "Server"]

  /// Returns a record as the store would keep it: random class, some attributes, normalised values.
  package static func randomRecord(using generator: inout SeededGenerator) -> ItemRecord {
    let itemClass = ItemClass.allCases.randomElement(using: &generator) ?? .key
    var attributes = Attributes()
    let names = AttributeSchema.names(of: itemClass) + customNames
    for _ in 0..<Int.random(in: 0..<10, using: &generator) {
      guard let name = names.randomElement(using: &generator) else { continue }
      var value = value(AttributeSchema.kind(of: name) ?? .string, using: &generator)
      if name == .field { value = ["otp", "note", "x-1", ""].randomElement(using: &generator) ?? "" }
      attributes[name] = AttributeSchema.normalized(name: name, value: value)
    }
    let group = ["default", "ops", "Ops"].randomElement(using: &generator) ?? "default"
    return record(attributes, itemClass: itemClass, group: group, seed: generator.next() >> 32)
  }

  /// Returns a random condition, which may match the item.
  package static func randomPredicate(
    for record: ItemRecord, using generator: inout SeededGenerator
  ) -> Predicate {
    let own = record.attributes.entries.randomElement(using: &generator)
    let names: [AttributeName] =
      [.group, .itemClass, .id, .created, .synchronizable]
      + AttributeSchema.names(of: record.itemClass) + customNames
    let isAboutContainer = Int.random(in: 0..<6, using: &generator) == 0
    var name =
      Int.random(in: 0..<3, using: &generator) > 0 ? own?.name : names.randomElement(using: &generator)
    if isAboutContainer { name = record.containerName }
    var value = own?.value ?? ""
    if let name, let stored = record.value(of: name) { value = stored }
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: value = Sample.value(.string, using: &generator)
    case 1: value = value.contentBytes.map(AttributeValue.bytes) ?? value
    case 2: value = value.contentBytes.map(AttributeValue.init(text:)) ?? value
    case 3: if case .integer(let number) = value { value = .string(String(number)) }
    default: break
    }
    let content = value.contentBytes ?? Array("4".utf8)
    let cut = Int.random(in: 0...content.count, using: &generator)
    let end = Int.random(in: cut...content.count, using: &generator)
    let comparison: Predicate.Comparison
    switch Int.random(in: 0..<7, using: &generator) {
    case 0, 1: comparison = .equal(value)
    case 2: comparison = .prefix(AttributeValue(text: Array(content[..<cut])))
    case 3: comparison = .suffix(AttributeValue(text: Array(content[cut...])))
    case 4: comparison = .contains(AttributeValue(text: Array(content[cut..<end])))
    case 5: comparison = .exists
    default: comparison = .after(Timestamp(microseconds: 0))
    }
    let subject: Predicate.Subject
    switch Int.random(in: 0..<8, using: &generator) {
    case 0: subject = .id(prefix: String(record.id.hex.prefix(Int.random(in: 1...32, using: &generator))))
    case 1: subject = .path(record.path)
    case 2, 3: subject = .any
    default: subject = isAboutContainer ? .container : .attribute(name ?? .label)
    }
    let ignoresCase = Int.random(in: 0..<4, using: &generator) == 0
    return Predicate(subject: subject, comparison: comparison, ignoresCase: ignoresCase)
  }

  /// Returns a random query, which may find one or more of the items.
  package static func randomQuery(
    about records: [ItemRecord], using generator: inout SeededGenerator
  ) -> Query {
    guard let target = records.randomElement(using: &generator) else { return Query() }
    let limits: [Query.Limit] = [.one, .count(2), .all, .all]
    var query = Query(limit: limits.randomElement(using: &generator) ?? .all)
    if Bool.random(using: &generator) { query.itemClass = target.itemClass }
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: query.predicates = [.path(target.path)]
    case 1:
      let names = AttributeSchema.primaryKey(of: target.itemClass)
      query.predicates = names.map { .equal($0, target.attributes[$0] ?? "") }
    case 2:
      query.predicates = target.attributes.entries.prefix(3).map { .equal($0.name, $0.value) }
    default:
      query.predicates = (0..<Int.random(in: 0..<3, using: &generator)).map { _ in
        randomPredicate(for: target, using: &generator)
      }
    }
    return query
  }
}
