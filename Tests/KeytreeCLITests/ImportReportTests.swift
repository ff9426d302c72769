import CommandSupport
import Keyring
import KeyringModel
import Secrets
import Testing
@testable import Interchange
@testable import KeytreeCLI

@Suite("The report of an import", .serialized)
struct ImportReportTests {
  private static let text = """
    name,url,username,password,note
    GitHub,https://github.com/,alice,1,a note
    GitHub,https://github.com/login,alice,1,
    GitHub,https://github.com/,alice,2,
    GitHub,https://github.com/,alice,1,
    Empty,https://example.com/?q=1,bob,,
    """

  @Test("each line reports where a part was stored and what the user should know")
  func lines() throws {
    let report = try report()
    #expect(
      report.lines(all: true) == [
        "row 2: added as github.com/alice",
        "row 2, note: added as github.com/alice --field note",
        "row 3: same secret as row 2 (github.com/alice), which now has url-2 as well",
        "row 4: added as github.com/alice (securityDomain duplicate-2), because another item has its name",
        "row 5: same as row 2 (github.com/alice)",
        "row 6: added as example.com/bob; parts of the URL may be secret: the"
          + " whole URL is encrypted, and its public parts are shown; the secret is empty",
        "row 6, url: added as example.com/bob --field url",
        "5 added, 1 of them renamed because of a name conflict, 1 merged with an identical one, 1 duplicates",
      ])
    // Unremarkable parts are omitted by default.
    #expect(report.lines(all: false).map { $0.prefix(6) } == ["row 4:", "row 6:", "5 adde"])
    // A plan has the counts of each kind.
    #expect(
      report.lines(all: false, isPlan: true).suffix(4) == [
        "logins: 3 added, 1 of them renamed because of a name conflict, 1 merged with an identical one, 1 duplicates",
        "notes: 1 added", "other fields: 1 added",
        "plan: 5 added, 1 of them renamed because of a name conflict, 1 merged with an identical one, 1 duplicates",
      ])
  }

  @Test("the report for programs is one canonical object per line")
  func json() throws {
    let report = try report()
    let lines = report.entries.map { String(decoding: $0.json.canonicalBytes, as: UTF8.self) }
    #expect(
      lines[0]
        == #"{"outcome":"added","part":"secret","path":"internet-password/github.com/alice+https","row":2}"#)
    #expect(
      lines[2]
        == #"{"attributes":["url-2"],"outcome":"joined","part":"secret","#
        + #""path":"internet-password/github.com/alice+https","row":3,"sameAs":"row 2"}"#)
    #expect(
      String(decoding: report.summaryJSON(isApplied: false).canonicalBytes, as: UTF8.self)
        == #"{"added":5,"alreadyThere":0,"applied":false,"beside":1,"completed":0,"different":0,"duplicates":1,"joined":1,"lost":0,"otherGroup":0,"passkeys":0,"replaced":0,"skipped":0}"#
    )
  }

  @Test("a name that is not UTF-8 is bytes in JSON and readable text in the report")
  func names() {
    let entry = PassEntry(components: [[0x61, 0xFF]])
    let finding = PassImport.unreadable(entry, reason: "no key").findings[0]
    #expect(finding.line == "a\u{FFFD}: NOT imported: no key")
    #expect(
      String(decoding: finding.json.canonicalBytes, as: UTF8.self)
        == #"{"file":{"base64":"Yf8="},"outcome":"lost","part":"secret","reason":"no key"}"#)
  }

  private func report() throws -> ImportReport {
    let (draft, _, _) = try CSVImport.plan(SecretBytes(copying: Array(Self.text.utf8)))
    return ImportedStore().merge(draft).report
  }

  @Test("names are those of the source, not the letters of paths")
  func spokenNames() throws {
    let text = "name,url,username,password\nWork,,Agnès Groß,1\n"
    let (draft, _, _) = try CSVImport.plan(SecretBytes(copying: Array(text.utf8)))
    let store = ImportedStore()
    let plan = store.merge(draft)
    #expect(plan.report.lines(all: true).first == "row 2: added as Work/Agnès Groß")
    store.apply(plan)
    #expect(
      store.merge(draft).report.lines(all: true).first == "row 2: already in the store as Work/Agnès Groß")
  }
}
