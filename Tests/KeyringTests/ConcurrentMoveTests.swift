import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing

/// Tests an item that is moved to another group between reading it and changing its secret.
@Suite(.serialized) struct ConcurrentMoveTests {
  @Test func `a new secret is not encrypted to a group that the caller has not seen`() throws {
    let store = StandInStore()
    try store.create()
    try store.changePolicy { $0.groups["ops"] = [store.owner] }
    let keyring = try store.open()
    let seen = try keyring.add(.login("prod.example", "root"), secret: SecretBytes(text: "old"))
    let now = try keyring.update(seen, AttributeChanges(group: "ops"))
    let secret = SecretBytes(text: "new")
    #expect(throws: KeyringError.bindingMismatch(now.reference, .condition(.group))) {
      try keyring.update(seen, secret: secret)
    }
    #expect(try keyring.replaceSecret(of: seen, with: secret) == nil)
    #expect(try keyring.text(of: now) == "old")
    #expect(try keyring.replaceSecret(of: now, with: secret) != nil)
  }
}
