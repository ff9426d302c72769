import Arguments
import Encoding
import KeyringModel
import Testing
@testable import CommandSupport
@testable import KeytreeCLI

@Suite("Names of items", .serialized)
struct ItemNameTests {
  /// A reading as text: container, account and attributes, separated by `|`.
  private static func text(_ reading: ItemNameReading) -> String {
    let account = reading.account.map { String(decoding: $0, as: UTF8.self) } ?? "any"
    var parts = [String(decoding: reading.container, as: UTF8.self), account]
    parts += reading.attributes.map { "\($0.name?.text ?? "")=\(String(decoding: $0.bytes, as: UTF8.self))" }
    for (name, values) in reading.optionalAttributes.sorted(by: { $0.key.text < $1.key.text }) {
      parts.append(
        "\(name.text)?=\(values.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ","))")
    }
    if let itemClass = reading.itemClass {
      parts.append(itemClass == .internetPassword ? "host" : itemClass.rawValue)
    }
    if reading.ignoresCase { parts.append("any case") }
    if !reading.describesNewItems { parts.append("old") }
    return parts.joined(separator: "|")
  }

  @Test(
    "a name is read as a host and a port, split at each slash, and last as a host in any case",
    arguments: [
      (
        "github.com/alice",
        ["github.com|alice", "github.com/alice|any", "github.com|alice|host|any case|old"]
      ),
      ("github.com", ["github.com|any", "github.com|any|host|any case|old"]),
      ("GitHub.com", ["GitHub.com|any", "github.com|any|host", "github.com|any|host|any case|old"]),
      ("github.com/", ["github.com|", "github.com/|any", "github.com||host|any case|old"]),
      ("/alice", ["|alice", "/alice|any", "|alice|host|any case|old"]),
      ("a/b/c", ["a|b/c", "a/b|c", "a/b/c|any", "a|b/c|host|any case|old"]),
      (
        "generic:mailer/bot",
        [
          "mailer|bot|generic-password", "mailer/bot|any|generic-password", "generic:mailer|bot|old",
          "generic:mailer/bot|any|old",
        ]
      ),
      ("internet:x", ["x|any|host", "x|any|host|any case|old", "internet:x|any|old"]),
      ("key:tag", ["tag|any|key", "key:tag|any|old"]),
      (
        "localhost:8080/alice",
        [
          "localhost|alice|port=8080|host", "localhost:8080|alice", "localhost:8080/alice|any",
          "localhost:8080|alice|host|any case|old",
        ]
      ),
      ("generic:localhost:8080", ["localhost:8080|any|generic-password", "generic:localhost:8080|any|old"]),
      ("::1", ["::1|any", "::1|any|host|any case|old"]),
      ("[::1]:22", ["::1|any|port=22|host", "[::1]:22|any", "[::1]:22|any|host|any case|old"]),
      ("example.com:x", ["example.com:x|any", "example.com:x|any|host|any case|old"]),
      (
        "https://alice@Git.Example:8443/team?x#y",
        [
          "git.example|alice|protocol=https|port=8443|path=/team|host",
          "git.example|alice|protocol=https|port=8443|host",
          "git.example|alice|port?=8443|protocol?=https|host|old",
          "git.example|alice|port?=8443|protocol?=https|host|any case|old",
          "https:|/alice@Git.Example:8443/team?x#y|old",
          "https:/|alice@Git.Example:8443/team?x#y|old", "https://alice@Git.Example:8443|team?x#y|old",
          "https://alice@Git.Example:8443/team?x#y|any|old",
        ]
      ),
      (
        "SSH://a%40b@host",
        [
          "host|a@b|protocol=ssh|port?=22|host", "host|a@b|port?=22|protocol?=ssh|host|old",
          "host|a@b|port?=22|protocol?=ssh|host|any case|old", "SSH:|/a%40b@host|old", "SSH:/|a%40b@host|old",
          "SSH://a%40b@host|any|old",
        ]
      ),
      ("-rf", ["-rf|any", "-rf|any|host|any case|old"]), ("bogus:foo", ["bogus:foo|any|old"]),
      ("#12/x", ["#12|x|old", "#12/x|any|old"]),
    ] as [(String, [String])])
  func readings(text: String, readings: [String]) throws {
    guard case .named(let all) = try ItemName(Word(text)) else {
      Issue.record("not a name")
      return
    }
    #expect(all.map(Self.text) == readings)
  }

  @Test("a name with many slashes has a limited number of readings")
  func manySlashes() throws {
    guard case .named(let all) = try ItemName(Word(String(repeating: "a/", count: 5000))) else {
      Issue.record("not a name")
      return
    }
    #expect(all.count == 18)
  }

  @Test("digits after a number sign are the beginning of an id")
  func ids() throws { #expect(try ItemName("#0123abCD") == .id(prefix: "0123abcd")) }

  @Test("a name may be a reference")
  func references() throws {
    let path = "keytree://internet-password/github.com/alice"
    #expect(try ItemName(Word(path)) == .reference(#require(ItemReference(path))))
    let id = "keytree://id/0123456789abcdef0123456789abcdef"
    #expect(try ItemName(Word(id)) == .reference(#require(ItemReference(id))))
  }

  @Test("a name keeps bytes that are not UTF-8")
  func bytes() throws {
    let word = Word([0x61, 0x2F, 0xFF])
    guard case .named(let readings) = try ItemName(word) else {
      Issue.record("not a name")
      return
    }
    #expect(readings.first?.container == [0x61] && readings.first?.account == [0xFF])
  }

  @Test(
    "an invalid name is refused",
    arguments: [
      ("", .empty), ("generic:", .empty), ("keytree://", .badReference), ("keytree://x/y", .badReference),
      ("keytree://internet-password/GitHub.com/alice", .badReference), ("/", .empty), ("generic:/", .empty),
      ("https://alice:secret@x.example", .passwordInURL), (String(repeating: "x", count: 13_000), .tooLong),
    ] as [(String, ItemName.Problem)])
  func refused(text: String, problem: ItemName.Problem) {
    #expect(throws: problem) { try ItemName(Word(text)) }
  }

  @Test(
    "a name that looks like a class, a URL or an id is refused for a new item",
    arguments: [
      ("#", .badID), ("#1234567", .badID), ("#0123456g", .badID),
      ("#012345678901234567890123456789012", .badID),
      ("https://", .badURL), ("https:///x", .badURL), ("generic:https://x", .badURL), ("//host/x", .badURL),
      ("bogus:foo", .unknownClass("bogus")), ("Generic:x", .unknownClass("Generic")),
      ("genric:", .unknownClass("genric")), ("host:99999/x", .badPort), ("host:0", .badPort),
      ("host.example:/x", .badPort),
    ] as [(String, ItemName.Problem)])
  func refusedForNewItems(text: String, problem: ItemName.Problem) throws {
    let name = try ItemName(Word(text))
    #expect(name.problem == problem)
    #expect(throws: ItemDraft.Problem.name(problem)) { try ItemDraft(name, GivenAttributes()) }
  }
}

@Suite("Items chosen by name and attributes", .serialized)
struct ItemSelectionTests {
  private static func record(_ itemClass: ItemClass, _ attributes: Attributes, group: String = "default")
    -> ItemRecord
  {
    var random = SystemRandomNumberGenerator()
    let now = Timestamp(microseconds: 0)
    return ItemRecord(
      itemClass: itemClass, id: ItemID(using: &random), revision: Revision(using: &random), created: now,
      modified: now, secretModified: now, group: group, sealed: ContentDigest(of: []), attributes: attributes)
  }

  /// The items with a short name for the tables below.
  private static let items: [(String, ItemRecord)] = [
    ("alice", record(.internetPassword, ["server": "github.com", "account": "alice"])),
    (
      "https",
      record(
        .internetPassword, ["server": "github.com", "account": "alice", "protocol": "https", "port": 443])
    ),
    ("none", record(.internetPassword, ["server": "github.com"])),
    ("service", record(.genericPassword, ["service": "github.com", "account": "alice"], group: "ops")),
    (
      "label",
      record(
        .internetPassword, ["server": "other", "account": "bob", "label": "github.com", "comment": "alice"])
    ),
    ("bytes", record(.genericPassword, ["service": "mailer", "account": .bytes([0xFF])])),
    ("key", record(.key, ["applicationLabel": "github.com"])),
    // A key with a tag is named by its tag, not by its label.
    ("tag", record(.key, ["applicationTag": "tag", "applicationLabel": "github.com"])),
    ("cert", record(.certificate, ["issuer": "CA", "serialNumber": "01"])),
    ("slash", record(.internetPassword, ["server": "bank/My Bank", "account": "main account"])),
    ("upper", record(.internetPassword, ["server": "Upper.Example", "account": "alice"])),
    ("tagged", record(.internetPassword, ["server": "t", "account": "x", "tags": "at home, Work"])),
  ]

  private static func parse(_ words: [Word]) throws -> ParsedArguments {
    let command = CommandDeclaration(
      name: "x", summary: "", operands: [OperandDeclaration("ITEM", .bytes, count: .optional, help: "")],
      options: AttributeOptions.all)
    let program = ProgramDeclaration(
      name: "p", summary: "", globals: [], commands: [CommandEntry(command)], exitCodes: [])
    return try program.parse(["x"] + words).arguments
  }

  private static func select(_ words: [Word], ignoringCase: Bool = false) throws -> [String] {
    let arguments = try parse(words)
    let name = try arguments.operand(0).map { word in try ItemName(word) }
    let selection = try ItemSelection(name, GivenAttributes(arguments), ignoringCase: ignoringCase)
    for alternative in selection.alternatives {
      try alternative.query.validate()
      // The query alone may match more items, but never fewer. Together with the filter it matches exactly.
      for item in items where alternative.accepts(item.1) { #expect(alternative.query.matches(item.1)) }
    }
    let selected = selection.selected(among: items.map(\.1))
    return items.filter { item in selected.contains { $0.id == item.1.id } }.map(\.0)
  }

  @Test(
    "a name and attributes select exactly the matching items",
    arguments: [
      (["github.com"], ["alice", "https", "none", "service", "key"]),
      (["github.com/alice"], ["alice", "https", "service"]),
      (["github.com/"], ["none", "key"]),
      (["internet:github.com/alice"], ["alice", "https"]),
      (["generic:github.com"], ["service"]),
      (["key:github.com"], ["key"]),
      (["tag"], ["tag"]),
      (["cert:CA/01"], ["cert"]),
      (["github.com/alice", "-r", "https"], ["https"]),
      (["github.com", "-P", "443"], ["https"]),
      (["github.com", "-P", "0443"], ["https"]),
      (["github.com", "-P", "0"], ["alice", "none"]),
      (["github.com/alice", "--class", "generic"], ["service"]),
      (["-s", "github.com"], ["alice", "https", "none", "service"]),
      (["-s", "github.com", "--class", "internet"], ["alice", "https", "none"]),
      (["--server", "github.com", "-a", "alice"], ["alice", "https"]),
      (["--service", "mailer"], ["bytes"]),
      (["-a", "alice"], ["alice", "https", "service", "upper"]),
      (["-g", "ops"], ["service"]),
      (["-l", "github.com"], ["label"]),
      (["--attribute", "label=github.com"], ["label"]),
      (["--attribute", "class=key"], ["key", "tag"]),
      (["--attribute", "url=x"], []),
      (["keytree://internet-password/github.com/alice"], ["alice"]),
      (["keytree://internet-password/github.com/alice", "-a", "bob"], []),
      (["GitHub.com"], ["alice", "https", "none"]),
      (["https://github.com/login"], ["https"]),
      (["http://alice@github.com/login"], ["alice"]), (["https://alice@github.com:444"], ["alice"]),
      (["https://alice@github.com:443"], ["https"]),
      (["github.com:443/alice"], ["https"]),
      (["github.com:8443/alice"], []),
      (["bank/My Bank/main account"], ["slash"]),
      (["bank/my bank/main account"], []),
      (["bank/My Bank"], ["slash"]),
      (["upper.example/alice"], ["upper"]),
      (["--tag", "work"], ["tagged"]),
      (["--tag", "WORK", "--tag", "at home"], ["tagged"]),
      (["--tag", "wor"], []),
    ] as [([String], [String])])
  func meant(words: [String], names: [String]) throws {
    #expect(try Self.select(words.map { Word($0) }) == names)
  }

  @Test("an item is found by bytes that are not UTF-8")
  func bytes() throws {
    #expect(try Self.select([Word(Array("mailer/".utf8) + [0xFF])]) == ["bytes"])
    #expect(try Self.select(["-a", Word([0xFF])]) == ["bytes"])
  }

  @Test("an item is found in any case if the case is ignored")
  func ignoringCase() throws {
    #expect(try Self.select(["--server", "GitHub.com"], ignoringCase: true) == ["alice", "https", "none"])
  }

  @Test("an item is found by its id", arguments: [8, 20, 32])
  func ids(digits: Int) throws {
    let id = Self.items[3].1.id.hex
    #expect(try Self.select([Word("#" + id.prefix(digits))]) == ["service"])
    #expect(try Self.select([Word("keytree://id/" + id)]) == ["service"])
  }

  @Test("a reference needs only one shard of the index")
  func oneShard() throws {
    let name = try ItemName("keytree://internet-password/github.com/alice")
    let selection = try ItemSelection(name, GivenAttributes())
    #expect(QueryPlan(selection.query).shards == .one(0x33))
  }

  @Test(
    "an empty or contradictory selection is refused",
    arguments: [
      ([], .nothingGiven), (["generic:x", "--class", "key"], .contradictingClasses),
      (["--server", "a", "--service", "b"], .noClassHasAll), (["generic:x", "-r", "https"], .noClassHasAll),
    ] as [([String], ItemSelection.Problem)])
  func refused(words: [String], problem: ItemSelection.Problem) {
    #expect(throws: problem) { try Self.select(words.map { Word($0) }) }
  }

  @Test(
    "an invalid attribute option is refused",
    arguments: [
      ("label", .notNameAndValue), ("=x", .notNameAndValue), ("group=-x", .badGroup("-x")),
      ("class=x", .badClass("x")),
    ] as [(String, GivenAttributes.Problem)])
  func badOptions(text: String, problem: GivenAttributes.Problem) throws {
    let arguments = try Self.parse(["--attribute", Word(text)])
    #expect(throws: problem) { try GivenAttributes(arguments) }
  }

  @Test("a port must be a number in range", arguments: ["abc", "", "70000", "-1", "65536", "4.0"])
  func badPorts(text: String) throws {
    let problem = UsageError.Problem.notInteger("--port", 0...65535, or: [])
    for word in ["-P" + text, "--port=" + text] where word != "-P" {
      #expect(throws: UsageError(problem, command: ["x"])) { try Self.parse([Word(word)]) }
    }
  }

  private func draft(_ words: [String]) throws -> ItemDraft {
    let arguments = try Self.parse(words.map { Word($0) })
    return try ItemDraft(
      try arguments.operand(0).map { word in try ItemName(word) }, GivenAttributes(arguments))
  }

  @Test(
    "a name and attributes define a new item",
    arguments: [
      (["github.com/alice"], .internetPassword, ["server": "github.com", "account": "alice"]),
      (["github.com"], .internetPassword, ["server": "github.com"]),
      (["github.com/"], .internetPassword, ["server": "github.com"]),
      (["generic:m/b"], .genericPassword, ["service": "m", "account": "b"]),
      (["--service", "m", "-a", "b"], .genericPassword, ["service": "m", "account": "b"]),
      (["-s", "m"], .internetPassword, ["server": "m"]),
      (["-s", "m", "--class", "generic"], .genericPassword, ["service": "m"]),
      (
        ["github.com/alice", "-a", "alice"], .internetPassword, ["server": "github.com", "account": "alice"]
      ),
      (
        ["h", "-P", "443", "-r", "https"], .internetPassword,
        ["server": "h", "port": 443, "protocol": "https"]
      ),
      (["h", "-a", "x/y", "-l", ""], .internetPassword, ["server": "h", "account": "x/y", "label": ""]),
      (["h", "--attribute", "url=a=b"], .internetPassword, ["server": "h", "url": "a=b"]),
      (["h", "--attribute", "invisible=true"], .internetPassword, ["server": "h", "invisible": true]),
      (["key:t"], .key, ["applicationTag": "t"]),
    ] as [([String], ItemClass, Attributes)])
  func drafts(words: [String], itemClass: ItemClass, attributes: Attributes) throws {
    let draft = try draft(words)
    #expect(draft.itemClass == itemClass)
    #expect(draft.attributes == attributes)
  }

  @Test(
    "an invalid definition of a new item is refused",
    arguments: [
      ([], .nothingGiven), (["#01234567"], .namesAnExistingItem),
      (["keytree://internet-password/a/b"], .namesAnExistingItem),
      (["generic:x", "--class", "key"], .contradictingClasses),
      (["a/b", "-a", "c"], .contradictingValues("account")),
      (["a", "--service", "b"], .attribute(.wrongClass("server", .internetPassword))),
      (["generic:a", "-r", "x"], .attribute(.wrongClass("protocol", .genericPassword))),
      (["a", "--attribute", "id=x"], .attribute(.reservedName("id"))),
    ] as [([String], ItemDraft.Problem)])
  func badDrafts(words: [String], problem: ItemDraft.Problem) {
    if case .attribute = problem {
      #expect(throws: ItemDraft.Problem.self) { try draft(words) }
    } else {
      #expect(throws: problem) { try draft(words) }
    }
  }

  @Test("a renamed item keeps the attributes that the new name does not contain")
  func renaming() throws {
    let old = Self.items[1].1
    let draft = try ItemDraft(renaming: old, to: ItemName("gitlab.com"))
    #expect(
      draft.attributes == ["server": "gitlab.com", "account": "alice", "protocol": "https", "port": 443])
    let bare = try ItemDraft(renaming: old, to: ItemName("gitlab.com/"))
    #expect(bare.attributes["account"] == nil)
    #expect(throws: ItemDraft.Problem.contradictingClasses) {
      try ItemDraft(renaming: old, to: ItemName("generic:gitlab.com"))
    }
  }

  @Test("each word for a class means one class and is listed once")
  func classWords() {
    #expect(ItemName.classWords.count == Set(ItemName.classWords).count)
    #expect(ItemName.classWords.allSatisfy { ItemName.itemClass(of: $0) != nil })
  }
}
