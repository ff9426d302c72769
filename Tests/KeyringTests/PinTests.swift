import Glibc
import Keyring
import KeyringModel
import Synchronization
import TestSupport
import Testing

/// Tests processes that accept policies on this machine at the same time.
@Suite(.serialized) struct PinTests {
  private func trust(_ store: StandInStore) throws -> Trust {
    try Trust(at: store.path, host: store.host, engine: store.engine, own: [store.owner])
  }

  @Test func `an answer to trust does not replace a policy that was accepted after the question`() throws {
    let store = StandInStore()
    try store.create()
    let old = try trust(store)
    try store.join(EngineDouble.fingerprint(2), "default")
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
        #expect(throws: Never.self) { try store.join(EngineDouble.fingerprint(2), "default") }
      }
      return nil
    })
    _ = try keyring.make(try keyring.plan([.create(group: "infra")]))
    #expect(hasRun.withLock { $0 })
    #expect(try trust(store).standing == .accepted)
    #expect(try trust(store).accepted?.generation == 3)
  }

  @Test func `a process that accepts a policy waits for the lock of another process`() async throws {
    let store = StandInStore()
    try store.create()
    let state = try FileTree(at: "\(store.folder.path)/state")
    let keyrings = try state.list("").filter { $0 != "lock" }
    let keyring = try #require(keyrings.first)
    #expect(keyrings.count == 1)
    let pin = "\(keyring)/pin.json"
    try state.remove(pin)
    let question = try trust(store)
    let lock = try state.openForLock("\(keyring)/lock")
    #expect(FileLock.take(lock, .exclusive, within: 0) == 0)
    async let accepted: Void = Task.detached { try question.accept() }.value
    try await Task.sleep(for: .milliseconds(300))
    #expect(try state.status(pin) == nil)
    close(lock)
    try await accepted
    #expect(try trust(store).standing == .accepted)
  }

  @Test func `processes that accept the same policy at once all succeed`() throws {
    let store = StandInStore()
    try store.create()
    for number in 2..<6 {
      try store.join(EngineDouble.fingerprint(UInt8(number)), "default")
      let questions = try (0..<4).map { _ in try trust(store) }
      try ThreadGroup.run(4) { try questions[$0].accept() }
      #expect(try trust(store).standing == .accepted)
    }
  }
}
