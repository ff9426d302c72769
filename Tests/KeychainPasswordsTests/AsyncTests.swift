import Foundation
import KeychainServices
import Testing

@testable import KeychainPasswords

@Suite(.serialized)
struct AsyncTests {
  private static let bot = GenericPassword(service: "mailer", account: "bot")
  private static let stored: [String: any Sendable] = ["svce": "mailer", "acct": "bot", "agrp": "default"]

  /// Returns an empty keychain whose calls wait until the gate opens.
  private static func waiting(at gate: Gate) -> StandInKeychain {
    StandInKeychain { _, _ in (gate.pass() ? errSecItemNotFound : errSecIO, nil) }
  }

  @Test func `a waiting call blocks no thread of Swift concurrency`() throws {
    let gate = Gate()
    let passwords = Self.waiting(at: gate).passwords(queue: CallQueue(width: 1))
    let secret = try OneThread().run {
      async let secret = passwords.secret(for: Self.bot)
      // Another task on the only thread opens the gate, which would be impossible if the call blocked the thread.
      await gate.arrival()
      gate.open()
      return try await secret
    }
    #expect(secret == nil && gate.arrivals == 1)
  }

  @Test func `no more calls run at once than the width of the queue`() throws {
    let gate = Gate()
    let passwords = Self.waiting(at: gate).passwords(queue: CallQueue(width: 3))
    try OneThread().run { () async throws in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<10 {
          group.addTask {
            let secret = try await passwords.secret(for: Self.bot)
            #expect(secret == nil)
          }
        }
        for released in 0..<10 {
          while gate.arrivals < min(10, released + 3) { await Task.yield() }
          gate.open()
        }
        try await group.waitForAll()
      }
    }
    #expect(gate.most == 3)
  }

  @Test func `a task that is already cancelled makes no call`() throws {
    let keychain = StandInKeychain.empty()
    let passwords = keychain.passwords()
    let thread = OneThread()
    let error = try thread.run {
      await thread.task {
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        return await Self.error { () async throws(KeychainError) in
          try await passwords.save([1], for: Self.bot)
        }
      }.value
    }
    #expect(error == .taskCancelled)
    #expect(keychain.calls.isEmpty)
  }

  @Test func `a queued call ends when its task is cancelled, and a running call continues`()
    throws
  {
    let gate = Gate()
    let keychain = Self.waiting(at: gate)
    let passwords = keychain.passwords(queue: CallQueue(width: 1))
    let thread = OneThread()
    try thread.run { () async throws in
      let running = thread.task {
        await Self.error { () async throws(KeychainError) in try await passwords.delete(Self.bot) }
      }
      await gate.arrival()
      let waiting = thread.task {
        await Self.error { () async throws(KeychainError) in try await passwords.delete(Self.bot) }
      }
      // The thread runs its jobs in order, so the call is in the queue after these.
      for _ in 0..<10 { await Task.yield() }
      waiting.cancel()
      // The gate is still closed.
      #expect(await waiting.value == .taskCancelled)
      running.cancel()
      gate.open()
      #expect(await running.value == nil)
      gate.open()
      #expect(try await passwords.secret(for: Self.bot) == nil)
    }
    #expect(keychain.calls.count == 2, "the cancelled call does nothing")
  }

  private static func error<Value>(
    _ body: () async throws(KeychainError) -> Value
  ) async -> KeychainError? {
    do throws(KeychainError) {
      _ = try await body()
      return nil
    } catch {
      return error
    }
  }

  @Test func `every asynchronous function makes the same calls as the blocking one`() throws {
    var changed = Self.bot
    changed.details.label = "L"
    let new = changed
    let (blocking, waiting) = (StandInKeychain.empty(), StandInKeychain.empty())
    let passwords = blocking.passwords()
    try passwords.save([1], for: new)
    try passwords.add([2], for: new)
    #expect(throws: KeychainError.itemNotFound) { try passwords.update(Self.bot, to: new) }
    #expect(try !passwords.delete(new))
    #expect(try !passwords.deleteAll(GenericPassword.self, .service("s"), .label("L")))
    #expect(try passwords.secret(for: new) == nil)
    #expect(try passwords.secretWithAttributes(for: new) == nil)
    #expect(try passwords.attributes(of: new) == nil)
    #expect(try passwords.list(GenericPassword.self, .label("L")).isEmpty)
    try passwords.save(encoding: [1], for: new)
    #expect(try passwords.value([Int].self, for: new) == nil)
    try OneThread().run { () async throws in
      let passwords = waiting.passwords()
      try await passwords.save([1], for: new)
      try await passwords.add([2], for: new)
      #expect(
        await Self.error { () async throws(KeychainError) in try await passwords.update(Self.bot, to: new) }
          == .itemNotFound)
      #expect(try await !passwords.delete(new))
      #expect(try await !passwords.deleteAll(GenericPassword.self, .service("s"), .label("L")))
      #expect(try await passwords.secret(for: new) == nil)
      #expect(try await passwords.secretWithAttributes(for: new) == nil)
      #expect(try await passwords.attributes(of: new) == nil)
      #expect(try await passwords.list(GenericPassword.self, .label("L")).isEmpty)
      try await passwords.save(encoding: [1], for: new)
      #expect(try await passwords.value([Int].self, for: new) == nil)
    }
    #expect(blocking.calls.count == 13)
    #expect(waiting.calls.map(\.query) == blocking.calls.map(\.query))
    #expect(waiting.calls.map(\.function) == blocking.calls.map(\.function))
  }

  @Test func `a task receives a decoded value`() throws {
    let keychain = StandInKeychain.holding(Self.stored.merging(["v_Data": Data("[1,2]".utf8)]) { $1 })
    let passwords = keychain.passwords()
    #expect(try OneThread().run { try await passwords.value([Int].self, for: Self.bot) } == [1, 2])
  }
}
