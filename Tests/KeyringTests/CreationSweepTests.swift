import Keyring
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Injects errors, then kills, at every operation that creates a store or accepts a policy.
@Suite(.serialized, .slow) struct CreationSweepTests {
  @Test(
    "after a fault at any operation the store is complete or can be created again",
    arguments: FaultInjector.Mode.allCases)
  func creation(_ mode: FaultInjector.Mode) throws {
    var number = 0
    while true {
      number += 1
      let store = StandInStore()
      let saboteur = FaultInjector(at: number, mode)
      var isReported = true
      do {
        try store.create(faults: saboteur.plan)
      } catch is KeyringError {
        isReported = false
      }
      guard saboteur.hasInjected else { break }
      let keyring: Keyring
      do {
        keyring = try store.open()
      } catch KeyringError.noStore {
        #expect(!isReported, "\(mode), operation \(number): reported as created")
        #expect(throws: KeyringError.noStore(path: store.path)) {
          try Index.open(at: store.path, host: store.host)
        }
        keyring = try store.create()
      }
      let record = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
      #expect(try store.open().text(of: record) == "s")
      #expect(try keyring.check(decrypts: true).findings == [], "\(mode), operation \(number)")
    }
    #expect(number > 40)
  }

  @Test(
    "after a fault at any operation the old or the new people are accepted, and items can be read",
    arguments: FaultInjector.Mode.allCases)
  func acceptance(_ mode: FaultInjector.Mode) throws {
    var number = 0
    while true {
      number += 1
      let store = StandInStore()
      let record = try store.createWithoutKeyDigests().add(
        .login("a.example", "me"), secret: SecretBytes(text: "s"))
      let file = StoreLayout.keyFile(store.owner)
      try store.tree().replaceFile(file, with: [2], temporary: "tmp")
      let saboteur = FaultInjector(at: number, mode)
      var isReported = true
      do {
        try trust(store, saboteur.plan).accept()
      } catch is KeyringError {
        isReported = false
      }
      guard saboteur.hasInjected else { break }
      let keyring = try store.open()
      let old = PolicyDistrust.keyChanged(store.owner, name: "Alice <alice@example.org>")
      #expect(keyring.distrust == nil || (keyring.distrust == old && !isReported), "operation \(number)")
      #expect(try keyring.text(of: record) == "s")
      try trust(store, nil).accept()
      #expect(try store.open().distrust == nil)
      #expect(try trust(store, nil).standing == .accepted)
    }
    #expect(number > 10)
  }

  private func trust(_ store: StandInStore, _ faults: FaultPlan?) throws -> Trust {
    try Trust(at: store.path, host: store.host, engine: store.engine, own: [store.owner], faults: faults)
  }
}
