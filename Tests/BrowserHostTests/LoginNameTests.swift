import KeyringModel
import TestSupport
import Testing

@testable import BrowserHost

@Suite("The names of logins for the extension", .serialized)
struct LoginNameTests {
  private static func login(_ attributes: Attributes, _ itemClass: ItemClass = .internetPassword) -> WebLogin?
  {
    WebLogin(Sample.record(attributes, itemClass: itemClass), protocols: BrowserSamples.protocols)
  }

  private static func name(_ attributes: Attributes, _ itemClass: ItemClass = .internetPassword) -> String? {
    login(attributes, itemClass).map { String(decoding: LoginName($0).file, as: UTF8.self) }
  }

  @Test(
    "a name has the host and the account, and a port that is not the default one",
    arguments: [
      (["server": "github.com", "account": "alice"], "github.com/alice.gpg"),
      (["server": "GitHub.com", "account": "Alice"], "github.com/Alice.gpg"),
      (["server": "github.com"], "github.com.gpg"),
      (["server": "localhost", "account": "a"], "localhost/a.gpg"),
      (["server": "h", "protocol": "https", "port": 443, "account": "a"], "h/a.gpg"),
      (["server": "h", "protocol": "http", "port": 80, "account": "a"], "h/a.gpg"),
      (["server": "h", "port": 443, "account": "a"], "h/a.gpg"),
      (["server": "h", "port": 80, "account": "a"], "h:80/a.gpg"),
      (["server": "h", "protocol": "http", "port": 443], "h:443.gpg"),
      (["server": "2001:db8::1", "account": "a"], "[2001:db8::1]/a.gpg"),
      (["server": "::1", "port": 8080, "account": "a"], "[::1]:8080/a.gpg"),
      (["server": "h", "account": "alice.dev"], "h/@alice.dev.gpg"),
      (["server": "h", "account": "a:1"], "h/@a:1.gpg"),
      (["server": "h", "account": "@alice"], "h/@@alice.gpg"),
      (["server": "h", "account": "a@b.c"], "h/a@b.c.gpg"),
      (["server": "github.com", "account": "com"], "github.com/@com.gpg"),
      (["server": "com", "account": "com"], "com/@com.gpg"),
      (["server": "h", "account": "a/b\\c%d"], "h/a%2Fb%5Cc%25d.gpg"),
      (["server": "h", "account": "a\n\u{7f}"], "h/a%0A%7F.gpg"),
      (["server": "h", "account": ".."], "h/@...gpg"),
      (["server": "h", "account": ".a"], "h/@.a.gpg"), (["server": "..", "account": "a"], "%2E./a.gpg"),
      (["server": "h/../x", "account": "a"], "h%2F..%2Fx/a.gpg"),
    ] as [(Attributes, String)])
  func names(attributes: Attributes, expected: String) {
    #expect(Self.name(attributes) == expected)
  }

  @Test("bytes that are not UTF-8 are escaped")
  func bytes() {
    #expect(Self.name([.server: "h", .account: .bytes([0xFF, 0x61, 0xC3, 0xA9])]) == "h/%FFa%C3%A9.gpg")
  }

  @Test(
    "what no browser may see has no name",
    arguments: [
      (["server": "h", "protocol": "imaps"], .internetPassword),
      (["server": "h", "protocol": 7], .internetPassword),
      (["server": "h", "field": "otp"], .internetPassword),
      (["server": "h", "port": "x"], .internetPassword),
      (["server": "h", "authenticationType": "http-token:bearer"], .internetPassword),
      (["account": "a"], .internetPassword),
      (["service": "github.com", "account": "a"], .genericPassword),
      (["service": "s", "url": "https://github.com/", "kind": "secret-service"], .genericPassword),
      (["service": "s", "url": "imaps://github.com/"], .genericPassword),
      (["service": "s", "url": "x y"], .genericPassword),
      (["label": "github.com"], .key), (["label": "github.com"], .certificate),
    ] as [(Attributes, ItemClass)])
  func hidden(attributes: Attributes, itemClass: ItemClass) {
    #expect(Self.login(attributes, itemClass) == nil)
  }

  @Test("a generic password has the host of its URL")
  func generic() {
    #expect(
      Self.name([.service: "s", .account: "a", .url: "http://u@GitHub.com:8080/x?y"], .genericPassword)
        == "github.com:8080/a.gpg")
    #expect(
      Self.name([.service: "s", .account: "a", .url: "github.com"], .genericPassword) == "github.com/a.gpg")
  }

  @Test("further protocols are seen only if the user wants it")
  func protocols() {
    let record = Sample.record([.server: "h", .account: "a", .protocol: "imaps", .port: 993])
    #expect(WebLogin(record, protocols: ["https"]) == nil)
    let login = WebLogin(record, protocols: ["https", "imaps"])
    #expect(login.map { LoginName($0).file } == Array("h/a.gpg".utf8), "993 is the port of imaps")
  }

  @Test("of several logins with one name the oldest has it, and the others have digits of their id")
  func severalLogins() {
    let logins = (1...3).compactMap { seed in
      WebLogin(
        Sample.record([.server: "h", .account: "a", .path: .string("\(seed)")], seed: UInt64(seed)),
        protocols: ["https"])
    }
    let names = LoginNames(logins.reversed()).entries.reversed().map {
      String(decoding: $0.name.file, as: UTF8.self)
    }
    let ids = logins.map { String($0.record.id.hex.prefix(8)) }
    #expect(names == ["h/a.gpg", "h/a #\(ids[1]).gpg", "h/a #\(ids[2]).gpg"])
    let bare = [1, 2].compactMap { seed in
      WebLogin(Sample.record([.server: "h", .path: .string("\(seed)")], seed: seed), protocols: ["https"])
    }
    #expect(
      LoginNames(bare).entries.map { String(decoding: $0.name.file, as: UTF8.self) } == [
        "h.gpg", "h/#\(ids[1]).gpg",
      ])
  }

  @Test("if logins of several groups would have one name, none has it, whatever their times are")
  func contested() throws {
    func login(_ account: String, _ group: String, _ seed: UInt64, isLocal: Bool = false) -> WebLogin? {
      var record = Sample.record([.server: "h", .account: .string(account)], group: group, seed: seed)
      record.isLocal = isLocal
      return WebLogin(record, protocols: ["https"])
    }
    let logins = [
      login("a", "team", 1), login("a", "default", 2), login("a", "team", 3), login("b", "team", 4),
      login("c.d", "default", 5), login("c.d", "team", 6), login("e", "team", 7),
      login("e", "team", 8, isLocal: true),
    ].compactMap(\.self)
    let names = LoginNames(logins)
    let digits = logins.map { String($0.record.id.hex.prefix(8)) }
    #expect(
      names.entries.map { String(decoding: $0.name.file, as: UTF8.self) } == [
        "h/a #\(digits[0]).gpg", "h/a #\(digits[1]).gpg", "h/a #\(digits[2]).gpg", "h/b.gpg",
        "h/@c.d #\(digits[4]).gpg", "h/@c.d #\(digits[5]).gpg", "h/e #\(digits[6]).gpg",
        "h/e #\(digits[7]).gpg",
      ])
    for file in ["h/a.gpg", "h/c.d.gpg", "h/@c.d.gpg", "h/e.gpg"] {
      guard case .contested = names.match(try #require(LoginName(file: Array(file.utf8)))) else {
        Issue.record("\(file) means a login")
        continue
      }
    }
    for entry in names.entries { #expect(names.login(named: entry.name)?.record.id == entry.login.record.id) }
  }

  @Test("an account that looks like a numbered name takes nothing from the login with that id")
  func imitatedNumber() throws {
    let second = Sample.record([.server: "h", .account: "a", .path: "x"], seed: 2)
    let digits = second.id.hex.prefix(8)
    let records = [
      Sample.record([.server: "h", .account: "a"], seed: 1), second,
      Sample.record([.server: "h", .account: .string("a #\(digits)")], seed: 3),
    ]
    let names = LoginNames(records.compactMap { WebLogin($0, protocols: ["https"]) })
    let imitated = try #require(LoginName(file: Array("h/a #\(digits).gpg".utf8)))
    #expect(names.login(named: imitated)?.record.id == second.id)
    let third = "h/a #\(digits) #\(records[2].id.hex.prefix(8)).gpg"
    #expect(names.entries.last?.name.file == Array(third.utf8))
  }

  @Test("an item whose id begins like that of another one leaves the other one no short number")
  func imitatedDigits() throws {
    let records = [
      Sample.record([.server: "h", .account: "a"], seed: 1),
      Sample.record([.server: "h", .account: "a"], group: "team", seed: 2),
    ]
    let own = records[0].id.hex
    let forged = try #require(ItemID(hex: String(own.prefix(8)) + String(records[1].id.hex.dropFirst(8))))
    let copy = Sample.record([.server: "h", .account: "a"], group: "team", seed: 2, id: forged)
    let names = LoginNames([records[0], copy].compactMap { WebLogin($0, protocols: ["https"]) })
    #expect(
      names.entries.map { $0.name.file } == [own, forged.hex].map { Array("h/a #\($0.prefix(16)).gpg".utf8) })
    let short = try #require(LoginName(file: Array("h/a #\(own.prefix(8)).gpg".utf8)))
    #expect(names.login(named: short) == nil)
  }

  @Test("each of many random logins is found by its own name, also among those of its host alone")
  func roundTrip() throws {
    var generator = SeededGenerator(seed: 26)
    let logins = (1...3000).compactMap { number in
      WebLogin(BrowserSamples.record(number, using: &generator), protocols: BrowserSamples.protocols)
    }
    let all = LoginNames(logins)
    #expect(all.entries.count == logins.count)
    #expect(Set(all.entries.map { $0.name.file }).count == logins.count)
    let byHost = Dictionary(grouping: logins, by: \.host).mapValues { LoginNames($0) }
    for entry in all.entries {
      let name = try #require(LoginName(file: entry.name.file))
      let hosts = name.places.map(\.host)
      #expect(hosts.contains(entry.login.host))
      #expect(byHost[entry.login.host]?.login(named: name)?.record.id == entry.login.record.id)
      #expect(entry.name.file.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") })
      #expect(entry.name.file.count { $0 == UInt8(ascii: "/") } <= 1)
    }
  }

  @Test("an `@` in front of an account may be left out")
  func withoutMark() throws {
    let login = try #require(Self.login([.server: "h", .account: "alice.dev"]))
    let names = LoginNames([login])
    for file in ["h/@alice.dev.gpg", "h/alice.dev.gpg"] {
      #expect(names.login(named: try #require(LoginName(file: Array(file.utf8)))) != nil)
    }
    #expect(names.login(named: try #require(LoginName(file: Array("h/@@alice.dev.gpg".utf8)))) == nil)
  }

  @Test(
    "a name that no login can have is refused",
    arguments: [
      "", ".gpg", "a", "a/", "/a.gpg", "a//b.gpg", "../a.gpg", "a/../b.gpg", "./a.gpg", "a/.gpg",
      "a\u{0}.gpg", "web/github.com/a.gpg",
      String(repeating: "a", count: 1021) + ".gpg",
    ])
  func refused(file: String) {
    #expect(LoginName(file: Array(file.utf8)) == nil)
  }

  @Test("a listing is sorted, and the logins that were changed last are kept if not all fit")
  func listing() throws {
    let logins = (1...5).compactMap { seed in
      WebLogin(
        Sample.record([.server: .string("h\(6 - seed)"), .account: "\"a"], seed: UInt64(seed)),
        protocols: ["https"])
    }
    let whole = LoginListing(LoginNames(logins))
    #expect(whole.omitted == 0)
    #expect(whole.files == (1...5).map { Array("h\($0)/\"a.gpg".utf8) })
    #expect(whole.folders == (1...5).map { Array("h\($0)".utf8) })
    // Each name needs 9 bytes, one escape, two quotation marks and a comma.
    let part = LoginListing(LoginNames(logins), limit: 2 * 13)
    #expect(part.files == [1, 2].map { Array("h\($0)/\"a.gpg".utf8) })
    #expect(part.omitted == 3)
  }

  @Test(
    "an account can be mistaken for the host of a tab",
    arguments: [
      ("intranet", "intranet", true), ("intranet", "wiki.intranet", true), ("intranet", "github.com", false),
      ("com", "evil.com", true), ("com", "login.github.com", false), ("alice.dev", "alice.dev", false),
      ("", "", false),
    ])
  func mistaken(account: String, tab: String, isMistaken: Bool) throws {
    let login = try #require(Self.login([.server: "github.com", .account: .string(account)]))
    #expect(login.takesAccountForHost(inTab: Array(tab.utf8)) == isMistaken)
  }

  @Test(
    "the URL opens the site that a login is listed under",
    arguments: [
      (["server": "GitHub.com"], "https://github.com/"),
      (["server": "h", "protocol": "http", "port": 8080, "path": "a/b"], "http://h:8080/a/b"),
      (["server": "::1", "path": "/x"], "https://[::1]/x"),
      (["server": "h.example", "url": "https://h.example/login"], "https://h.example/login"),
      (["server": "h.example", "url": "https://evil.example/login"], "https://h.example/"),
      (["server": "h.example", "url": "h.example/login"], "https://h.example/login"),
      (["server": "h.example", "url": "javascript://h.example/%0aalert(1)"], "https://h.example/"),
      (["server": "h.example", "url": "file://h.example/"], "https://h.example/"),
      (["server": "h.example", "url": "https://evil.example\\@h.example/"], "https://h.example/"),
      (["server": "h.example", "url": "https://h.example/\t"], "https://h.example/"),
      (["server": "javascript", "url": "javascript:80/x"], "https://javascript:80/x"),
      (["server": "evil.example/@h.example"], nil), (["server": "h.example", "protocol": "imaps"], nil),
    ] as [(Attributes, String?)])
  func urls(attributes: Attributes, url: String?) throws {
    let record = Sample.record(attributes)
    let login = try #require(WebLogin(record, protocols: ["http", "https", "imaps"]))
    #expect(login.url.map { String(decoding: $0, as: UTF8.self) } == url)
  }

  @Test(
    "the URL of a generic password is sent only as a web site",
    arguments: [
      ("https://u@h.example/x?y", "https://u@h.example/x?y"), ("h.example", "https://h.example"),
      ("javascript:80/x", "https://javascript:80/x"), ("HTTP://h.example/", "HTTP://h.example/"),
      ("https://h.example/a b", "https://h.example/"), ("imaps://h.example/", nil),
    ] as [(String, String?)])
  func genericURLs(stored: String, url: String?) throws {
    let record = Sample.record([.service: "s", .url: .string(stored)], itemClass: .genericPassword)
    let login = try #require(WebLogin(record, protocols: ["http", "https", "imaps"]))
    #expect(login.url.map { String(decoding: $0, as: UTF8.self) } == url)
  }

  @Test(
    "a tab shows the site of a login if protocol, host and port are the same",
    arguments: [
      (["server": "h.example"], "https://h.example", true),
      (["server": "h.example"], "https://h.example:443", true),
      (["server": "h.example"], "https://sub.h.example", true),
      (["server": "h.example"], "http://h.example", false),
      (["server": "h.example"], "https://h.example:8443", false),
      (["server": "h.example"], "http://h.example:443", false),
      (["server": "h.example"], "ftp://h.example:443", false),
      (["server": "h.example"], "https://evilh.example", false),
      (["server": "h.example", "port": 8443], "https://h.example:8443", true),
      (["server": "h.example", "port": 8443], "https://h.example", false),
      (["server": "h.example", "protocol": "http"], "http://h.example", true),
      (["server": "h.example", "protocol": "http"], "https://h.example", true),
      (["server": "h.example", "protocol": "http"], "https://h.example:80", false),
      (["server": "h.example", "protocol": "http", "port": 8080], "http://h.example:8080", true),
      (["server": "h.example", "protocol": "http", "port": 8080], "https://h.example:8080", false),
      (["server": "h.example", "protocol": "imaps"], "https://h.example", true),
      (["server": "h.example", "protocol": "imaps"], "http://h.example", false),
    ] as [(Attributes, String, Bool)])
  func sites(attributes: Attributes, origin: String, isOwn: Bool) throws {
    let login = try #require(WebLogin(Sample.record(attributes), protocols: ["http", "https", "imaps"]))
    #expect(login.isFor(site: try #require(TabSite(origin: Array(origin.utf8)))) == isOwn)
  }

  @Test(
    "text without a scheme and a host is no site",
    arguments: ["null", "", "h", "a b://h", "://h", "https://"])
  func noSite(origin: String) {
    #expect(TabSite(origin: Array(origin.utf8)) == nil)
  }
}
