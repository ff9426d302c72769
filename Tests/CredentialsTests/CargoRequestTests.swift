import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import Credentials

@Suite("Cargo's requests", .serialized)
struct CargoRequestTests {
  @Test(
    "invalid requests are refused",
    arguments: [
      "", "{}", "x", #"{"v":2,"kind":"get","registry":{"index-url":"u"}}"#,
      #"{"v":1,"registry":{"index-url":"u"}}"#,
      #"{"v":1,"kind":"get"}"#, #"{"v":1,"kind":"get","registry":{}}"#,
      #"{"v":1,"kind":"get","registry":{"index-url":""}}"#,
    ])
  func refused(line: String) {
    let bytes = SecretBytes(text: line)
    #expect(throws: CredentialError.self) { try CargoRequest(bytes) }
  }

  @Test("a token that several groups have is neither returned, stored nor erased")
  func groups() throws {
    let world = StandInStore()
    try world.create()
    try world.changePolicy { $0.groups["ops"] = [world.owner] }
    let keyring = try world.open()
    let provider = CargoCredentialProvider(keyring)
    for group in ["default", "ops"] {
      let attributes: Attributes = [.service: "cargo-registry:sparse+https://r/"]
      let item = NewItem(itemClass: .genericPassword, attributes: attributes, group: group)
      try keyring.add(item, secret: SecretBytes(text: group))
    }
    let before = try keyring.find(Query()).items
    let ambiguous = CredentialError.ambiguous(before)
    let login = SecretBytes(
      text: #"{"v":1,"kind":"login","token":"x","registry":{"index-url":"sparse+https://r/","name":"n"}}"#)
    let request = try CargoRequest(login)
    #expect(throws: ambiguous) { _ = try provider.token(of: "sparse+https://r/") }
    #expect(throws: ambiguous) {
      try provider.store(SecretSlice(SecretBytes(text: "new")), for: request)
    }
    #expect(throws: ambiguous) { try provider.erase("sparse+https://r/") }
    #expect(try keyring.find(Query()).items == before)
  }

  @Test("a request gets only the token of its registry")
  func tokens() throws {
    let world = StandInStore()
    let keyring = try world.create()
    let provider = CargoCredentialProvider(keyring)
    func request(_ url: String) throws -> CargoRequest {
      let line = SecretBytes(
        text: #"{"v":1,"kind":"login","token":"x","registry":{"index-url":"\#(url)","name":"n"}}"#)
      return try CargoRequest(line)
    }
    func token(_ url: String) throws -> String? {
      guard let line = try provider.token(of: url) else { return nil }
      return line.text()
    }
    func store(_ text: String, _ url: String) throws -> Bool {
      try provider.store(SecretSlice(SecretBytes(text: text)), for: try request(url))
    }
    #expect(try store("t\"1", "sparse+https://r/"))
    #expect(try !store("t\"1", "sparse+https://r/"))
    #expect(
      try token("sparse+https://r/")
        == #"{"Ok":{"kind":"get","token":"t\"1","cache":"session","operation_independent":true}}"#)
    #expect(try token("sparse+https://r") == nil)
    #expect(try store("t2", "sparse+https://r/"))
    #expect(try keyring.find(Query()).items.count == 1)
    #expect(try provider.erase("sparse+https://r/"))
    #expect(try !provider.erase("sparse+https://r/"))
  }
}
