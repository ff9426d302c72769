import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import Credentials

@Suite("Docker's credentials", .serialized)
struct DockerCredentialHelperTests {
  let world = StandInStore()
  let keyring: Keyring
  let helper: DockerCredentialHelper

  init() throws {
    keyring = try world.create()
    helper = DockerCredentialHelper(keyring)
  }

  @discardableResult
  func store(_ url: String, _ user: String, _ secret: String) throws -> Bool {
    let json = SecretBytes(
      text: "{\"ServerURL\":\"\(url)\",\"Username\":\"\(user)\",\"Secret\":\"\(secret)\"}")
    return try helper.store(DockerCredential(json))
  }

  func get(_ url: String) throws -> String? {
    guard let object = try helper.get(Array(url.utf8)) else { return nil }
    return object.text()
  }

  func listed() throws -> String {
    String(decoding: try DockerCredentialHelper.list(keyring.index), as: UTF8.self)
  }

  @Test("credentials in several groups are ambiguous, and nothing is stored, erased or returned")
  func groups() throws {
    try store("https://r.example", "bob", "of default")
    try world.changePolicy { $0.groups["ops"] = [world.owner] }
    let keyring = try world.open()
    let helper = DockerCredentialHelper(keyring)
    let old = try #require(keyring.find(Query()).items.first)
    var new = NewItem(itemClass: .internetPassword, attributes: old.attributes, group: "ops")
    new.attributes[.account] = "eve"
    let other = try keyring.add(new, secret: SecretBytes(text: "of ops"))
    let before = try keyring.find(Query()).items
    let credential = SecretBytes(text: #"{"ServerURL":"https://r.example","Username":"bob","Secret":"new"}"#)
    let ambiguous = CredentialError.ambiguous(before)
    #expect(throws: ambiguous) { _ = try helper.get(Array("r.example".utf8)) }
    #expect(throws: ambiguous) { try helper.store(DockerCredential(credential)) }
    #expect(throws: ambiguous) { try helper.erase(Array("r.example".utf8)) }
    #expect(try keyring.find(Query()).items == before)
    // A credential of another account does not get the readers of the entry that a member of `ops` has made.
    try keyring.delete([old])
    #expect(try helper.store(DockerCredential(credential)))
    let items = try keyring.find(Query()).items
    #expect(items.map(\.group).sorted() == ["default", "ops"] && items.contains(other))
    #expect(try keyring.text(of: other) == "of ops")
  }

  @Test("the only credential with the same account keeps its group")
  func sameGroup() throws {
    try store("https://r.example", "bob", "old")
    try world.changePolicy { $0.groups["ops"] = [world.owner] }
    let keyring = try world.open()
    let item = try #require(keyring.find(Query()).items.first)
    try keyring.update(item, AttributeChanges(group: "ops"))
    let credential = SecretBytes(text: #"{"ServerURL":"https://r.example","Username":"bob","Secret":"new"}"#)
    #expect(try DockerCredentialHelper(keyring).store(DockerCredential(credential)))
    let items = try keyring.find(Query()).items
    #expect(try items.map(\.group) == ["ops"] && keyring.text(of: items[0]) == "new")
  }

  @Test("credentials come back byte for byte, including a line feed at the end")
  func roundTrip() throws {
    #expect(try store("https://index.docker.io/v1/", "bob", #"p\"w\n\u0007é\n"#))
    #expect(
      try get("https://index.docker.io/v1/")
        == #"{"ServerURL":"https://index.docker.io/v1/","Username":"bob","Secret":"p\"w\n\u0007é\n"}"#)
    let item = try #require(keyring.find(Query()).items.first)
    #expect(
      item.attributes == [
        "server": "index.docker.io", "protocol": "https", "path": "/v1/", "account": "bob",
        "label": "Docker Credentials",
        "authenticationType": "default", "url": "https://index.docker.io/v1/",
      ])
  }

  @Test(
    "credentials are found by every spelling of their URL and by no other URL",
    arguments: [
      ("https://r.example", "r.example", true), ("r.example", "https://r.example", true),
      ("r.example", "R.example", true),
      ("https://r.example:5000", "r.example:5000", true), ("http://r.example", "r.example", true),
      ("https://r.example/v1?x=1", "https://r.example/v1?y=2", true),
      ("https://u@r.example", "r.example", true),
      ("http://r.example", "https://r.example", false), ("https://r.example", "http://r.example", false),
      ("r.example", "r.example:443", true), ("r.example.", "https://r.example", true),
      ("http://r.example", "r.example:80", true), ("http://r.example:443", "r.example", false),
      ("r.example/v1/", "r.example", false),
      ("r.example", "r.example/v1/", false),
      ("r.example/v1/", "r.example/v1/access-token", false), ("r.example", "r.example.evil", false),
      ("[2001:db8::1]:5000", "https://[2001:db8::1]:5000", true),
      ("//r.example:5000", "//r.example:5000", true), ("//r.example:5000", "r.example:5000", true),
      ("//r.example:5000", "//r.example:5001", false), ("//r.example/v1", "r.example", false),
      ("::1:5000", "::1:5000", true), ("::1:5000", "https://::1:5000", true), ("::1:5000", "::1:5001", false),
      ("::1:5000", "[::1]:5000", false), ("//::1:5000", "::1:5000", true),
      ("https://::1:8080/path", "https://::1:8080/path", true), ("https://::1:8080/path", "::1:8080", false),
      ("https://::1:8080/path", "http://::1:8080/path", false),
    ])
  func spellings(stored: String, asked: String, isFound: Bool) throws {
    try store(stored, "u", "s")
    #expect(try (get(asked) != nil) == isFound)
    #expect(try helper.erase(Array(asked.utf8)) == isFound)
    #expect(try (get(stored) == nil) == isFound)
  }

  @Test(
    "the list has the names of registries as docker gave them",
    arguments: ["//r.example:5000", "::1:5000", "https://::1:8080/path"])
  func names(url: String) throws {
    try store(url, "u", "s")
    #expect(try listed() == #"{"\#(url)":"u"}"#)
    #expect(try get(url) == #"{"ServerURL":"\#(url)","Username":"u","Secret":"s"}"#)
  }

  @Test("credentials of https are preferred to those of http if the URL has no scheme")
  func schemes() throws {
    try store("http://r.example", "u", "plain")
    try store("https://r.example", "u", "encrypted")
    #expect(try get("r.example")?.contains("encrypted") == true)
    #expect(try get("http://r.example")?.contains("plain") == true)
  }

  @Test("credentials of another user are replaced, and nothing is written if nothing changes")
  func replace() throws {
    #expect(try store("r.example", "alice", "1"))
    #expect(try !store("r.example", "alice", "1"))
    #expect(try store("r.example", "alice", "2"))
    #expect(try store("r.example", "bob", "3"))
    #expect(try keyring.find(Query()).items.count == 1)
    #expect(try get("r.example") == #"{"ServerURL":"r.example","Username":"bob","Secret":"3"}"#)
  }

  @Test("the list contains docker's entries, three of them for its hub, and nothing else")
  func list() throws {
    #expect(try listed() == "{}")
    let secret = SecretBytes(text: "s")
    try keyring.add(.login("github.com", "alice"), secret: secret)
    try keyring.add(
      .login("r.example", "zoe", ["label": "Docker Credentials", "port": 5000]), secret: secret)
    for path in ["", "access-token", "refresh-token"] {
      try store("https://index.docker.io/v1/\(path)", "bob\(path)", "s")
    }
    let before = keyring.engineStatistics.decryptions
    #expect(
      try listed()
        == #"{"https://index.docker.io/v1/":"bob","https://index.docker.io/v1/access-token":"bobaccess-token","#
        + #""https://index.docker.io/v1/refresh-token":"bobrefresh-token","https://r.example:5000":"zoe"}"#)
    #expect(keyring.engineStatistics.decryptions == before)
  }

  @Test(
    "malformed messages are refused",
    arguments: [
      "", "{", "[]", "1", "{\"ServerURL\":1}", "{\"Secret\":{\"a\":1}}",
      "{\"ServerURL\":\"a\",\"ServerURL\":\"b\"}",
    ])
  func malformed(message: String) {
    let bytes = SecretBytes(text: message)
    #expect(throws: CredentialError.self) { try DockerCredential(bytes) }
  }

  @Test(
    "a URL without a host is refused, and nothing is stored",
    arguments: ["https://", "/v1/", "a b", "h:x", "://h", "//", "///v1", "//a b", "//h:x", "h:1:2", "::1:g"])
  func noHost(url: String) throws {
    #expect(throws: CredentialError.self) { try store(url, "u", "s") }
    #expect(throws: CredentialError.self) { try get(url) }
    #expect(try keyring.find(Query()).items.isEmpty)
  }

  @Test("the public attributes contain no password and no token of the URL")
  func publicURL() throws {
    try store("https://bob:hunter2@r.example/v1/?tok=hunter3", "bob", "s")
    #expect(try listed() == #"{"https://r.example/v1/":"bob"}"#)
    #expect(try get("https://bob:hunter2@r.example/v1/?tok=hunter3") != nil)
    for url in ["//bob:hunter2@s.example:5000", "https://bob:hunter2@::1:8080/path"] {
      try store(url, "bob", "s")
      #expect(try get(url) != nil && !listed().contains("hunter2"))
    }
  }

  @Test(
    "a public URL has no user, even if the rest looks like another URL",
    arguments: [
      ("a@//bob:hunter2@r.example/x", "//r.example/x"), ("a@//:b@c://bob:hunter2@d", "//c://d"),
      ("https://a@r.example/b@c", "https://r.example/b@c"),
      ("a@b@https://bob:hunter2@r.example", "a@b@https://r.example"), ("//a@r.example", "//r.example"),
    ])
  func nestedURL(url: String, shown: String) {
    #expect(String(decoding: Endpoint.publicURL(Array(url.utf8)), as: UTF8.self) == shown)
    #expect(String(decoding: Endpoint.publicURL(Array(shown.utf8)), as: UTF8.self) == shown)
  }

  @Test("an item that docker did not store is not replaced, and the error names it")
  func taken() throws {
    let secret = SecretBytes(text: "s")
    let item = try keyring.add(
      .login("r.example", "bob", ["protocol": "https", "authenticationType": "default"]), secret: secret)
    #expect(throws: CredentialError.taken(item.reference)) { try store("r.example", "bob", "t") }
    #expect(try keyring.text(of: item) == "s")
  }

  @Test("a secret that JSON cannot represent is not returned")
  func notUTF8() throws {
    let secret = SecretBytes(copying: [0xFF])
    let item = try keyring.add(
      .login("r.example", "u", ["label": "Docker Credentials", "protocol": "https"]), secret: secret)
    #expect(throws: CredentialError.notUTF8(item.reference)) { try get("r.example") }
  }
}
