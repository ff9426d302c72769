import Foundation
import Glibc
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

@testable import Keyring

/// Tests interrupted changes of people: each item is encrypted to the old or the new people, and the next command
/// continues.
@Suite(.serialized, .slow) struct TeamFaultTests {
  /// A person is added or removed.
  enum Turn: CaseIterable { case comes, goes }

  @Test(arguments: Turn.allCases)
  func `a removal that is interrupted at any operation leaves each item for the old or the new people`(
    turn: Turn
  )
    throws
  {
    let count = unsafe getenv("KEYTREE_EVERY_FAULT") == nil ? 4 : 50
    let bob = EngineDouble.fingerprint(2)
    func comes(_ store: StandInStore, _ faults: FaultPlan? = nil) throws {
      let keyring = try store.open(faults: faults)
      let edits: [PolicyEdit] = [
        .add(bob, name: "Bob", role: .member, key: ContentDigest(of: [2]), encryptTo: [bob]),
        .join(bob, group: "default"),
      ]
      _ = try keyring.make(keyring.plan(edits, newKeys: [bob: [2]]))
    }
    func goes(_ store: StandInStore, _ faults: FaultPlan? = nil) throws {
      let keyring = try store.open(faults: faults)
      _ = try keyring.make(keyring.plan([.remove(bob)]))
    }
    func prepare() throws -> StandInStore {
      let store = StandInStore(readers: [EngineDouble.fingerprint(1)])
      try store.create()
      if turn == .goes { try comes(store) }
      let items = (0..<count).map { NewItem.login("\($0).example", "me") }
      _ = try store.open().addAll(items, secret: { SecretBytes(text: "\($0)") })
      return store
    }
    func change(_ store: StandInStore, _ faults: FaultPlan? = nil) throws {
      try turn == .comes ? comes(store, faults) : goes(store, faults)
    }
    let counter = FaultInjector(at: .max, .isKilled)
    try change(try prepare(), counter.plan)
    let total = counter.count
    #expect(total > 4 * count)
    // A larger number tries every Nth operation with 50 items.
    let step = unsafe getenv("KEYTREE_EVERY_FAULT").map { unsafe Int(String(cString: $0)) ?? 1 } ?? 2
    var points = 0
    for number in stride(from: 1, through: total, by: step) {
      for mode in [FaultInjector.Mode.isKilled, .fails] {
        let store = try prepare()
        try? change(store, FaultInjector(at: number, mode).plan)
        points += 1
        // The next command writes. If the change was committed, it is finished first.
        try store.open().add(.login("next.example", "me"), secret: SecretBytes(text: "next"))
        let keyring = try store.open()
        #expect(keyring.distrust == nil, "operation \(number), \(mode)")
        let records = try keyring.find(Query()).items
        #expect(records.count == count + 1)
        for record in records {
          #expect(try keyring.readers(of: record).isRight, "operation \(number), \(mode)")
          _ = try keyring.text(of: record)
        }
        #expect(try keyring.check(decrypts: true).findings.isEmpty, "operation \(number), \(mode)")
        // Repeating the change gives the intended result.
        if keyring.policy.isMember(bob) != (turn == .comes) { try change(store) }
        let end = try store.open()
        #expect(end.policy.isMember(bob) == (turn == .comes) && end.distrust == nil)
        #expect(try end.outdatedItems().isEmpty)
      }
    }
    print("a person \(turn), \(count) items: \(points) cuts at \(total) operations")
  }

  @Test func `a policy that is half in place is finished by the next process that opens the store`() throws {
    let bob = EngineDouble.fingerprint(2)
    let edits: [PolicyEdit] = [
      .add(bob, name: "Bob", role: .member, key: ContentDigest(of: [2]), encryptTo: [bob]),
      .join(bob, group: "default"),
    ]
    for file in ["policy.json", "policy.json.asc", "keys/\(bob.text).asc"] {
      let store = StandInStore()
      try store.create().add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
      let cut = try store.open(faults: { operation, path in
        operation == .rename && path == file ? .fail(4) : nil
      })
      let change = try cut.plan(edits, newKeys: [bob: [2]])
      #expect(throws: KeyringError.self) { try cut.make(change, subject: "x") }
      let next = try store.open()
      #expect(next.distrust == nil && next.policy.isMember(bob), "\(file)")
    }
  }

  @Test(arguments: [0, 1])
  func `messages that were encrypted before a removal was interrupted are not encrypted again`(
    lost: Int
  ) throws {
    let world = try TeamWorld([.alice, .bob])
    try world.add([.bob])
    _ = try world.addItems(6)
    // Interrupted at the first write to the store, when everything is already encrypted.
    let cut = try world.open(
      .alice,
      faults: { operation, path in
        operation == .createFile && path.hasPrefix(".keytree/transaction") ? .fail(5) : nil
      })
    let change = try cut.plan([.remove(GnuPGKey.bob.fingerprint)])
    #expect(throws: KeyringError.self) { try cut.make(change) }
    let kept = "\(cut.host.stateBase)/\(cut.policy.keyring.hex)/resealed"
    let last = try #require(try FileManager.default.contentsOfDirectory(atPath: kept).max())
    let file = URL(fileURLWithPath: "\(kept)/\(last)")
    // The end of the file was not written, so its last message is not used.
    try Data(contentsOf: file).dropLast(lost).write(to: file)
    let again = try world.open(.alice)
    let planned = try again.plan([.remove(GnuPGKey.bob.fingerprint)])
    let now = try again.make(planned)
    #expect(again.engineStatistics.decryptions == lost && now.engineStatistics.encryptions == lost)
    #expect(try now.outdatedItems().isEmpty && now.check(decrypts: true).findings.isEmpty)
  }
}
