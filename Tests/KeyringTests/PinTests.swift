import Keyring
import KeyringModel
import Synchronization
import TestSupport
import Testing

/// What two processes that accept policies at the same time leave on this machine.
@Suite struct PinTests {
  private func trust(_ store: StandInStore) throws -> Trust {
    try Trust(at: store.path, host: store.host, engine: store.engine, own: [store.owner])
  }

  @Test func `an answer to trust does not replace a policy that was accepted after the question`() throws {
    let store = StandInStore()
    try store.create()
    let old = try trust(store)
    try store.join(StandInEngine.fingerprint(2), "default")
    #expect(throws: KeyringError.team(.overtaken)) { try old.accept() }
    #expect(try trust(store).standing == .accepted)
    #expect(try trust(store).accepted?.generation == 2)
  }

  @Test func `a change of people does not lower the pin that another process has raised`() throws {
    let store = StandInStore()
    try store.create()
    let hasRun = Mutex(false)
    // After the change was applied, and before its own pin is written.
    let keyring = try store.open(faults: { operation, path in
      let isFirst = hasRun.withLock { hasRun in
        defer { if operation == .removeDirectory { hasRun = true } }
        return operation == .removeDirectory && !hasRun
      }
      if isFirst, path.contains("/transaction-") {
        #expect(throws: Never.self) { try store.join(StandInEngine.fingerprint(2), "default") }
      }
      return nil
    })
    _ = try keyring.make(try keyring.plan([.create(group: "infra")]))
    #expect(hasRun.withLock { $0 })
    #expect(try trust(store).standing == .accepted)
    #expect(try trust(store).accepted?.generation == 3)
  }

  @Test func `processes that accept the same policy at once all succeed`() throws {
    let store = StandInStore()
    try store.create()
    for number in 2..<6 {
      try store.join(StandInEngine.fingerprint(UInt8(number)), "default")
      let questions = try (0..<4).map { _ in try trust(store) }
      try ThreadGroup.run(4) { try questions[$0].accept() }
      #expect(try trust(store).standing == .accepted)
    }
  }
}
