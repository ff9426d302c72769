import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import Credentials

@Suite("Git's questions for passphrases of client certificates", .serialized)
struct ClientCertificateTests {
  /// The request that git makes for `http.sslCert`.
  static let question = "protocol=cert\nhost=\nusername=\npath=/home/alice/client.pem\n"

  @Test("git gets what was stored")
  func roundTrip() throws {
    let world = try GitWorld()
    #expect(try world.get(Self.question) == "")
    #expect(try world.store(Self.question + "password=secret\n"))
    #expect(try !world.store(Self.question + "password=secret\n"))
    #expect(try world.get(Self.question) == "username=\npassword=secret\n")
    let item = try #require(world.items().first)
    #expect(item.itemClass == .genericPassword)
    #expect(item.attributes == ["service": "cert", "account": "/home/alice/client.pem"])
    #expect(try world.store(Self.question + "password=new\n"))
    #expect(try world.items().count == 1)
    #expect(try world.get(Self.question) == "username=\npassword=new\n")
  }

  @Test("only a passphrase that was rejected is erased")
  func erase() throws {
    let world = try GitWorld()
    try world.store(Self.question + "password=secret\n")
    #expect(try world.erase(Self.question + "password=old\n") == 0)
    #expect(try world.erase("protocol=cert\nhost=\npath=/home/alice/other.pem\n") == 0)
    #expect(try world.items().count == 1)
    #expect(try world.erase(Self.question + "password=secret\n") == 1)
    #expect(try world.items().isEmpty)
    #expect(try world.erase(Self.question) == 0)
  }

  @Test("an item with the name of the file is read on every machine, and neither replaced nor erased")
  func name() throws {
    let world = try GitWorld()
    let shared = try world.keyring.add(
      NewItem(itemClass: .genericPassword, attributes: ["service": "cert", "account": "client.pem"]),
      secret: SecretBytes(text: "secret"))
    #expect(try world.get(Self.question) == "username=\npassword=secret\n")
    // What git has received is not stored again.
    #expect(try !world.store(Self.question + "password=secret\n"))
    #expect(try world.items().count == 1)
    #expect(try world.erase(Self.question + "password=secret\n") == 0)
    #expect(try world.store(Self.question + "password=new\n"))
    #expect(try world.items().count == 2 && world.keyring.text(of: shared) == "secret")
    #expect(try world.get(Self.question) == "username=\npassword=new\n")
    let other = "protocol=cert\nhost=\nusername=\npath=/home/bob/client.pem\n"
    #expect(try world.get(other) == "username=\npassword=secret\n")
    #expect(try world.erase(Self.question + "password=new\n") == 1)
    #expect(try world.items() == [shared])
  }

  @Test(
    "a question gets nothing that belongs to another place",
    arguments: [
      "protocol=cert\nhost=\n", "protocol=cert\nhost=\npath=\n",
      "protocol=cert\nhost=\npath=/home/bob/other.pem\n",
      "protocol=https\nhost=\npath=/home/alice/client.pem\n", "host=\npath=/home/alice/client.pem\n",
      "protocol=cert\nhost=evil.example\npath=/home/alice/client.pem\n",
      "protocol=cert\nhost=\nusername=bob\npath=/home/alice/client.pem\n",
      "protocol=https\nhost=cert\npath=home/alice/client.pem\n",
    ])
  func elsewhere(question: String) throws {
    let world = try GitWorld()
    try world.store(Self.question + "password=secret\n")
    #expect(try world.get(question) == "")
    #expect(try world.erase(question) == 0)
  }

  @Test("an incomplete or ephemeral passphrase is not stored")
  func incomplete() throws {
    let world = try GitWorld()
    #expect(try !world.store(Self.question))
    #expect(try !world.store(Self.question + "password=x\nephemeral=1\n"))
    #expect(try world.items().isEmpty)
  }

  @Test("passphrases of several groups are ambiguous")
  func groups() throws {
    let world = try GitWorld()
    try world.store(Self.question + "password=secret\n")
    try world.store.changePolicy { $0.groups["ops"] = [world.store.owner] }
    let keyring = try world.store.open()
    let file = Array("/home/alice/client.pem".utf8)
    var new = NewItem(
      itemClass: .genericPassword, attributes: ["service": "cert", "account": AttributeValue(text: file)])
    new.group = "ops"
    let item = try keyring.add(new, secret: SecretBytes(text: "of ops"))
    let certificates = ClientCertificates(keyring)
    #expect(throws: CredentialError.self) { _ = try certificates.get(file) }
    #expect(throws: CredentialError.self) { try certificates.erase(file, nil) }
    #expect(try keyring.text(of: item) == "of ops")
  }

  @Test("an item of another group with the file name is neither replaced nor erased")
  func fileName() throws {
    let world = try GitWorld()
    try world.store(Self.question + "password=secret\n")
    try world.store.changePolicy { $0.groups["ops"] = [world.store.owner] }
    let keyring = try world.store.open()
    var new = NewItem(itemClass: .genericPassword, attributes: ["service": "cert", "account": "client.pem"])
    new.group = "ops"
    let item = try keyring.add(new, secret: SecretBytes(text: "of ops"))
    let certificates = ClientCertificates(keyring)
    let path = Array("/home/alice/client.pem".utf8)
    #expect(throws: CredentialError.self) { _ = try certificates.get(path) }
    #expect(try certificates.store(path, SecretSlice(SecretBytes(text: "new"))))
    #expect(try certificates.erase(path, nil))
    #expect(try keyring.text(of: item) == "of ops" && keyring.find(Query()).items == [item])
  }

  @Test("a passphrase is never stored in an item of another group that has the name of the file")
  func planted() throws {
    let world = try GitWorld()
    let eve = EngineDouble.fingerprint(2)
    try world.store.join(eve, "ops")
    let keyring = try world.store.open()
    var new = NewItem(itemClass: .genericPassword, attributes: ["service": "cert", "account": "client.pem"])
    new.group = "ops"
    let planted = try keyring.add(new, secret: SecretBytes(text: "x"))
    let path = Array("/home/alice/client.pem".utf8)
    #expect(throws: KeyringError.shared(.otherGroup("ops"), [planted.reference])) {
      try ClientCertificates(keyring).store(path, SecretSlice(SecretBytes(text: "passphrase")))
    }
    #expect(try keyring.text(of: planted) == "x" && keyring.find(Query()).items == [planted])
  }
}
