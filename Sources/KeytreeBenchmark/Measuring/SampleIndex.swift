internal import Keyring
internal import KeyringModel

/// Realistic items for a large store.
///
/// An index line has about 410 bytes, so the index of 100,000 items has 41 MB. The same number always gives the same
/// items.
struct SampleIndex {
  /// The number of items to write.
  let count: Int
  /// One item out of this many has a comment of two lines, which is written with an escape.
  var escapeInterval = 200
  /// The kind of the items.
  var kind = Kind.internet

  /// The kinds of items.
  enum Kind: String {
    /// Passwords of a browser.
    case internet
    /// Generic passwords, as programs store them.
    case generic
    /// Secrets of programs that use the Secret Service API.
    case served
  }

  /// Returns the server of an item; three items share one.
  static func server(_ number: Int) -> String {
    let place = number / 3
    let word = words[place % words.count]
    return "\(hosts[place % hosts.count])\(word)\(place).\(domains[place % domains.count])"
  }

  /// Returns the account of an item.
  static func account(_ number: Int) -> String {
    let person = people[number % people.count]
    return number % 2 == 0 ? person : "\(person).\(words[number * 31 % words.count])@mail.example"
  }

  /// Returns a table of items for `keytree import csv`.
  static func rows(_ count: Int) -> String {
    var rows = "name,url,username,password,note\n"
    for number in 0..<count {
      rows += "\(server(number)),https://\(server(number))/,\(account(number)),secret-\(number),\n"
    }
    return rows
  }

  /// Writes only the index, in addition to the existing lines, for commands that read nothing else.
  ///
  /// - Parameter store: The store's folder.
  func writeIndex(to store: String) throws(BenchmarkError) {
    var lines: [IndexEntry] = []
    for record in records() {
      do throws(IndexLineError) {
        lines.append((record.path, try IndexLine.encode(record)))
      } catch {
        throw .unexpected("a sample item cannot be written: \(error)")
      }
    }
    try Self.put(lines, into: store)
  }

  /// Writes items with their encrypted files and signed records, in addition to the existing ones.
  ///
  /// - Parameters:
  ///   - store: The store's folder.
  ///   - message: An encrypted file with at least 256 bytes after its recipients. The items get copies with different
  ///     bytes at the end, so that git cannot find the same content twice. The copies cannot be decrypted.
  ///   - portion: The number of records that one signature covers.
  func writeItems(to store: String, like message: [UInt8], perSignature portion: Int) throws(BenchmarkError) {
    var records = records()
    for index in records.indices {
      let own = Self.copy(message, number: index)
      records[index].sealed = ContentDigest(of: own)
      let path = records[index].path
      let kind = "\(store)/\(StoreLayout.itemsFolder(isLocal: false))/\(path.itemClass.rawValue)"
      for folder in [kind, "\(kind)/\(path.container)"] { try Files.makeFolder(folder) }
      try Files.write(own, to: "\(store)/\(StoreLayout.itemFile(path, isLocal: false))")
    }
    let keyring: Keyring
    do throws(KeyringError) {
      keyring = try Keyring.open(at: store, host: .scratch)
    } catch {
      throw .unexpected("\(error)")
    }
    var lines: [IndexEntry] = []
    for start in stride(from: 0, to: records.count, by: portion) {
      let files: [RecordFile]
      do throws(KeyringError) {
        files = try keyring.sign(Array(records[start...].prefix(portion)))
      } catch {
        throw .unexpected("\(error)")
      }
      for file in files {
        let path = file.record.path
        try Files.write(file.bytes, to: "\(store)/\(StoreLayout.recordFile(path, isLocal: false))")
        lines.append((path, file.line))
      }
    }
    try Self.put(lines, into: store)
  }

  private typealias IndexEntry = (path: ItemPath, line: [UInt8])

  /// Puts lines into the shards of a store; a line replaces the line of the same path.
  private static func put(_ lines: [IndexEntry], into store: String) throws(BenchmarkError) {
    for (number, lines) in Dictionary(grouping: lines, by: { $0.path.shard }) {
      let file = "\(store)/\(StoreLayout.shardFile(number, isLocal: false))"
      let shard = Shard(parsing: try Files.read(file) ?? [], number: number)
      try Files.write(
        shard.replacingLines(of: Set(lines.map(\.path)), by: lines.map(\.line)), to: file)
    }
  }

  private static func copy(_ message: [UInt8], number: Int) -> [UInt8] {
    var noise = CountingGenerator(state: UInt64(number) &* 65_537 &+ UInt64(message.count))
    var copy = message
    for place in message.indices.suffix(256) { copy[place] = UInt8.random(in: 0...255, using: &noise) }
    return copy
  }

  private func records() -> [ItemRecord] {
    var generator = CountingGenerator(state: 0x9E37_79B9_7F4A_7C15)
    return (0..<count).map { record($0, using: &generator) }
  }

  /// Returns the service and the account of a generic password. Half of the items belong to one program that keeps many
  /// accounts, the others to programs that keep one account each.
  static func generic(_ number: Int) -> (service: String, account: String) {
    number % 2 == 0
      ? ("example.mail.accounts", "\(people[number / 2 % people.count])\(number)@mail.example")
      : ("example.\(words[number % words.count]).tool\(number)", "default")
  }

  /// Returns the label of a generic password.
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

  /// Returns the attributes of a secret of a program, as clients see them.
  static func served(_ number: Int) -> [(name: String, value: String)] {
    [
      ("xdg:schema", number % 2 == 0 ? "org.freedesktop.Secret.Generic" : "org.example.Password"),
      ("server", server(number)), ("user", account(number)), ("number", "\(number)"),
    ]
  }

  private func servedRecord(_ number: Int, using generator: inout CountingGenerator) -> ItemRecord {
    var record = genericRecord(number, using: &generator)
    var attributes: Attributes = [.kind: "secret-service", .label: .string(Self.label(number))]
    for pair in Self.served(number) { attributes[AttributeName("ss:" + pair.name)] = .string(pair.value) }
    attributes[.service] = attributes["ss:xdg:schema"]
    let digest = ContentDigest(of: Array("served \(number)".utf8)).base64url
    attributes[.account] = .string(String(digest.prefix(32)))
    record.attributes = attributes
    return record
  }

  private func record(_ number: Int, using generator: inout CountingGenerator) -> ItemRecord {
    switch kind {
    case .generic: return genericRecord(number, using: &generator)
    case .served: return servedRecord(number, using: &generator)
    case .internet: break
    }
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

/// A random number generator (SplitMix64) that is good enough for unique ids and returns the same numbers in each run.
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
