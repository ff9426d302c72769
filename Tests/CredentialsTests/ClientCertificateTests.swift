import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import Credentials

@Suite("Git's questions for passphrases of client certificates")
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

  @Test("an item with the name of the file is read on every machine, and never changed")
  func name() throws {
    let world = try GitWorld()
    let named = try world.keyring.add(
      NewItem(itemClass: .genericPassword, attributes: ["service": "cert", "account": "client.pem"]),
      secret: SecretBytes(text: "secret"))
    #expect(try world.get(Self.question) == "username=\npassword=secret\n")
    #expect(try world.erase(Self.question + "password=secret\n") == 0)
    // The passphrase of another certificate with this file name.
    #expect(try world.store(Self.question + "password=new\n"))
    #expect(try world.items().count == 2)
    #expect(try world.keyring.text(of: named) == "secret")
    #expect(try world.get(Self.question) == "username=\npassword=new\n")
    let other = "protocol=cert\nhost=\nusername=\npath=/home/bob/client.pem\n"
    #expect(try world.get(other) == "username=\npassword=secret\n")
    #expect(try world.erase(Self.question) == 1)
    #expect(try world.keyring.text(of: named) == "secret")
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
}
