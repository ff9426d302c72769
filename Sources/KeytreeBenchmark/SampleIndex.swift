internal import KeyringModel

/// The index of a store with many items, as people have them: written without the items themselves.
///
/// About 410 bytes a line, so 100,000 items are 41 MB. The same number gives the same index each time.
struct SampleIndex {
  /// How many lines to write.
  let count: Int
  /// Every so many items have a comment of two lines, which is written with an escape.
  var escapeInterval = 200
  /// Whether the items are generic passwords, as programs keep them, instead of those of a browser.
  var isGeneric = false
  /// The sealed message that every item has; without one there are lines and no files.
  var message: [UInt8]?

  /// The server of an item; three items share one.
  static func server(_ number: Int) -> String {
    let place = number / 3
    let word = words[place % words.count]
    return "\(hosts[place % hosts.count])\(word)\(place).\(domains[place % domains.count])"
  }

  /// The account of an item.
  static func account(_ number: Int) -> String {
    let person = people[number % people.count]
    return number % 2 == 0 ? person : "\(person).\(words[number * 31 % words.count])@mail.example"
  }

  /// The table of so many items, for `keytree import csv`.
  static func rows(_ count: Int) -> String {
    var rows = "name,url,username,password,note\n"
    for number in 0..<count {
      rows += "\(server(number)),https://\(server(number))/,\(account(number)),secret-\(number),\n"
    }
    return rows
  }

  /// Writes the index into a store, keeping the lines that are there.
  ///
  /// - Parameter store: The store's folder.
  func write(to store: String) throws(BenchmarkError) {
    try write(to: store, keepsLines: true) { record, _ throws(BenchmarkError) in
      if let message { try put(message, into: &record, store) }
    }
  }

  /// Writes the index and a message for each item, in the place of those that are there.
  ///
  /// - Parameters:
  ///   - store: The store's folder.
  ///   - message: A message whose readers all of them have; nobody can open what is made of it.
  func write(to store: String, sealedAs message: [UInt8]) throws(BenchmarkError) {
    try write(to: store, keepsLines: false) { record, number throws(BenchmarkError) in
      // In the middle of what is encrypted: the packets stay what they are, and no message looks like another one to
      // git.
      var noise = CountingGenerator(state: UInt64(number) &* 65_537 &+ UInt64(message.count))
      var own = message
      for place in message.indices.dropLast(128).suffix(256) {
        own[place] = UInt8.random(in: 0...255, using: &noise)
      }
      try put(own, into: &record, store)
    }
  }

  private func write(
    to store: String, keepsLines: Bool,
    _ finish: (inout ItemRecord, Int) throws(BenchmarkError) -> Void
  ) throws(BenchmarkError) {
    var shards: [UInt8: [UInt8]] = [:]
    var generator = CountingGenerator(state: 0x9E37_79B9_7F4A_7C15)
    for number in 0..<count {
      var record = record(number, using: &generator)
      try finish(&record, number)
      do {
        shards[record.path.shard, default: []] += try IndexLine.encode(record) + [UInt8(ascii: "\n")]
      } catch {
        throw .unexpected("a sample item cannot be written: \(error)")
      }
    }
    for (number, lines) in shards {
      let digits = String(number, radix: 16)
      let path = "\(store)/index/\(digits.utf8.count == 1 ? "0" : "")\(digits).jsonl"
      let known = keepsLines ? try Files.read(path) ?? [] : []
      // Through the model's own shard, so that the lines come out in their canonical order.
      try Files.write(Shard(parsing: known + lines, number: number).encode(), to: path)
    }
  }

  /// Gives an item its file.
  private func put(
    _ message: [UInt8], into record: inout ItemRecord, _ store: String
  ) throws(BenchmarkError) {
    record.sealed = ContentDigest(of: message)
    let file = "\(store)/items/\(record.path.text).gpg"
    let parts = file.split(separator: "/")
    for depth in [2, 1] { try Files.makeFolder("/" + parts.dropLast(depth).joined(separator: "/")) }
    try Files.write(message, to: file)
  }

  /// Service and account of a generic password. Of two items one has the service of a program that keeps many
  /// accounts, and one the account of programs that keep one each.
  static func generic(_ number: Int) -> (service: String, account: String) {
    number % 2 == 0
      ? ("example.mail.accounts", "\(people[number / 2 % people.count])\(number)@mail.example")
      : ("example.\(words[number % words.count]).tool\(number)", "default")
  }

  /// The label of a generic password.
  static func label(_ number: Int) -> String { "\(words[number / 7 % words.count]) \(number)" }

  private func genericRecord(_ number: Int, using generator: inout CountingGenerator) -> ItemRecord {
    let (service, account) = Self.generic(number)
    let created = Timestamp(microseconds: 1_600_000_000_000_000 + Int64(number) * 733_000_017)
    return ItemRecord(
      itemClass: .genericPassword, id: ItemID(using: &generator), revision: Revision(using: &generator),
      created: created, modified: created, secretModified: created, group: "default",
      sealed: ContentDigest(of: Array("sample \(number)".utf8)),
      attributes: [
        .service: .string(service), .account: .string(account), .label: .string(Self.label(number)),
        .accessible: "ak",
      ])
  }

  private func record(_ number: Int, using generator: inout CountingGenerator) -> ItemRecord {
    if isGeneric { return genericRecord(number, using: &generator) }
    let server = Self.server(number)
    var attributes = Attributes()
    attributes[.server] = .string(server)
    attributes[.account] = .string(Self.account(number))
    if number % 3 == 0 { attributes[.label] = .string("\(Self.words[number % Self.words.count]) (work)") }
    if number % 4 == 1 { attributes["url"] = .string("https://\(server)/login?next=%2Faccount") }
    if number % 4 == 0 { attributes[.protocol] = .string("https") }
    if number % 9 == 0 { attributes[.port] = .integer(8443) }
    if number % escapeInterval == 0 { attributes[.comment] = .string("first line\nsecond line") }
    let created = Timestamp(microseconds: 1_600_000_000_000_000 + Int64(number) * 733_000_017)
    return ItemRecord(
      itemClass: .internetPassword, id: ItemID(using: &generator), revision: Revision(using: &generator),
      created: created, modified: created, secretModified: created, group: "default",
      sealed: ContentDigest(of: Array("sample \(number)".utf8)), attributes: attributes)
  }

  private static let hosts = ["", "login.", "", "www.", "", "accounts.", "shop."]
  private static let domains = ["example", "test", "example.com", "example.org", "example.net"]
  private static let people = ["alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi"]
  private static let words = [
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "harbor", "island", "juniper", "kestrel",
    "lagoon", "meadow", "nectar", "orchid", "prairie", "quarry", "river", "sierra", "tundra", "umbra",
    "valley", "willow", "yarrow", "zephyr",
  ]
}

/// Random enough for ids that have to differ, the same in each run (SplitMix64).
private struct CountingGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
