import Encoding
import Foundation
import KeyringModel
import Secrets
import TestSupport
import Testing
@testable import Interchange
@testable import KeytreeCLI

@Suite("KeePass's XML in detail", .serialized, .slow)
struct KeePassImportTests {
  private func plan(_ groups: String, meta: String = "") throws -> ImportDraft {
    let text =
      "<KeePassFile><Meta>\(meta)</Meta><Root><Group><Name>Top</Name>\(groups)</Group></Root></KeePassFile>"
    return try KeePassImport.plan(SecretBytes(copying: Array(text.utf8)))
  }

  private func entry(_ strings: [(String, String)], _ more: String = "") -> String {
    "<Entry>"
      + strings.map {
        "<String><Key>\($0.0)</Key>\($0.1.hasPrefix("<") ? $0.1 : "<Value>\($0.1)</Value>")</String>"
      }
      .joined() + more + "</Entry>"
  }

  private func secrets(_ draft: ImportDraft) -> [String] { draft.items.map(\.secret.text) }

  // 16 bytes of `A`, in Base64 and in hexadecimal digits.
  private let identity = "<UUID>QUFBQUFBQUFBQUFBQUFBQQ==</UUID>"
  private let digits = "41414141414141414141414141414141"

  @Test("a reference is replaced with a string of another entry, and a referenced password is sealed")
  func references() throws {
    let draft = try plan(
      entry([("Title", "one"), ("UserName", "alice"), ("Password", "pw1")], identity)
        + entry([
          ("Title", "two"), ("UserName", "{REF:U@I:\(digits)}"),
          ("Password", "<Value>{ref:p@i:\(digits)}!</Value>"),
        ])
        + entry([("Title", "{REF:P@I:\(digits)}"), ("UserName", "x{REF:P@I:\(digits)}"), ("Password", "pw3")])
    )
    #expect(draft.items[1].text(.account) == "alice" && draft.items[1].secret.text == "pw1!")
    #expect(secrets(draft) == ["pw1", "pw1!", "pw3", "pw1", "xpw1"])
    #expect(
      draft.items.allSatisfy {
        $0.attributes.entries.allSatisfy { $0.value.contentBytes != Array("pw1".utf8) }
      })
    #expect(draft.findings.isEmpty)
  }

  @Test(
    "a reference that cannot be resolved is lost",
    arguments: [
      "{REF:P@I:00}", "{REF:P@T:one}", "{REF:X@I:41414141414141414141414141414141}",
      "{REF:N@I:41414141414141414141414141414141}",
    ])
  func unresolved(reference: String) throws {
    // The note refers to itself.
    let note = "<Value>{REF:N@I:\(digits)}{REF:N@I:\(digits)}</Value>"
    let draft = try plan(
      entry([("Title", "one"), ("Notes", note)], identity) + entry([("Password", reference)]))
    let lost = draft.findings.filter(\.outcome.isLoss).map(\.part.text)
    #expect(lost == ["Notes", "Password"])
    #expect(secrets(draft).contains(reference))
  }

  @Test("protected values are sealed, and encrypted values are lost")
  func protected() throws {
    func value(_ text: String, _ name: String) -> String { "<Value \(name)=\"True\">\(text)</Value>" }
    let draft = try plan(
      entry([
        ("Title", "t"), ("UserName", value("SECRET1", "ProtectInMemory")),
        ("URL", value("https://SECRET2.example", "ProtectInMemory")),
        ("KP2A_URL_1", value("https://SECRET3.example", "ProtectInMemory")),
        ("KP2A_URL_2", value("U0VDUkVUNA==", "Protected")), ("Password", "pw"),
      ]))
    let shown = draft.items.flatMap { $0.attributes.entries.map { "\($0.value)" } }.joined()
    #expect(!shown.contains("SECRET") && !shown.contains("U0VD"))
    #expect(secrets(draft) == ["pw", "SECRET1", "https://SECRET2.example", "https://SECRET3.example"])
    #expect(draft.findings.map(\.part.text) == ["KP2A_URL_2"] && draft.findings[0].outcome.isLoss)
  }

  @Test(
    "files and ciphertext in older versions are lost, but a file that the entry still has is not")
  func history() throws {
    let binary = "<Binary><Key>f</Key><Value>Zg==</Value></Binary>"
    func losses(_ old: String, now: String) throws -> Int {
      let draft = try plan(entry([("Password", "pw")], now + "<History><Entry>\(old)</Entry></History>"))
      #expect(!secrets(draft).joined().contains("Q0lQSEVS"))
      return draft.findings.filter(\.outcome.isLoss).count
    }
    #expect(try losses(binary, now: "") == 1)
    #expect(try losses(binary, now: binary) == 0)
    let string = "<String><Key>Password</Key><Value Protected=\"True\">Q0lQSEVS</Value></String>"
    #expect(try losses(string, now: "") == 1)
  }

  @Test("a recycle bin without a UUID is recognised by its name at the top level, unless it is disabled")
  func recycleBin() throws {
    let inner = "<Group><Name>Recycle Bin</Name><Notes>n</Notes>\(entry([("Password", "pw")]))</Group>"
    let top = try plan(inner)
    #expect(top.items.isEmpty)
    #expect(top.findings.map(\.outcome) == [.skipped(.trash), .skipped(.trash)])
    #expect(secrets(try plan("<Group><Name>Work</Name>\(inner)</Group>")) == ["n", "pw"])
    #expect(secrets(try plan(inner, meta: "<RecycleBinEnabled>False</RecycleBinEnabled>")) == ["n", "pw"])
  }

  @Test("a string without a name and the notes of the top group are kept")
  func nameless() throws {
    let draft = try plan("<Notes>top</Notes><Entry><String><Value>v</Value></String></Entry>")
    #expect(secrets(draft) == ["top", "", "v"])
    #expect(draft.items[0].source.text == "Top")
  }

  @Test("a file that many entries share is decoded once and kept in memory once")
  func repeated() throws {
    let base64 = Data(repeating: 0x61, count: ImportDraft.secretLimit).base64EncodedString()
    let entries = String(
      repeating: "<Entry><Binary><Key>f</Key><Value Ref=\"0\"/></Binary></Entry>", count: 300)
    let draft = try plan(
      entries,
      meta: "<Binaries><Binary ID=\"0\">\(base64)</Binary></Binaries>")
    let kept = draft.items.filter { $0.part == .column("file f") }
    let lost = draft.findings.filter(\.outcome.isLoss).count
    #expect(kept.count == 256 && lost == 44)
    // The entries share the bytes.
    let first = unsafe kept[0].secret.withBytes { UInt(bitPattern: $0.baseAddress) }
    let last = unsafe kept[255].secret.withBytes { UInt(bitPattern: $0.baseAddress) }
    #expect(first == last)
  }

  @Test("a document with too many values is refused")
  func count() {
    let json = "[" + String(repeating: "0,", count: 2_000_000) + "0]"
    #expect(throws: SourceError.json(.tooMany(limit: 2_000_000))) {
      try BitwardenImport.plan(SecretBytes(copying: Array(json.utf8)))
    }
    let xml = "<a>" + String(repeating: "<a/>", count: XMLReader.countLimit) + "</a>"
    #expect(throws: SourceError.xml(.tooMany(limit: XMLReader.countLimit))) {
      try KeePassImport.plan(SecretBytes(copying: Array(xml.utf8)))
    }
  }
}
