import Foundation
import KeyringModel
import Secrets
import Testing

@testable import Interchange
@testable import KeytreeCLI

@Suite("What becomes of the entries of other programs", .serialized)
struct ImportFormatTests {
  private func item(_ draft: ImportDraft, _ secret: String) throws -> PlannedItem {
    try #require(draft.items.first { $0.secret.text == secret })
  }

  @Test(
    "each CSV file is recognised by its first row",
    arguments: [
      ("csv/bitwarden.csv", "Bitwarden"), ("csv/bitwarden-organisation.csv", "Bitwarden (organisation)"),
      ("csv/1password-8.csv", "1Password"), ("csv/1password-7.csv", "1Password 7"),
      ("csv/1password-6.csv", "1Password 6"), ("csv/keepassxc.csv", "KeePassXC"),
      ("csv/keepass-1.csv", "KeePass 1"), ("csv/lastpass.csv", "LastPass"), ("csv/dashlane.csv", "Dashlane"),
      ("csv/nordpass.csv", "NordPass"), ("csv/protonpass.csv", "Proton Pass"),
      ("csv/apple.csv", "Apple Passwords"),
      ("csv/firefox.csv", "Firefox"),
    ])
  func dialects(file: String, name: String) throws {
    #expect(try CSVImport.plan(SecretBytes(copying: ImportFormat.file(file))).dialect == name)
  }

  @Test("Bitwarden's CSV may have several URLs, custom fields and notes")
  func bitwardenCSV() throws {
    let draft = try ImportFormat.csvBitwarden.plan()
    #expect(
      draft.summary == [
        "github.com/alice-mk111 secret: =pw-mk112",
        "github.com/alice-mk111/note note: note mk103\nsecond line mk104",
        "github.com/alice-mk111/pin PIN: mk105", "github.com/alice-mk111/formula =Formula: +mk106",
        "github.com/alice-mk111/long Long: mk107\ngoes on mk108", "github.com/alice-mk111/empty Empty: ",
        "github.com/alice-mk111/otp one-time password: JBSWY3DPMK113",
        "Safe mk114/ note: only a note mk115, with a comma", "com.example.mk116/bob-mk117 secret: ",
      ])
    #expect(draft.items[0].text(.url) == "https://github.com/mk109")
    #expect(draft.items[0].text("url-2") == "https://gist.github.com/mk110")
    #expect(draft.items[0].text("folder") == "Work/mk101" && draft.items[0].text("favorite") == "1")
    #expect(draft.items[7].text(.kind) == "secure note" && draft.items[7].itemClass == .genericPassword)
    let shown = try ImportFormat.csvBitwarden.plan(showsUnknown: true).items[0]
    #expect(shown.text("PIN") == "mk105" && shown.text("Long") == "mk107\ngoes on mk108")
  }

  @Test("a backslash escapes a quote in KeePass 1")
  func keePass1() throws {
    #expect(
      try ImportFormat.csvKeePass1.plan().items.map(\.secret.text) == [
        "quote \" backslash \\ mk173", "lines\nmk175 \"quoted\"",
      ])
  }

  @Test(
    "a LastPass row with http://sn is a note; a NordPass folder is not an item, and a card is not an attribute"
  )
  func marks() throws {
    let notes = try ImportFormat.csvLastPass.plan().items.filter { $0.part == .note }
    #expect(notes.map { $0.text(.server) ?? $0.text(.service) } == ["lp.example.org", "Note mk189"])
    #expect(notes.map(\.field) == ["note", nil] && notes.map { $0.text(.kind) } == [nil, "secure note"])
    #expect(notes[1].secret.text == "NoteType:Server\nPassword:mk188" && notes[1].text(.url) == nil)
    let nord = try ImportFormat.csvNordPass.plan(showsUnknown: true)
    #expect(nord.findings.map(\.outcome) == [.skipped(.folder)])
    #expect(nord.summary.contains("Card mk207//cardnumber cardnumber: 4111mk209"))
  }

  @Test("the mail address of a Proton Pass entry is the account if there is no other")
  func proton() throws {
    let item = try ImportFormat.csvProtonPass.plan().items[0]
    #expect(item.text(.account) == "kim-mk224@example.org" && item.text("email") == item.text(.account))
    #expect(item.text("url-2") == "https://two.example.org/mk223")
  }

  @Test("Bitwarden's JSON is imported")
  func bitwarden() throws {
    let draft = try ImportFormat.bitwarden.plan()
    let login = try item(draft, "pw-mk018 ü")
    #expect(login.text(.server) == "github.com" && login.text(.account) == "alice-mk017")
    #expect(login.text("folder") == "Work/mk001" && login.text("collections") == "Shared mk002")
    #expect(
      login.text("url-3") == "androidapp://com.github.mk016" && login.text("url-2") == "https://github.com/")
    #expect(login.remarks == [.urlPartlySealed])
    let seed = try item(draft, "otpauth://totp/GitHub?secret=MK019")
    #expect(seed.field == "otp" && seed.text(.account) == "alice-mk017" && seed.text(.label) == nil)
    let history = try #require(draft.items.first { $0.part == .column("password history") })
    #expect(history.field == "password-history" && history.text(.label) == "password history")
    #expect(history.secret.text == #"[{"lastUsedDate":"2023-01-01T00:00:00.000Z","password":"old-mk021"}]"#)
    let card = try #require(draft.items.first { $0.attributes[.kind] == "card" })
    #expect(
      card.secret.text
        == "cardholderName: Alice mk029\nbrand: Visa\nnumber: 4111mk030\nexpMonth: 1\nexpYear: 2030\ncode: mk031"
    )
    let key = try #require(draft.items.first { $0.attributes[.kind] == "ssh key" })
    #expect(key.secret.text.hasPrefix("-----BEGIN") && key.text("publicKey") == "ssh-ed25519 AAAAmk038")
    let outcomes = draft.findings.map { "\($0.part.text) \($0.outcome.word)" }
    #expect(outcomes.sorted() == ["Link mk008 skipped", "passkey lost", "secret skipped"])
    // Hidden fields remain sealed even with the option.
    let shown = try item(try ImportFormat.bitwarden.plan(showsUnknown: true), "pw-mk018 ü")
    #expect(
      shown.text("Text mk005") == "=mk006" && shown.text("Hidden") == nil && shown.text("Flag") == "false")
    #expect(shown.text(.account) == "alice-mk017")
  }

  @Test("1Password's archive is imported, compressed or not")
  func onePassword() throws {
    let draft = try ImportFormat.onePassword.plan()
    let login = try item(draft, "pw-mk604")
    #expect(login.text(.server) == "github.com" && login.text(.account) == "alice-mk603")
    #expect(login.text("vault") == "Vault mk601" && login.text("tags") == "home,mk624")
    #expect(login.text("archived") == "true" && login.text("favorite") == "1")
    let file = try #require(draft.items.first { $0.part == .column("file scan mk615.bin") })
    #expect(file.secret.publicBytes() == [0x00, 0xFF] + " mk640".utf8)
    #expect(try item(draft, "document mk641").text(.service) == "Doc mk638")
    #expect(try item(draft, "text mk626").text(.kind) == "secure note")
    #expect(try item(draft, "pw-mk636").text(.service) == "../../Password mk635")
    #expect(draft.summary.contains("github.com/alice-mk603/security-mk607-pin Security mk607.PIN: mk608"))
    let lost = draft.findings.filter(\.outcome.isLoss).map(\.part.text)
    #expect(lost == ["file huge mk616", "file gone mk617", "passkey", "secret"])
    #expect(draft.findings.contains { $0.outcome == .skipped(.trash) })
    let stored = try OnePasswordImport.plan(SecretBytes(copying: ImportFormat.file("imports/stored.1pux")))
    #expect(stored.items.contains { $0.secret.text == "pw-mk604" })
  }

  @Test("KeePass's XML is imported")
  func keePass() throws {
    let draft = try ImportFormat.keePass.plan()
    let top = try item(draft, #"p<w & "mk307" ü"#)
    #expect(top.text(.account) == "alice-mk306" && top.text("url-2") == "https://two.example.org/mk311")
    #expect(top.text("folder") == nil && top.text("expires") == "2030-01-01T00:00:00Z mk304")
    #expect(
      draft.items.contains {
        $0.part == .column("file file.txt mk314") && $0.secret.text == "file content mk342"
      })
    #expect(
      draft.items.contains {
        $0.part == .column("file binary")
          && $0.secret.publicBytes() == Array("binary ".utf8) + [0, 255] + " mk343".utf8
      })
    let seeds = draft.items.filter { $0.part == .oneTimePassword }.map(\.secret.text)
    #expect(
      seeds == [
        "otpauth://totp/Top?secret=MK310", "otpauth://totp/?secret=MK325ABC&period=60&digits=8",
        "otpauth://totp/?secret=MK762&algorithm=SHA256", "otpauth://totp/?secret=MK772&digits=8",
      ])
    let history = try #require(draft.items.first { $0.part == .column("history") })
    #expect(
      history.secret.text == #"[{"modified":"2019-01-01T00:00:00Z","Title":"Top","Password":"old-mk319"}]"#)
    #expect(try item(draft, "pw-mk324").text("folder") == "Inner/mk320/Deep mk322")
    #expect(draft.findings.filter(\.outcome.isLoss).map(\.part.text) == ["file gone", "Password"])
  }

  @Test("a .netrc file may have quotes, comments, ports and macros")
  func netrc() throws {
    let draft = try ImportFormat.netrc.plan()
    #expect(
      draft.summary == [
        "mail.example.org/alice-mk401 secret: pw#mk402",
        "git.example.org/bob mk403 secret: quote \" backslash \\ mk404",
        "git.example.org/bob mk403/account account: mk405",
        "imap.example.org/carol-mk407 secret: back\\slash-mk408", "smtp.example.org/dave secret: pw-mk409",
        "default/anonymous secret: mk410@example.org",
      ])
    #expect(draft.items.map { $0.attributes[.port] } == [nil, 8443, 8443, nil, 587, nil])
    #expect(draft.items[3].text(.protocol) == "imaps" && draft.items[5].itemClass == .genericPassword)
    #expect(draft.findings.map(\.source) == [.line(7)])
  }

  @Test("a keychain dump may have attributes, hexadecimal data and secure notes")
  func keychain() throws {
    let draft = try ImportFormat.keychain.plan()
    let web = try item(draft, #"pw "quoted" mk507"#)
    #expect(web.text(.protocol) == "https" && web.text(.authenticationType) == "html-form")
    #expect(web.attributes[.port] == 8443 && web.text(.comment) == "mk504ü" && web.text(.path) == "/mk505")
    #expect(web.text("creationDate") == "20150917153415Z")
    let mailer = try item(draft, "line\nmk510")
    #expect(mailer.attributes[.creator] == 0x6161_706C && mailer.attributes[.invisible] == true)
    let note = try item(draft, "note & mk512\nsecond <line>")
    #expect(note.text(.kind) == "secure note" && note.attributes[.type] == nil)
    #expect(draft.findings.map(\.source) == [.line(49), .line(54)])
  }

  @Test("path separators, escape sequences and line ends in a name are kept as text")
  func hostile() throws {
    for format in [ImportFormat.bitwarden, .keePass, .onePassword] {
      let draft = try format.plan()
      for item in draft.items {
        #expect(item.path.text.utf8.allSatisfy { (0x21...0x7E).contains($0) })
        #expect(item.path.text.split(separator: "/").allSatisfy { $0 != ".." && $0 != "." })
      }
    }
    let draft = try ImportFormat.bitwarden.plan()
    #expect(
      draft.items.contains { $0.text(.label) == "\u{1B}[31m../../mk041" && $0.text(.account) == "a\nb" })
  }
}
