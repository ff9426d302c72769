import KeyringModel
import Secrets
import Testing
@testable import Interchange
@testable import KeytreeCLI

/// Secrets must not become public during an import, and no value may replace another.
@Suite("Imports keep secrets secret, and keep them all", .serialized)
struct ImportSecrecyTests {
  private func csv(_ text: String, map: [String] = [], shows: Bool = false) throws -> ImportDraft {
    var mapping = CSVMapping()
    for word in map {
      let isTaken = mapping.add(word)
      #expect(isTaken, "\(word)")
    }
    let bytes = SecretBytes(copying: Array(text.utf8))
    return try CSVImport.plan(bytes, mapping: mapping, showsUnknown: shows).draft
  }

  private func shown(_ draft: ImportDraft) -> String {
    draft.items.flatMap { $0.attributes.entries.map { "\($0.name)=\($0.value)" } }.joined(separator: "\n")
  }

  private func secrets(_ draft: ImportDraft) -> [String] { draft.items.map(\.secret.text) }

  @Test(
    "a comma within a URL does not end it",
    arguments: [
      "https://a.example/cb?scope=read,SECRET", "https://u:pa,SECRET@b.example/",
      "https://x.example/?a,SECRET,https://y.example/",
      "https://x.example/,https://u:pa,SECRET@b.example/,https://z.example/",
    ])
  func commas(addresses: String) throws {
    let draft = try csv(
      "folder,favorite,type,name,notes,fields,login_uri,login_username,login_password\n"
        + ",,login,n,,,\"\(addresses)\",u,pw\n")
    #expect(!shown(draft).contains("SECRET"))
    #expect(secrets(draft) == ["pw", addresses])
  }

  @Test("a list of URLs without secrets is split")
  func addresses() throws {
    let fields = CSVFields.urls(in: SecretSlice(text: "a.example, https://b.example/x,y ,androidapp://c"))
    #expect(fields.map(\.text) == ["a.example", "https://b.example/x,y", "androidapp://c"])
  }

  @Test("a mapped column replaces no other value")
  func mapping() throws {
    let text = "name,url,username,password,note,pin,login2\nn,https://a.example/,u1,pw1,,pw2,u2\n"
    let draft = try csv(text, map: ["pin=secret", "login2=account"])
    #expect(secrets(draft) == ["pw2", "u1", "pw1"])
    #expect(draft.items[0].text(.account) == "u2")
    let shown = try csv(text, map: ["pin=secret"], shows: true)
    #expect(!self.shown(shown).contains("pw1"))
    #expect(secrets(try csv(text, map: ["pin=secret", "login2=secret"])) == ["pw2", "pw1", "u2"])
    #expect(secrets(try csv(text, map: ["pin=server"])) == ["pw1", "u2"])
    #expect(try csv(text, map: ["pin=server"]).items[0].text(.url) == "https://a.example/")
  }

  @Test("a port that is not a number is sealed, and so is an attribute that the class does not have")
  func kinds() throws {
    let text = "name,url,username,password,note,x\nn,https://a.example/,u,pw,,foo\n"
    let draft = try csv(text, map: ["x=port"])
    #expect(draft.items[0].attributes[.port] == nil && secrets(draft) == ["pw", "foo"])
    let generic = try csv("name,url,username,password,note,x\nn,,u,pw,,8080\n", map: ["x=port"])
    #expect(generic.items[0].attributes[.port] == nil && secrets(generic) == ["pw", "8080"])
    var mapping = CSVMapping()
    for name in ["field", "issuer", "id", "keySize", "a\u{7}b"] {
      let isTaken = mapping.add("x=\(name)")
      #expect(!isTaken, "\(name)")
    }
  }

  @Test("an empty row is skipped, and a folder with a URL is an entry")
  func rows() throws {
    let empty = try csv("name,url,username,password,note\n,,,,\nn,,u,pw,\n")
    #expect(empty.items.count == 1 && empty.findings.map(\.outcome) == [.skipped(.empty)])
    let draft = try csv(
      "name,url,username,password,note,cardholdername,folder,type\nn,https://a.example/,,,,,,folder\n")
    #expect(draft.items.count == 1 && draft.findings.isEmpty)
  }

  @Test("a keyword that occurs twice in a netrc entry is kept twice")
  func netrc() throws {
    func plan(_ text: String) throws -> ImportDraft {
      try NetrcImport.plan(SecretBytes(copying: Array(text.utf8)))
    }
    let draft = try plan("machine n login a login b password p1 password p2\n")
    #expect(draft.summary == ["n/a secret: p1", "n/a/login login: b", "n/a/password password: p2"])
    let ports = try plan("machine n:993 login a password p port imap protocol imaps port 143\n")
    #expect(ports.items[0].text(.protocol) == "imap" && ports.items[0].attributes[.port] == 993)
    #expect(secrets(ports) == ["p", "imaps", "143"])
    #expect(secrets(try plan("machine n login a password \"\" password p")) == ["", "p"])
  }

  @Test("an empty password of a keychain is imported, and a missing one is lost")
  func keychain() throws {
    let head = "keychain: \"k\"\nversion: 512\nclass: \"genp\"\nattributes:\n    \"svce\"<blob>=\"s\"\n"
    func plan(_ text: String) throws -> ImportDraft {
      try KeychainDumpImport.plan(SecretBytes(copying: Array((head + text).utf8)))
    }
    for text in ["data:\n\n", "data:\n\"\"\n"] {
      let draft = try plan(text)
      #expect(secrets(draft) == [""] && draft.findings.isEmpty)
    }
    for text in ["data:\n", "data:", ""] {
      let lost = try plan(text).findings.filter(\.outcome.isLoss).count
      #expect(lost == 1)
    }
  }

  private func bitwarden(_ item: String) throws -> ImportDraft {
    try BitwardenImport.plan(SecretBytes(copying: Array("{\"items\":[\(item)]}".utf8)))
  }

  @Test("Bitwarden cards are split into lines safely, and fields may have any type")
  func bitwarden() throws {
    let card = try bitwarden(
      #"{"type":3,"name":"c","card":{"brand":"Visa","code":"1\nnumber: 2","x:y":"z"}}"#)
    #expect(secrets(card) == ["brand: Visa", "1\nnumber: 2", "z"])
    let fields = try bitwarden(
      #"{"type":1,"name":"f","login":{"password":"p","uris":[{"uri":"","match":1},{"uri":"https://a.example","match":2}]},"#
        + #""fields":[{"name":"o","type":0,"value":{"a":"b"}},{"name":"l","type":3,"value":"v"},{"name":"e","type":1,"value":"w","more":"m"}]}"#
    )
    #expect(secrets(fields) == ["p", "1", #"{"a":"b"}"#, "v", "m", "w"])
    #expect(fields.items[0].text("urlMatch") == "2" && fields.findings.isEmpty)
  }

  @Test("an unknown member in Keytree's own format is lost, and a local item stays local")
  func keytree() throws {
    let text =
      #"{"format":"keytree","version":1,"items":[{"class":"generic-password","local":true,"attributes":{},"secret":"s","new":1}]}"#
    let draft = try KeytreeImport.plan(SecretBytes(copying: Array(text.utf8)))
    #expect(draft.items.map(\.isLocal) == [true])
    #expect(draft.findings.map(\.part.text) == ["new"] && draft.findings[0].outcome.isLoss)
  }

  @Test("a label that was changed in the store is kept, and a further URL is added")
  func changed() {
    let store: Attributes = [.label: "New", .server: "a.example", .url: "https://a.example/"]
    let source: Attributes = [
      .label: "Old", .server: "a.example", .url: "https://a.example/x", .comment: "c",
    ]
    #expect(source.missing(in: store, isStored: true) == ["url-2": "https://a.example/x", .comment: "c"])
    #expect(source.missing(in: store)?["label-2"] == "Old")
  }
}
