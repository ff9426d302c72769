import KeyringModel
import TestSupport
import Testing

@Suite(.serialized)
struct QueryPlanTests {
  static func candidates(in file: [UInt8], for query: Query) -> [(line: [UInt8], number: Int)] {
    var found: [(line: [UInt8], number: Int)] = []
    var counter = ShardScanner.LineCounter()
    unsafe file.withUnsafeBytes { shard in
      unsafe ShardScanner.candidates(in: shard, needles: QueryPlan(query).needles) { line, offset in
        unsafe found.append((Array(line), counter.number(at: offset, in: shard)))
      }
    }
    return found
  }

  // MARK: Shards

  static let whole: [Predicate] = [
    .equal(.account, "alice"), .equal(.server, "github.com"), .equal(.securityDomain, ""),
    .equal(.protocol, ""), .equal(.field, ""), .equal(.authenticationType, 0), .equal(.port, 0),
    .equal(.path, ""),
    .equal(.group, "default"), .equal(.synchronizable, false),
  ]

  @Test func `a whole primary key is in one shard`() {
    #expect(QueryPlan(Query(itemClass: .internetPassword, predicates: Self.whole)).shards == .one(0x33))
    let path = ItemPath(validating: "internet-password/github.com/alice")
    #expect(QueryPlan(Query(predicates: path.map { [.path($0)] } ?? [])).shards == .one(0x33))
  }

  @Test(arguments: whole.indices)
  func `an incomplete primary key is in one of 16 shards, and without its server in any shard`(index: Int) {
    let shards: QueryPlan.Shards = Self.whole[index].subject == .attribute(.server) ? .all : .rows([0x30])
    var predicates = Self.whole
    predicates.remove(at: index)
    #expect(QueryPlan(Query(itemClass: .internetPassword, predicates: predicates)).shards == shards)
    predicates = Self.whole
    predicates[index].ignoresCase = true
    #expect(QueryPlan(Query(itemClass: .internetPassword, predicates: predicates)).shards == shards)
    #expect(QueryPlan(Query(predicates: Self.whole)).shards == .rows([0x30]))
  }

  @Test func `an empty server or service determines the shard only together with the class`() {
    for (name, itemClass) in [
      (AttributeName.server, ItemClass.internetPassword), (.service, .genericPassword),
    ] {
      let empty = [Predicate.equal(name, "")]
      #expect(QueryPlan(Query(predicates: empty)).shards == .all)
      let path = ItemPathTests.path(itemClass, [:])
      #expect(QueryPlan(Query(itemClass: itemClass, predicates: empty)).shards == .rows([path.shard & 0xf0]))
    }
  }

  @Test func `a container of any class is in 16 shards, or in 32 if keys show it in another form`() {
    #expect(QueryPlan(Query(predicates: [.container(Array("github.com".utf8))])).shards == .rows([0x30]))
    let binary: [UInt8] = [0xFF]
    let rows = [ItemClass.genericPassword, .key].map { itemClass in
      ItemPathTests.path(itemClass, [.service: .bytes(binary), .applicationTag: .bytes(binary)]).shard & 0xf0
    }
    #expect(QueryPlan(Query(predicates: [.container(binary)])).shards == .rows(rows.sorted()))
    #expect(QueryPlan(Query(itemClass: .key, predicates: [.container(binary)])).shards == .rows([rows[1]]))
    #expect(Set(rows).count == 2)
    var ignoringCase = Predicate.container(Array("github.com".utf8))
    ignoringCase.ignoresCase = true
    #expect(QueryPlan(Query(predicates: [ignoringCase])).shards == .all)
  }

  @Test(
    arguments: [
      (.internetPassword, [:], ""), (.key, [:], ""), (.certificate, [.issuer: .bytes([])], ""),
      (.genericPassword, [.service: "a\nb"], "a\nb"), (.key, [.applicationTag: "a\nb"], "a\nb"),
      (.certificate, [.issuer: .bytes(Array("CA".utf8))], "CA"),
      (.key, [.applicationTag: .bytes([0x64])], "d"),
      (.key, [.applicationTag: "", .applicationLabel: "label"], "label"),
      (.key, [.applicationTag: "tag", .applicationLabel: "label"], "tag"),
      (.internetPassword, [.server: "h", .field: "otp"], "h"),
    ] as [(ItemClass, Attributes, String)])
  func `a container finds its item in the planned shards`(
    itemClass: ItemClass, attributes: Attributes, content: String
  ) throws {
    var generator = SeededGenerator(seed: 1)
    var record = Sample.randomRecord(using: &generator)
    (record.itemClass, record.attributes) = (itemClass, attributes)
    for isGiven in [false, true] {
      var query = Query(itemClass: isGiven ? itemClass : nil, predicates: [.container(Array(content.utf8))])
      query.includesFields = true
      #expect(query.matches(record))
      #expect(QueryPlan(query).shards.contains(record.path.shard))
      #expect(!Query(predicates: [.container(Array("other".utf8))]).matches(record))
      let line = try IndexLine.encode(record) + [UInt8(ascii: "\n")]
      #expect(Self.candidates(in: line, for: query).count == 1)
    }
  }

  // MARK: Soundness

  /// Returns the same content in other bytes: escapes, white space, fewer digits.
  static func respelled(_ line: [UInt8], using generator: inout SeededGenerator) throws -> [UInt8] {
    let text = String(decoding: line, as: UTF8.self)
    let respelled =
      switch Int.random(in: 0..<7, using: &generator) {
      case 0: text.replacing("\":", with: "\" : ") + "\r"
      case 1: text.replacing(".000000Z", with: "Z")
      case 2: text.replacing("\"a", with: "\"\\u0061")
      case 3: text.replacing("{\"base64\"", with: "{ \"b\\u0061se64\"")
      case 4: text.replacing("{\"base64\"", with: "{\t\"base64\"")
      case 5: text.replacing("/", with: "\\/")
      default: text
      }
    // Inside a text, the same replacement changes the content.
    let isSame = try IndexLine.parse(Array(respelled.utf8)) == IndexLine.parse(line)
    return isSame ? Array(respelled.utf8) : line
  }

  @Test(arguments: 0..<4)
  func `every line that matches is a candidate, in the planned shard`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let records = (0..<30).map { _ in Sample.randomRecord(using: &generator) }
    var file: [UInt8] = []
    for record in records {
      file += try Self.respelled(try IndexLine.encode(record), using: &generator) + [UInt8(ascii: "\n")]
    }
    var hits = 0
    for _ in 0..<100 {
      guard let target = records.randomElement(using: &generator) else { continue }
      let predicates = (0..<Int.random(in: 1..<3, using: &generator)).map { _ in
        Sample.randomPredicate(for: target, using: &generator)
      }
      let itemClass = Bool.random(using: &generator) ? target.itemClass : nil
      let query = Query(itemClass: itemClass, predicates: predicates)
      let plan = QueryPlan(query)
      let candidates = Set(Self.candidates(in: file, for: query).map(\.number))
      for (index, record) in records.enumerated() where query.matches(record) {
        hits += 1
        #expect(candidates.contains(index + 1), "\(query) misses \(record)")
        #expect(plan.shards.contains(record.path.shard), "\(query) misses the shard of \(record)")
      }
    }
    // Without any match, the test would prove nothing.
    #expect(hits > 50)
  }

  @Test(arguments: 0..<20)
  func `the shard of a whole primary key is the shard of its item`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let record = Sample.randomRecord(using: &generator)
      var predicates = [Predicate.equal(.group, .string(record.group))]
      for name in AttributeSchema.primaryKey(of: record.itemClass) + [.synchronizable] {
        var value = record.attributes[name] ?? (Bool.random(using: &generator) ? "" : 0)
        if Bool.random(using: &generator) { value = value.contentBytes.map(AttributeValue.bytes) ?? value }
        predicates.append(.equal(name, value))
      }
      let query = Query(itemClass: record.itemClass, predicates: predicates)
      #expect(query.matches(record))
      #expect(QueryPlan(query).shards == .one(record.path.shard))
    }
  }

  // MARK: Selectivity

  @Test(
    arguments: [
      [.equal(.server, "host7")], [.equal(.server, .bytes(Array("host7".utf8)))],
      [Predicate(subject: .any, comparison: .contains("host7"))],
      [Predicate(subject: .attribute(.server), comparison: .prefix("host7"))],
      [.equal(.group, "default"), .equal(.server, "host7")],
      [Predicate(subject: .any, comparison: .contains("HOST7"), ignoresCase: true)],
      [Predicate(subject: .container, comparison: .equal("Host7"), ignoresCase: true)],
      [Predicate(subject: .attribute(.server), comparison: .suffix("ST7"), ignoresCase: true)],
      [.equal("url", "u7")], [Predicate(subject: .attribute("only7"), comparison: .exists)],
    ] as [[Predicate]])
  func `lines without the value are not parsed`(predicates: [Predicate]) throws {
    var file: [UInt8] = []
    for number in 0..<10 {
      let attributes: Attributes = [
        .server: .string("host\(number)"), "url": .string("u\(number)"), AttributeName("only\(number)"): "x",
      ]
      let record = Sample.record(attributes, seed: UInt64(number))
      file += try IndexLine.encode(record) + [UInt8(ascii: "\n")]
    }
    let query = Query(itemClass: .internetPassword, predicates: predicates)
    #expect(Self.candidates(in: file, for: query).map(\.number) == [8])
  }

  /// Two characters outside ASCII have ASCII letters in lower case.
  @Test(arguments: [("\u{212A}elvin", "kelvin"), ("D\u{130}sk", "di\u{307}sk"), ("FU\u{DF}E", "fu\u{DF}e")])
  func `a search that ignores case finds letters that become ASCII in lower case`(
    stored: String, searched: String
  ) throws {
    let record = Sample.record([.server: .string(stored)], seed: 1)
    let file = try IndexLine.encode(record) + [UInt8(ascii: "\n")]
    let query = Query(predicates: [
      Predicate(subject: .any, comparison: .contains(.string(searched)), ignoresCase: true)
    ])
    #expect(query.matches(record))
    #expect(Self.candidates(in: file, for: query).count == 1)
  }

  @Test(
    arguments: [
      .equal(.server, "a/b\"c"), Predicate(subject: .any, comparison: .contains("/b")),
      Predicate(subject: .attribute(.server), comparison: .prefix("a/")),
      Predicate(subject: .any, comparison: .contains("B\"C"), ignoresCase: true),
      Predicate(subject: .any, comparison: .contains("A/B"), ignoresCase: true),
      Predicate(subject: .attribute("x/y"), comparison: .exists),
    ] as [Predicate])
  func `a text with a slash is found in each of its spellings`(predicate: Predicate) throws {
    let record = Sample.record([.server: "a/b\"c", "x/y": "z"], seed: 1)
    let query = Query(predicates: [predicate])
    #expect(query.matches(record))
    let line = String(decoding: try IndexLine.encode(record), as: UTF8.self)
    for spelled in [line, line.replacing("/", with: "\\/"), line.replacing("/", with: "\\u002f")] {
      #expect(try IndexLine.parse(Array(spelled.utf8)) == record)
      #expect(Self.candidates(in: Array((spelled + "\n").utf8), for: query).count == 1, "\(spelled)")
    }
  }

  @Test func `only the beginning of a long text is searched for`() throws {
    let text = String(repeating: "a", count: 500)
    let query = Query(predicates: [.equal(.server, .string(text))])
    #expect(QueryPlan(query).needles.allSatisfy { $0.alternatives.allSatisfy { $0.count == 64 } })
    let lines = try [text, text + "b", "aaa"].flatMap { server in
      try IndexLine.encode(Sample.record([.server: .string(server)], seed: 1)) + [UInt8(ascii: "\n")]
    }
    #expect(Self.candidates(in: lines, for: query).map(\.number) == [1, 2])
  }

  // MARK: The scanner

  @Test(
    arguments: [
      ("", [], []), ("\n", [], [""]), ("a", [], ["a"]), ("a\nb\n", [], ["a", "b"]),
      ("a\n\nb", [], ["a", "", "b"]),
      ("xa\nxb\nxa", [["a"]], ["xa", "xa"]), ("xa\nxb\nxc\n", [["b", "c"]], ["xb", "xc"]),
      ("ab\na\nb\nba", [["a"], ["b"]], ["ab", "ba"]), ("x\ny\\u\nz\n", [["q"]], ["y\\u"]),
      ("a\\u\nb\n", [["b"]], ["a\\u", "b"]), ("a\\n\nb\\t\n", [["q"]], []),
      ("a\\/\nb\\n\n", [["q/"]], ["a\\/"]), ("a\\\"\nb\n", [["q\\"]], []),
      ("a\\n\nq\\u\n", [["q"], ["r"]], ["q\\u"]), ("aaaa\n", [["aa"]], ["aaaa"]),
      ("a\nb\n", [["a\nb"]], ["a"]),
      ("a\nb\n", [[]], []), ("a\nb", [[]], ["b"]), ("qa\nb", [["a"], ["q"]], ["qa", "b"]),
      ("a", [["q"]], ["a"]), ("\\u\n\\u", [[]], ["\\u", "\\u"]),
    ] as [(String, [[String]], [String])])
  func `candidates are found line by line`(text: String, needles: [[String]], lines: [String]) {
    var found: [String] = []
    var numbers: [Int] = []
    var counter = ShardScanner.LineCounter()
    unsafe Array(text.utf8).withUnsafeBytes { shard in
      let needles = needles.map { Needle($0.map { Array($0.utf8) }) }
      unsafe ShardScanner.candidates(in: shard, needles: needles) { line, offset in
        unsafe found.append(String(decoding: line, as: UTF8.self))
        unsafe numbers.append(counter.number(at: offset, in: shard))
      }
    }
    #expect(found == lines)
    let all = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(zip(numbers, found).allSatisfy { all[$0 - 1] == $1 })
  }

  @Test func `an error in the body ends the scan`() {
    struct Stop: Error {}
    var count = 0
    #expect(throws: Stop.self) {
      try unsafe Array("a\nb\n".utf8).withUnsafeBytes { shard in
        unsafe try ShardScanner.candidates(in: shard, needles: []) { _, _ throws(Stop) in
          count += 1
          throw Stop()
        }
      }
    }
    #expect(count == 1)
  }
}
