import CommandSupport
import Foundation
import Keyring
import KeyringModel
import Secrets
import Testing

@testable import Interchange
@testable import KeytreeCLI

@Suite("Importing a store of pass", .serialized)
struct ImportPassTests {
  /// An item that an entry becomes. `path` contains the account, `domain` the folders that make it unique.
  struct Expected: Hashable, Sendable {
    var source: String
    var part = "secret"
    var place: String
    var account: String
    var secret: [UInt8]

    init(_ source: String, _ place: String, _ account: String, _ secret: String, part: String = "secret") {
      (self.source, self.part, self.place, self.account) = (source, part, place, account)
      self.secret = Array(secret.utf8)
    }

    init(_ item: PlannedItem) {
      source = item.source.text
      part = item.part.text
      let server = item.text(.server).map { "internet \($0)" }
      place = server ?? "generic \(item.text(.service) ?? "")"
      account = (item.text(.account) ?? "") + (item.field.map { "/\($0)" } ?? "")
      secret = item.secret.publicBytes()
    }
  }

  private static let seed = "otpauth://totp/GitLab:alice?secret=JBSWY3DPEHPK3PXP&issuer=GitLab"
  private static let seedOfDeploy = "otpauth://totp/deploy?secret=GEZDGNBVGY3TQOJQ"
  private static let seedOfCarol = "otpauth://totp/example.net:carol?secret=GEZDGNBVGY3TQOJQ"

  private static var expected: [Expected] {
    var binary = Expected("odd/binary", "generic odd", "binary/note", "text\n", part: "note")
    binary.secret += [0xFF, 0xFE, 0x00, 0x80] + "end\n".utf8
    return [
      Expected(".hidden", "generic .hidden", ".hidden", "hidden-1"),
      Expected("Persönlich/Überweisung Müller", "generic Persönlich", "Überweisung Müller", "Schlüssel-ß"),
      Expected(
        "Persönlich/Überweisung Müller", "generic Persönlich", "Überweisung Müller/note",
        "Straße: Hauptstraße 1\n", part: "note"),
      Expected(
        "Shared notes/door code at home", "generic Shared notes", "door code at home", "4711"),
      Expected(
        "Shared notes/door code at home", "generic Shared notes", "door code at home/note",
        "ring twice\n",
        part: "note"),
      Expected("deep/a/b/c/d/e/item", "generic deep/a/b/c/d/e", "item", "deep-1"),
      Expected(
        "mail/imap.example.org/alice@example.org", "internet imap.example.org", "alice@example.org", "imap-1"),
      binary,
      Expected("odd/binary", "generic odd", "binary", "binary-1"),
      Expected("odd/crlf", "generic odd/crlf", "x", "crlf-1"),
      Expected("odd/empty", "generic odd", "empty", ""),
      Expected("odd/first line empty", "generic odd", "first line empty", ""),
      Expected(
        "odd/first line empty", "generic odd", "first line empty/note", "all in the rest\n", part: "note"),
      Expected("odd/gopass", "generic odd/gopass", "erin", "gopass-1"),
      Expected("odd/gopass", "generic odd/gopass", "erin/note", "---\n", part: "note"),
      Expected(
        "otp/example.net/carol", "internet example.net", "carol/otp", seedOfCarol, part: "one-time password"),
      Expected("servers/192.0.2.7/root", "internet 192.0.2.7", "root", "server-1"),
      Expected("servers/[2001:db8::1]/admin", "internet 2001:db8::1", "admin", "server-2"),
      Expected("servers/DB.Example.com:5432/app", "internet db.example.com", "app", "server-3"),
      Expected("servers/localhost/postgres", "internet localhost", "postgres", "server-4"),
      Expected("team/vpn.example.com/shared", "internet vpn.example.com", "shared", "team-1"),
      Expected("web/github.com/alice", "internet github.com", "alice", "github-1"),
      Expected(
        "web/github.com/alice", "internet github.com", "alice/note",
        "\nrecovery: 1234-5678\n", part: "note"),
      Expected("web/github.com/bob", "internet github.com", "bob", "github-2"),
      Expected("web/gitlab.com/alice", "internet gitlab.com", "alice", "gitlab-1"),
      Expected(
        "web/gitlab.com/alice", "internet gitlab.com", "alice/note", "last line\n", part: "note"),
      Expected("web/gitlab.com/alice", "internet gitlab.com", "alice/otp", seed, part: "one-time password"),
      Expected("wifi", "generic wifi", "wifi", "correct horse battery staple"),
      Expected("work/github.com/alice", "internet github.com", "alice", "github-3"),
      Expected("work/tokens/deploy", "generic work/tokens", "deploy", "token-1"),
      Expected(
        "work/tokens/deploy", "generic work/tokens", "deploy/otp", seedOfDeploy, part: "one-time password"),
      Expected("日本/鍵", "generic 日本", "鍵", "秘密"),
    ]
  }

  @Test(
    "the secret of an item with headers of gopass is its password, not the name of the format",
    arguments: [
      ("GOPASS-SECRET-1.0\nPassword: pw 1 \n", "pw 1", "", nil),
      ("GOPASS-SECRET-1.0\r\nPassword: pw\r\n\r\ntext\r\n", "pw", "text\r\n", nil),
      (
        "GOPASS-SECRET-1.0\nColour: red\npassword: pw\nUsername: zoe\nPassword: pw2\n\ntext\n\nmore",
        "pw", "Colour: red\nPassword: pw2\n\ntext\n\nmore", "zoe"
      ),
      ("GOPASS-SECRET-1.0\n\nonly text\nPassword: no\n", "", "only text\nPassword: no\n", nil),
      ("GOPASS-SECRET-1.0", "", "", nil),
      ("GOPASS-SECRET-1.01\nPassword: a\n", "GOPASS-SECRET-1.01", "Password: a\n", nil),
    ] as [(String, String, String, String?)])
  func gopass(text: String, secret: String, note: String, account: String?) {
    let lines = PassLines(SecretSlice(text: text))
    #expect(lines.first.text == secret && lines.note.text == note && lines.account?.text == account)
    let content = SecretBytes(copying: Array(text.utf8))
    let adopted = AdoptedFile.plan("web/a.example", plaintext: content).items
    #expect(adopted.map(\.secret.text) == (note.isEmpty ? [secret] : [secret, note]))
    let hasOneLine = AdoptedFile.hasOneLine(content)
    #expect(hasOneLine == (note.isEmpty && account == nil))
  }

  @Test(
    "a line with a Steam seed is a seed, and a link to a game is text",
    arguments: [
      ("steam://JBSWY3DPEHPK3PXP", true), ("otpauth://steam/x?secret=JBSWY3DPEHPK3PXP", true),
      ("steam://rungameid/570", false), ("steam://open", false),
    ])
  func steam(line: String, isSeed: Bool) {
    let lines = PassLines(SecretSlice(text: "pw\n\(line)\n"))
    #expect(lines.furtherSeeds.map(\.text) == (isSeed ? [line] : []))
    #expect(lines.note.text == (isSeed ? "" : "\(line)\n"))
  }

  private static let notImported = [
    "odd/plaintext: no key", "team/notes.txt: not an item of a password store",
    "theirs/payroll.example.com/dave: no key",
    "web/gone.gpg: a link to nowhere.gpg, which is not imported",
    "web/outside.gpg: a link to /etc/hostname, which is not imported",
  ]

  private static let skipped = [
    "deep/up: a link to the top folder of the store",
    "web/gh alice.gpg: a link to web/github.com/alice, which records this path",
    "web/hub: a link to the folder web/github.com",
    "work/same.gpg: a link to web/github.com/alice, which records this path",
  ]

  @Test(
    "the committed store is imported completely, and the report lists the rest without the files of pass and git"
  )
  func committed() throws {
    try check(ImportPassStore.committed())
  }

  @Test(
    "a store that pass makes now is imported in the same way",
    .enabled(if: ImportPassStore.isPassInstalled, "pass is not installed (apt-get install pass)"))
  func fresh() throws {
    try check(ImportPassStore.fresh())
  }

  private func check(_ source: ImportPassStore) throws {
    let store = ImportedStore()
    let plan = store.merge(try source.draft())
    let items = plan.additions.map(Expected.init)
    #expect(Set(items) == Set(Self.expected) && items.count == Self.expected.count)
    #expect(plan.report.counts.added == items.count)

    var lost: [String] = []
    var skipped: [String] = []
    for entry in plan.report.entries {
      switch entry.outcome {
      case .lost(let reason): lost.append("\(entry.source.text): \(reason.text)")
      case .skipped(let reason): skipped.append("\(entry.source.text): \(reason.text)")
      default: break
      }
    }
    #expect(lost.sorted() == Self.notImported)
    #expect(skipped.sorted() == Self.skipped)
    #expect(plan.report.hasLoss)

    // The host and the account are the same, and the passwords differ: the folders distinguish the items.
    let second = try #require(plan.additions.first { $0.source.text == "work/github.com/alice" })
    #expect(second.text(.securityDomain) == "work")
    let first = try #require(plan.additions.first { $0.source.text == "web/github.com/alice" })
    #expect(
      ["pass", "pass-2", "pass-3"].map { first.text(AttributeName($0)) } == [
        "web/github.com/alice", "web/gh alice", "work/same",
      ])
    #expect(plan.additions.first { $0.text(.account) == "app" }?.attributes[.port] == 5432)

    store.apply(plan)
    let again = store.merge(try source.draft())
    #expect(again.isEmpty)
    #expect(again.report.counts.alreadyThere == items.count)
  }

  @Test("the names of a pass store show what an import would add")
  func forecast() throws {
    let entries = ["mail.example", "web/github.com/alice", "work/github.com/alice", "wifi"].map {
      PassEntry(components: $0.split(separator: "/").map { Array($0.utf8) })
    }
    let store = ImportedStore()
    let content = SecretBytes(copying: Array("pw\nlogin: carol\n".utf8))
    store.apply(store.merge(PassImport.plan(entries[0], plaintext: content)))
    var forecast = PassForecast(
      PassListing(entries: entries), besides: store.records.values.map(\.record))
    for entry in entries { forecast.add(entry) }
    forecast.add(PassEntry(components: [Array("theirs".utf8)]), unreadable: "no key")
    #expect(
      store.merge(forecast.draft).report.lines(all: true, isPlan: true) == [
        // The path leads to the item, although its account is in the entry.
        "mail.example: already in the store as mail.example/carol",
        "theirs: NOT imported: no key",
        "web/github.com/alice: will be added as github.com/alice",
        "work/github.com/alice: will be added as github.com/alice (securityDomain work), because another item has its "
          + "name",
        "wifi: will be added as wifi/wifi",
        "plan: 3 added, 1 of them renamed because of a name conflict, 1 already in the store, 1 NOT imported",
      ])
  }

  struct Content: Sendable, CustomTestStringConvertible {
    var text: String
    var parts: [String]
    var secrets: [String]
    var testDescription: String { text.debugDescription }
  }

  @Test(
    "the first line is the secret, and everything else is kept",
    arguments: [
      Content(text: "", parts: ["secret"], secrets: [""]),
      Content(text: "pw", parts: ["secret"], secrets: ["pw"]),
      Content(text: "pw\n", parts: ["secret"], secrets: ["pw"]),
      Content(text: "pw\r\n", parts: ["secret"], secrets: ["pw"]),
      Content(text: "pw\r", parts: ["secret"], secrets: ["pw\r"]),
      Content(text: "\r\n", parts: ["secret"], secrets: [""]),
      Content(text: "pw\n\n", parts: ["secret", "note"], secrets: ["pw", "\n"]),
      Content(text: "  pw \nx", parts: ["secret", "note"], secrets: ["  pw ", "x"]),
      Content(
        text: "pw\notpauth://totp/a\r\n", parts: ["secret", "one-time password"],
        secrets: ["pw", "otpauth://totp/a"]),
      Content(text: "otpauth://totp/a\n", parts: ["one-time password"], secrets: ["otpauth://totp/a"]),
      Content(
        text: "otpauth://totp/a\nx\n", parts: ["one-time password", "note"],
        secrets: ["otpauth://totp/a", "x\n"]),
      Content(
        text: "pw\notpauth://hotp/a\n x otpauth://totp/b\n", parts: ["secret", "note", "one-time password"],
        secrets: ["pw", " x otpauth://totp/b\n", "otpauth://hotp/a"]),
      Content(text: "pw\nlogin: a\n\n", parts: ["secret"], secrets: ["pw"]),
      Content(
        text: "pw\nlogin: a\r\nuser: b\n login: c\nurl:\n", parts: ["secret", "note"],
        secrets: ["pw", "user: b\n login: c\nurl:\n"]),
      Content(
        text: "pw\nurl: https://u:p@a.example/x\ny", parts: ["secret", "note", "url"],
        secrets: ["pw", "y", "https://u:p@a.example/x"]),
      Content(
        text: "pw\nlogin: a\u{1B}[0m\n", parts: ["secret", "note"], secrets: ["pw", "login: a\u{1B}[0m\n"]),
      Content(
        text: "pw\nurl: otpauth://totp/a\n", parts: ["secret", "note"],
        secrets: ["pw", "url: otpauth://totp/a\n"]),
    ])
  func lines(_ content: Content) {
    let entry = PassEntry(components: [Array("a".utf8)])
    let draft = PassImport.plan(entry, plaintext: SecretBytes(copying: Array(content.text.utf8)))
    #expect(draft.items.map(\.part.text) == content.parts)
    #expect(draft.items.map(\.secret.text) == content.secrets)
    #expect(draft.findings.isEmpty)
  }

  struct Location: Sendable, CustomTestStringConvertible {
    var path: String
    var lines = ""
    var attributes: [AttributeName: AttributeValue]
    var itemClass = ItemClass.internetPassword
    var testDescription: String { "\(path) \(lines.debugDescription)" }
  }

  @Test(
    "the path and the lines of an entry are the name of the login",
    arguments: [
      Location(path: "web/github.com/alice", attributes: [.server: "github.com", .account: "alice"]),
      Location(
        path: "web/github.com/alice", lines: "login: alice\n",
        attributes: [.server: "github.com", .account: "alice"]),
      Location(
        path: "web/github.com/work", lines: "Username: alice@corp.example\nURL: https://github.com/login\n",
        attributes: [
          .server: "github.com", .account: "alice@corp.example", .label: "work",
          "url": "https://github.com/login",
        ]),
      Location(
        path: "GitHub.com", lines: "user:alice", attributes: [.server: "github.com", .account: "alice"]),
      Location(path: "web/git.example:8443", attributes: [.server: "git.example", .port: 8443]),
      Location(
        path: "bank/main", lines: "login: 123\n", attributes: [.service: "bank/main", .account: "123"],
        itemClass: .genericPassword),
      Location(
        path: "wifi", lines: "login: home\n", attributes: [.service: "wifi", .account: "home"],
        itemClass: .genericPassword),
      Location(path: "wifi", attributes: [.service: "wifi", .account: "wifi"], itemClass: .genericPassword),
    ])
  func locations(_ example: Location) throws {
    let entry = PassEntry(components: example.path.split(separator: "/").map { Array($0.utf8) })
    let text = SecretBytes(copying: Array("pw\n\(example.lines)".utf8))
    let item = try #require(PassImport.plan(entry, plaintext: text).items.first)
    var expected = Attributes()
    for (name, value) in example.attributes { expected[name] = value }
    expected["pass"] = .string(example.path)
    #expect(item.attributes == expected && item.itemClass == example.itemClass)
  }
}
