import Keyring
import KeyringModel
import OpenPGP
import Secrets
import Synchronization
import TestSupport
import Testing

/// Tests a check of a store with more items than one batch of the threads.
@Suite(.serialized) struct CheckTests {
  @Test("decrypting every item on several threads finds all damage and reports progress")
  func several() throws {
    let store = StandInStore()
    let keyring = try store.create()
    for number in 0..<150 {
      try keyring.add(.login("host-\(number).example", "alice"), secret: SecretBytes(text: "secret"))
    }
    let tree = try store.tree()
    let damaged = "items/internet-password/host-77.example/alice.gpg"
    var bytes = try #require(try tree.read(damaged, limit: 1 << 20))
    bytes[bytes.count - 3] ^= 1
    try tree.remove(damaged)
    try tree.createFile(damaged, bytes)

    let steps = Mutex<[Int]>([])
    let report = try store.open().check(decrypts: true) { done, total in
      #expect(total == 150)
      steps.withLock { $0.append(done) }
    }
    #expect(report.items == 150 && report.decrypted == 149)
    #expect(report.findings == [Finding(damaged, .damaged(.notAsRecorded))])
    #expect(steps.withLock { $0.first == 0 && $0.last == 150 && $0 == $0.sorted() })
  }

  @Test("a check asks only once for a passphrase that is refused")
  func refused() throws {
    let store = StandInStore()
    let keyring = try store.create()
    for number in 0..<20 {
      try keyring.add(.login("host-\(number).example", "alice"), secret: SecretBytes(text: "secret"))
    }
    let before = store.engine.statistics.decryptions
    store.engine.refusal = .cancelled
    #expect(throws: KeyringError.self) { try store.open().check(decrypts: true) }
    #expect(store.engine.statistics.decryptions - before == 1)
  }
}
