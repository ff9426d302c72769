import Keyring
import KeyringModel
import Secrets
import Testing
@testable import Interchange
@testable import KeytreeCLI

@Suite("Importing CSV", .serialized)
struct ImportCSVTests {
  // Read and merged once for the three tests that use it.
  private static let chrome = Result {
    let (draft, dialect, rows) = try CSVImport.plan(ImportFixtures.csv("chrome-5000.csv"))
    return (draft: draft, dialect: dialect, rows: rows, plan: ImportedStore().merge(draft))
  }

  @Test("5,000 rows of Chrome become exactly what the fixture's README says")
  func chrome() throws {
    let expected = try ImportFixtures.counts()
    let (_, dialect, rows, plan) = try Self.chrome.get()
    let report = plan.report
    func added(_ isWanted: (PlannedItem) -> Bool) -> Int { plan.additions.count(where: isWanted) }

    #expect(dialect == "Chrome, Edge or Brave")
    #expect(rows == expected["rows"])
    #expect(added { $0.part == .secret } == expected["passwords"])
    #expect(added { $0.part == .note } == expected["notes"])
    #expect(added { $0.part == .column("url") } == expected["sealed URLs"])
    #expect(added { $0.part == .secret && $0.secret.isEmpty } == expected["empty secrets"])
    #expect(
      added { $0.part == .secret && $0.itemClass == .genericPassword } == expected["generic passwords"])
    #expect(report.counts.beside == expected["beside another"])
    #expect(report.counts.joined == expected["joined"])
    #expect(report.counts.duplicates == expected["duplicates"])
    #expect(report.counts.lost == 0)
    #expect(report.counts.added == plan.additions.count)
    // Each row is reported, and its password on exactly one line.
    let told = report.entries.filter { $0.part == .secret }.map(\.source)
    #expect(told.count == rows && Set(told).count == rows)
  }

  @Test("no two items have the same path, and no attribute contains a password")
  func chromeAgain() throws {
    let plan = try Self.chrome.get().plan
    #expect(Set(plan.additions.map(\.path)).count == plan.additions.count)
    let passwords = Set(plan.additions.filter { $0.secret.count >= 8 }.map(\.secret.text))
    let tokens = ["token=", "code=", "carol:"]
    // One expectation covers all attributes, because each one takes time and there are 25,000 attributes.
    var wrong: [String] = []
    for item in plan.additions {
      for (name, value) in item.attributes.entries {
        let text = value.contentBytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
        if passwords.contains(text) || tokens.contains(where: text.contains) {
          wrong.append("\(item.source.text): \(name) holds a secret")
        }
        do {
          try AttributeSchema.check(name: name, value: value, class: item.itemClass)
        } catch {
          wrong.append("\(item.source.text): \(error)")
        }
      }
    }
    #expect(wrong == [])
  }

  @Test("a second import of the same file adds nothing")
  func idempotent() throws {
    let store = ImportedStore()
    let (draft, _, _, first) = try Self.chrome.get()
    store.apply(first)
    let plan = store.merge(draft)
    #expect(plan.isEmpty)
    #expect(plan.report.counts.alreadyThere == plan.report.entries.count)
  }

  struct Expected: Sendable, Equatable {
    var path: String
    var secret: String
    var part = "secret"
  }

  @Test("a Firefox file keeps realms apart and records the targets of forms")
  func firefox() throws {
    let (draft, dialect, _) = try CSVImport.plan(ImportFixtures.csv("firefox.csv"))
    let plan = ImportedStore().merge(draft)
    #expect(dialect == "Firefox")
    #expect(plan.additions.map(\.secret.text) == ["ff-1", "ff-2, with \"quotes\"", "ff-3", "ff-4"])
    #expect(plan.additions.map { $0.text(.securityDomain) } == [nil, "Staff only", "Admins only", "proxy"])
    #expect(
      plan.additions.map { $0.text(.server) } == [
        "github.com", "intranet.example.org", "intranet.example.org", "proxy.example.org",
      ])
    #expect(plan.additions.map { $0.attributes[.port] } == [nil, 8443, 8443, 3128])
    #expect(plan.additions[0].text("formActionOrigin") == "https://github.com")
    #expect(plan.additions[0].text("timeCreated") == "1600000000000")
    // A password with newer times is still the same password.
    #expect(plan.report.counts.duplicates == 1 && plan.report.counts.beside == 0)
  }

  @Test("an Apple file becomes logins with notes and one-time passwords as fields")
  func apple() throws {
    let (draft, dialect, _) = try CSVImport.plan(ImportFixtures.csv("apple.csv"))
    let items = ImportedStore().merge(draft).additions
    #expect(dialect == "Apple Passwords")
    let seed = "otpauth://totp/GitHub:alice?secret=JBSWY3DPEHPK3PXP&issuer=GitHub"
    #expect(
      items.map { Expected(path: $0.path.text.withoutDigest, secret: $0.secret.text, part: $0.part.text) }
        == [
          Expected(path: "internet-password/github.com/alice+https", secret: "ap-1"),
          Expected(
            path: "internet-password/github.com/alice+https/note", secret: "recovery: 1234\nsecond line",
            part: "note"),
          Expected(
            path: "internet-password/github.com/alice+https/otp", secret: seed, part: "one-time password"),
          Expected(path: "generic-password/wi-fi_at_home/_~", secret: "ap-2"),
          Expected(path: "internet-password/example.com/zo__+https~", secret: "ap-3 ß"),
          Expected(path: "internet-password/example.net/_+https~", secret: "ap-4"),
          Expected(path: "internet-password/example.net/_+https~", secret: "only a note", part: "note"),
        ])
    #expect(items.map(\.field) == [nil, "note", "otp", nil, nil, nil, "note"])
    #expect(items.map { $0.text(.kind) } == Array(repeating: nil, count: items.count))
  }

  @Test("a column for notes or codes has its usual meaning in the file of any program")
  func usualColumns() throws {
    let text = """
      name;url;username;password;otpauth;Notes
      GitHub;https://github.com;alice;pw;otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ;codes
      """
    #expect(try plan(text).additions.map(\.field) == [nil, "otp", "note"])
  }

  @Test("unknown columns are sealed, and columns that only sort items are shown")
  func unknownColumns() throws {
    let text = """
      Tags,Password,PIN code,username,NAME,url
      "home,bank",pw,4711,alice,Bank,https://bank.example/
      """
    let items = try plan(text).additions
    #expect(items.map(\.secret.text) == ["pw", "4711"])
    #expect(items[0].text("tags") == "home,bank")
    #expect(items[1].text(.account) == "alice" && items[1].field == "pin-code")
    #expect(items[1].text(.label) == "PIN code")
    #expect(!items.contains { $0.attributes.entries.contains { $0.value == "4711" } })
  }

  @Test("text in another encoding is kept byte for byte, and the report says so")
  func otherEncoding() throws {
    let (draft, _, _) = try CSVImport.plan(ImportFixtures.csv("latin-1.csv"))
    #expect(draft.items[0].attributes[.account] == .bytes([0x4A, 0xFC, 0x72, 0x67, 0x65, 0x6E]))
    #expect(draft.items[0].secret.publicBytes() == [0x67, 0x72, 0xFC, 0xDF, 0x65])
    #expect(draft.items[0].remarks == [.notUTF8("the secret"), .notUTF8("account")])
    #expect(draft.items[1].attributes[.account] == draft.items[0].attributes[.account])
    #expect(draft.items[1].field == "note" && draft.items[1].remarks == [])
  }

  @Test(
    "a value too long for an attribute is sealed; a secret or a name that is too long is reported as lost")
  func tooLong() throws {
    let long = String(repeating: "x", count: 5000)
    let huge = String(repeating: "n", count: 2 << 20)
    let plan = try plan(
      """
      name,url,username,password,note
      \(long),https://a.example/\(long),alice,pw,
      b,https://b.example/,bob,\(huge),kept
      c,https://c.example/,carol,kept too,\(huge)
      d,https://d.example/,\(long),pw,
      """)
    #expect(
      plan.additions.map(\.secret.text) == ["pw", long, "https://a.example/\(long)", "kept", "kept too"])
    #expect(plan.additions.map(\.part.text) == ["secret", "label", "url", "note", "secret"])
    #expect(plan.additions.map(\.field) == [nil, "label", "url", "note", nil])
    let lost = plan.report.entries.filter(\.outcome.isLoss)
    #expect(lost.map(\.source) == [.row(3), .row(4), .row(5)])
    #expect(
      lost.map(\.outcome) == [
        .lost(.tooLarge(limit: 1 << 20)), .lost(.tooLarge(limit: 1 << 20)), .lost(.nameTooLong("account")),
      ])
    #expect(lost.map(\.part) == [.secret, .note, .secret])
    #expect(plan.report.hasLoss)
  }

  private func plan(_ text: String) throws -> ImportPlan {
    let (draft, _, _) = try CSVImport.plan(SecretBytes(copying: Array(text.utf8)))
    return ImportedStore().merge(draft)
  }
}

extension String {
  /// The path without the digits after `~`.
  fileprivate var withoutDigest: String {
    guard let mark = lastIndex(of: "~") else { return self }
    return String(self[...mark])
  }
}
