import Keyring
import KeyringModel
import Secrets
import Synchronization
import TestSupport
import Testing

/// Tests that readers, which take no lock, see a single state of the store (DESIGN section 6).
@Suite(.serialized) struct ReaderTests {
  @Test func `an item that is renamed all the time is found exactly once at any time`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let record = try keyring.add(.login("start.example", "me"), secret: SecretBytes(text: "s"))
    let isDone = Atomic(false)
    let looks = Atomic(0)
    try ThreadGroup.run(2) { number in
      guard number == 0 else {
        while !isDone.load(ordering: .acquiring) {
          let found = try keyring.find(Query()).items
          #expect(found.count == 1 && found.first?.id == record.id)
          looks.add(1, ordering: .relaxed)
          #expect(try keyring.text(of: try #require(found.first)) == "s")
        }
        return
      }
      defer { isDone.store(true, ordering: .releasing) }
      for round in 0..<300 {
        var set = Attributes()
        set[.server] = .string("host\(round % 50).example")
        try keyring.update(record, AttributeChanges(set: set))
      }
    }
    #expect(looks.load(ordering: .relaxed) > 3)
  }

  @Test func `a reader finishes the committed change of a killed writer`() throws {
    let store = StandInStore()
    let keyring = try store.create()
    let record = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "old"))
    // Killed right after the record of the transaction was renamed into place.
    let isDecided = Atomic(false)
    let dying = try store.open(faults: { operation, path in
      if isDecided.load(ordering: .relaxed) { return .fail(4) }
      if operation == .rename && path.hasSuffix("commit.json") { isDecided.store(true, ordering: .relaxed) }
      return nil
    })
    #expect(throws: KeyringError.self) { try dying.update(record, secret: SecretBytes(text: "new")) }
    #expect(try store.tree().list(".keytree").count == 2, "the transaction is still there")
    let fresh = try #require(try keyring.find(Query()).items.first)
    #expect(fresh.revision != record.revision)
    #expect(try keyring.text(of: fresh) == "new")
    #expect(try store.tree().list(".keytree") == ["lock"])
  }
}
