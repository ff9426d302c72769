import Keyring
import KeyringModel
import Secrets
import Testing

@testable import Interchange
@testable import KeytreeCLI

@Suite("Merging an import", .serialized)
struct ImportMergeTests {
  struct Row: Sendable {
    var account = "alice"
    var url = "https://github.com/"
    var secret = "1"
    var label = "GitHub"
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var stored: [Row] = []
    var rows: [Row]
    var words: [String]
    /// The path, security domain and secret of each added item.
    var added: [[String]]
    var testDescription: String { name }
  }

  @Test(
    "an entry is added, merged or recognised, and never lost",
    arguments: [
      Case(name: "one row", rows: [Row()], words: ["added"], added: [["", "", "1"]]),
      Case(
        name: "the same row twice", rows: [Row(), Row()], words: ["added", "duplicate"],
        added: [["", "", "1"]]),
      Case(
        name: "same secret, other path: one item", rows: [Row(), Row(url: "https://github.com/login")],
        words: ["added", "joined"], added: [["", "", "1"]]),
      Case(
        name: "other secret, other path", rows: [Row(), Row(url: "https://github.com/login", secret: "2")],
        words: ["added", "added-beside"], added: [["", "", "1"], ["/login", "", "2"]]),
      Case(
        name: "other secrets, same URL", rows: [Row(), Row(secret: "2"), Row(secret: "3"), Row(secret: "2")],
        words: ["added", "added-beside", "added-beside", "duplicate"],
        added: [["", "", "1"], ["", "duplicate-2", "2"], ["", "duplicate-3", "3"]]),
      Case(
        name: "in the store with the same secret", stored: [Row()], rows: [Row()], words: ["already-there"],
        added: []),
      Case(
        name: "in the store with another label", stored: [Row(label: "Mine")], rows: [Row()],
        words: ["already-there"], added: []),
      Case(
        name: "in the store with another secret", stored: [Row(secret: "old")], rows: [Row()],
        words: ["different"], added: []),
      Case(
        name: "the same different secret twice", stored: [Row(secret: "old")], rows: [Row(), Row()],
        words: ["different", "duplicate"], added: []),
      Case(
        name: "two different secrets", stored: [Row(secret: "old")], rows: [Row(), Row(secret: "2")],
        words: ["different", "added-beside"], added: [["", "duplicate-2", "2"]]),
      Case(
        name: "one of two secrets of a name has changed", stored: [Row(secret: "1"), Row(secret: "2")],
        rows: [Row(secret: "1"), Row(secret: "3")], words: ["already-there", "different"], added: []),
      Case(
        name: "in the store under a second name", stored: [Row(secret: "old"), Row(secret: "1")],
        rows: [Row()], words: ["already-there"], added: []),
      Case(
        name: "two rows complete one item", stored: [Row(url: "https://github.com/a")],
        rows: [
          Row(url: "https://github.com/b"), Row(url: "https://github.com/c"),
          Row(url: "https://github.com/b"),
        ],
        words: ["completed", "completed", "already-there"], added: []),
      Case(
        name: "another account, port or protocol is another item",
        rows: [
          Row(), Row(account: "bob"), Row(url: "https://github.com:8443/"), Row(url: "http://github.com/"),
        ],
        words: ["added", "added", "added", "added"],
        added: [["", "", "1"], ["", "", "1"], ["", "", "1"], ["", "", "1"]]),
    ])
  func outcomes(_ example: Case) throws {
    let store = ImportedStore()
    store.apply(store.merge(try draft(example.stored)))
    let plan = store.merge(try draft(example.rows))
    #expect(plan.report.entries.map(\.outcome.word) == example.words)
    let added = plan.additions.map { [$0.text(.path) ?? "", $0.text(.securityDomain) ?? "", $0.secret.text] }
    #expect(added == example.added)

    // The invariant behind the cases: after the plan is applied, a second import finds everything.
    store.apply(plan)
    #expect(store.merge(try draft(example.rows)).isEmpty)
  }

  @Test("further values are kept under numbered names, and a browser's usage counts are not")
  func furtherValues() throws {
    let store = ImportedStore()
    let urls = ["a", "b", "c"].map { Row(url: "https://github.com/\($0)") }
    let plan = store.merge(try draft(urls))
    #expect(plan.additions.count == 1)
    let item = try #require(plan.additions.first)
    #expect(["url", "url-2", "url-3"].map { item.text(AttributeName($0)) } == urls.map(\.url))
    #expect(
      plan.report.entries.map(\.outcome) == [
        .added, .joined(.row(2), adding: ["url-2"]), .joined(.row(2), adding: ["url-3"]),
      ])
  }

  @Test("a second item keeps a value that does not fit into the first")
  func noRoom() throws {
    let rows = (0..<12).map { Row(url: "https://github.com/\($0)") }
    let plan = ImportedStore().merge(try draft(rows))
    #expect(plan.additions.map { $0.text(.path) ?? "" } == ["", "/9", "/10", "/11"])
    let all = plan.additions.flatMap { item in
      item.attributes.entries.filter { $0.name.text.hasPrefix("url") }.map(\.value)
    }
    #expect(Set(all) == Set(rows.map { AttributeValue.string($0.url) }))
  }

  @Test("at most 99 secrets have the same name, and further ones are reported as lost")
  func tooManyOfOneName() throws {
    let rows = (0..<101).map { Row(url: "https://github.com/", secret: "\($0)") }
    let plan = ImportedStore().merge(try draft(rows))
    #expect(plan.additions.count == 99)
    #expect(plan.report.counts == .init(added: 99, beside: 98, lost: 2))
  }

  @Test("a secret of the store is read only if the name is taken")
  func secretsCompared() throws {
    let store = ImportedStore()
    store.apply(store.merge(try draft([Row()])))
    #expect(store.secretsCompared == 0)
    _ = store.merge(try draft([Row(account: "bob"), Row()]))
    #expect(store.secretsCompared == 1)
  }

  @Test("several notes of one login are all kept and found again")
  func notes() throws {
    let text = """
      name,url,username,password,note
      a,https://a.example/,alice,1,first
      a,https://a.example/,alice,1,second
      a,https://a.example/,alice,1,first
      a,https://a.example/,alice,2,third
      """
    let (draft, _, _) = try CSVImport.plan(SecretBytes(copying: Array(text.utf8)))
    let store = ImportedStore()
    let plan = store.merge(draft)
    let notes = plan.additions.filter { $0.part == .note }
    #expect(notes.map(\.field) == ["note", "note-2", "note"])
    #expect(notes.map(\.secret.text) == ["first", "second", "third"])
    // The fields of the second login have the path of that login.
    #expect(notes.map { $0.text(.securityDomain) } == [nil, nil, "duplicate-2"])
    store.apply(plan)
    #expect(store.merge(draft).isEmpty)
  }

  @Test("an existing field is found again, and a different one is reported or replaced")
  func fieldsOfTheStore() throws {
    func note(_ text: String, secret: String = "1") throws -> ImportDraft {
      let file = "name,url,username,password,note\na,https://a.example/,alice,\(secret),\(text)\n"
      return try CSVImport.plan(SecretBytes(copying: Array(file.utf8))).draft
    }
    let store = ImportedStore()
    store.apply(store.merge(try note("first")))
    let again = store.merge(try note("second"))
    #expect(again.report.entries.map(\.outcome.word) == ["already-there", "different"])
    #expect(again.isEmpty)
    let update = store.merge(try note("second", secret: "2"), replaces: true)
    #expect(update.report.entries.map(\.outcome.word) == ["replaced", "replaced"])
    store.apply(update)
    #expect(store.merge(try note("second", secret: "2")).report.counts == .init(alreadyThere: 2))
  }

  @Test("with `--update`, a replaced secret makes room for no other row, and a second run finds everything")
  func replaced() throws {
    let store = ImportedStore()
    store.apply(store.merge(try draft([Row(secret: "1")])))
    let rows = [Row(secret: "9"), Row(secret: "9"), Row(secret: "1")]
    let plan = store.merge(try draft(rows), replaces: true)
    #expect(plan.report.entries.map(\.outcome.word) == ["replaced", "duplicate", "added-beside"])
    store.apply(plan)
    #expect(store.merge(try draft(rows), replaces: true).isEmpty)
  }

  @Test("a login of another group is not added to the group of the import, unless the user chose it")
  func otherGroup() throws {
    let merge = ImportMerge<Never>(
      group: "default", existing: { _ in nil },
      otherGroup: { $0.attributes[.account] == "alice" ? "ops" : nil }, hasSecret: { _, _ in false })
    let plan = merge.plan(try draft([Row(), Row(account: "bob")]))
    #expect(plan.report.entries.map(\.outcome) == [.inOtherGroup("ops"), .added])
    #expect(plan.additions.count == 1 && !plan.report.hasLoss)
  }

  private func bitwarden(
    _ entries: [(notes: String, folder: String, archived: Bool, password: String)]
  ) throws
    -> ImportDraft
  {
    let items = entries.map { entry in
      let date = entry.archived ? "\"2025-01-01T00:00:00Z\"" : "null"
      return
        #"{"type":1,"name":"Alarm","folderId":"\#(entry.folder)","notes":"\#(entry.notes)","archivedDate":"#
        + #"\#(date),"revisionDate":"\#(entry.notes)","login":{"password":"\#(entry.password)"}}"#
    }
    let file = #"{"encrypted":false,"items":[\#(items.joined(separator: ","))]}"#
    return try BitwardenImport.plan(SecretBytes(copying: Array(file.utf8)))
  }

  @Test(
    "entries without a password are the same only if all their parts are, and are found where they were put"
  )
  func emptySecrets() throws {
    let entries = [("1", "a"), ("2", "a"), ("1", "b"), ("2", "a"), ("", "a")]
    let draft = try bitwarden(
      entries.map { (notes: $0.0, folder: $0.1, archived: false, password: "") })
    let store = ImportedStore()
    let plan = store.merge(draft)
    let heads = plan.additions.filter { $0.field == nil }
    #expect(heads.map { $0.text(.account) } == [nil, "(2)", "(3)", "(4)"])
    #expect(heads.map { $0.text("folder") } == ["a", "a", "b", "a"])
    #expect(plan.additions.filter { $0.field != nil }.map(\.secret.text) == ["1", "2", "1"])
    store.apply(plan)
    let again = store.merge(draft)
    #expect(again.isEmpty && again.report.counts.alreadyThere == draft.items.count)
    let paths = again.report.entries.filter { $0.part == .secret }.map { $0.path?.text ?? "" }
    #expect(Set(paths).count == 4)
    // In another order, each entry is still found.
    var reversed = draft
    reversed.logins.reverse()
    #expect(store.merge(reversed).isEmpty)
  }

  @Test("an entry without a password whose note has changed is the same entry, with another note")
  func changedNote() throws {
    let store = ImportedStore()
    store.apply(store.merge(try bitwarden([("1", "a", false, ""), ("2", "b", false, "")])))
    let plan = store.merge(try bitwarden([("1", "a", false, ""), ("3", "b", false, "")]))
    #expect(plan.additions.isEmpty)
    #expect(
      plan.report.entries.filter { $0.part == .note }.map(\.outcome) == [.alreadyThere, .different])
  }

  @Test("an archived login never replaces, joins or hides the active one")
  func archived() throws {
    let draft = try bitwarden([
      ("", "a", true, "old"), ("", "a", false, "new"), ("", "a", true, "new"),
    ])
    let store = ImportedStore()
    let plan = store.merge(draft)
    #expect(plan.additions.map(\.secret.text) == ["new", "old", "new"])
    #expect(plan.additions.map { $0.attributes.isArchived } == [false, true, true])
    #expect(plan.additions.map { $0.text(.account) } == [nil, "(2)", "(3)"])
    store.apply(plan)
    #expect(store.merge(draft, replaces: true).isEmpty)
    let active = ImportedStore()
    active.apply(active.merge(try bitwarden([("", "a", false, "new")])))
    let later = active.merge(try bitwarden([("", "a", true, "old")]), replaces: true)
    #expect(later.replacements.isEmpty && later.additions.map(\.secret.text) == ["old"])
  }

  @Test("a seed without a password is added to the existing password")
  func seedAlone() throws {
    func plan(_ text: String) -> ImportDraft {
      let entry = PassEntry(components: ["a.example", "alice"].map { Array($0.utf8) })
      return PassImport.plan(entry, plaintext: SecretBytes(copying: Array(text.utf8)))
    }
    let store = ImportedStore()
    store.apply(store.merge(plan("pw\n")))
    let seed = store.merge(plan("otpauth://totp/a\n"))
    #expect(
      seed.additions.map(\.field) == ["otp"] && seed.additions.map { $0.text(.server) } == ["a.example"])
    store.apply(seed)
    #expect(plan("otpauth://totp/a\n").items.count == 1 && store.merge(plan("otpauth://totp/a\n")).isEmpty)
    let other = store.merge(plan("otpauth://totp/b\n"))
    #expect(other.report.entries.map(\.outcome) == [.different])
  }

  private func draft(_ rows: [Row]) throws -> ImportDraft {
    let lines = rows.map { "\($0.label),\($0.url),\($0.account),\($0.secret)\n" }
    let text = "name,url,username,password\n" + lines.joined()
    return try CSVImport.plan(SecretBytes(copying: Array(text.utf8))).draft
  }
}
