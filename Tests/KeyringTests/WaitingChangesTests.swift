import Glibc
import KeyringModel
import OpenPGP
import Secrets
import Synchronization
import TestSupport
import Testing

@testable import Keyring

/// Tests changes of several threads that are committed in one transaction.
@Suite(.serialized, .slow) struct WaitingChangesTests {
  private let store = StandInStore()

  private func open(faults: FaultPlan? = nil) throws -> Keyring {
    var host = store.host
    host.sharesTransactions = true
    return try Keyring.open(at: store.path, host: host, faults: faults, engine: store.engine)
  }

  /// Runs changes on one thread each, while another thread has the turn, so that they wait together.
  private func runTogether(
    _ keyring: Keyring, _ changes: [@Sendable () throws -> Void]
  ) throws -> [KeyringError?] {
    let errors = Mutex([KeyringError?](repeating: nil, count: changes.count))
    let hasTurn = Atomic(false)
    try ThreadGroup.run(changes.count + 1) { number in
      if number == 0 {
        try keyring.transaction { _ throws(KeyringError) in
          hasTurn.store(true, ordering: .releasing)
          Self.wait { keyring.waitingChanges.count == changes.count }
        }
        return
      }
      Self.wait { hasTurn.load(ordering: .acquiring) }
      do {
        try changes[number - 1]()
      } catch {
        errors.withLock { $0[number - 1] = error as? KeyringError }
      }
    }
    return errors.withLock { $0 }
  }

  /// Waits for a condition, at most ten seconds.
  private static func wait(_ condition: () -> Bool) {
    for _ in 0..<10_000 where !condition() { usleep(1000) }
    #expect(condition())
  }

  private func transactions() throws -> UInt64 { try ReaderSnapshot(of: store.tree()).count }

  @Test func `changes that wait are committed together, and each is made`() throws {
    try store.create()
    let keyring = try open()
    for number in 0..<8 {
      try keyring.add(.login("old\(number).example", "me"), secret: SecretBytes(text: "old"))
    }
    let old = try keyring.find(Query()).items
    let (commits, signatures) = (try transactions(), store.engine.statistics.signatures)
    let adds = (0..<8).map { number in
      { @Sendable () throws in
        let item = NewItem.login("new\(number).example", "me")
        let record = try keyring.add(item, secret: SecretBytes(text: "\(number)"))
        #expect(record.attributes[.server] == .string("new\(number).example"))
      }
    }
    let deletions = old[..<4].map { record in
      { @Sendable () throws in try keyring.delete([record]) }
    }
    #expect(try runTogether(keyring, adds + deletions).allSatisfy { $0 == nil })
    #expect(try transactions() == commits + 1)
    #expect(store.engine.statistics.signatures == signatures + 1)
    let found = try store.open().find(Query()).items
    #expect(found.count == 12)
    for number in 0..<8 {
      let item = try #require(found.first { $0.attributes[.server] == .string("new\(number).example") })
      #expect(try store.open().text(of: item) == "\(number)")
    }
    #expect(try store.open().check(decrypts: true).findings == [])
  }

  @Test func `a thread whose change was committed does not wait for the changes after it`() throws {
    try store.create()
    let keyring = try open()
    let hasTurn = Atomic(false)
    let attempts = Atomic(0)
    let finished = Atomic(0)
    let waiting = { @Sendable (_ count: Int) in Self.wait { keyring.waitingChanges.count == count } }
    try ThreadGroup.run(4) { number in
      if number > 0 { Self.wait { hasTurn.load(ordering: .acquiring) } }
      switch number {
      case 0:
        try keyring.transaction { _ throws(KeyringError) in
          hasTurn.store(true, ordering: .releasing)
          waiting(3)
        }
      case 2:
        // Fails together with the others. Then it is made alone, and has the turn until the others have returned.
        waiting(1)
        try keyring.transaction { _ throws(KeyringError) in
          if attempts.add(1, ordering: .relaxed).newValue == 1 { throw .itemNotFound }
          Self.wait { finished.load(ordering: .acquiring) == 2 }
        }
      default:
        if number == 3 { waiting(2) }
        try keyring.add(.login("new\(number).example", "me"), secret: SecretBytes(text: "new"))
        finished.add(1, ordering: .releasing)
      }
    }
    #expect(attempts.load(ordering: .relaxed) == 2)
    #expect(try store.open().find(Query()).items.count == 2)
  }

  @Test func `a change that fails leaves nothing behind, and the others are made`() throws {
    try store.create()
    let keyring = try open()
    try keyring.add(.login("there.example", "me"), secret: SecretBytes(text: "old"))
    let errors = try runTogether(
      keyring,
      [
        {
          try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "a"))
        },
        {
          try keyring.transaction { changes throws(KeyringError) in
            try changes.add(.login("half.example", "me"), secret: SecretBytes(text: "half"))
            try changes.add(.login("there.example", "me"), secret: SecretBytes(text: "new"))
          }
        },
        {
          try keyring.add(.login("b.example", "me"), secret: SecretBytes(text: "b"))
        },
      ])
    #expect(errors[0] == nil && errors[2] == nil)
    guard case .itemExists? = errors[1] else {
      Issue.record("\(String(describing: errors[1]))")
      return
    }
    let servers = try store.open().find(Query()).items.compactMap { $0.attributes[.server] }
    #expect(
      Set(servers.map { "\($0)" })
        == Set(["a", "b", "there"].map { "\(AttributeValue.string("\($0).example"))" }))
  }

  @Test func `if signing fails, each change reports it`() throws {
    try store.create()
    let keyring = try open()
    try keyring.add(.login("old.example", "me"), secret: SecretBytes(text: "old"))
    let old = try keyring.find(Query()).items
    store.engine.signingRefusal = .cancelled
    let errors = try runTogether(
      keyring,
      [
        {
          try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "a"))
        },
        // Nothing has to be signed for a deletion.
        { try keyring.delete(old) },
      ])
    #expect(errors == [.engine(.cancelled, nil), nil])
    #expect(try store.open().find(Query()).items.isEmpty)
  }

  @Test(
    "after a fault at any operation all changes are made or none is", arguments: FaultInjector.Mode.allCases)
  func sweep(_ mode: FaultInjector.Mode) throws {
    var number = 0
    while true {
      number += 1
      let world = WaitingChangesTests()
      let fault = FaultInjector(at: number, mode)
      let isCommitted = try world.commitThree(fault)
      guard fault.hasInjected else {
        #expect(isCommitted)
        break
      }
      // The next command runs without faults and completes the transaction.
      try world.store.open().add(.login("next.example", "me"), secret: SecretBytes(text: "next"))
      let items = try world.store.open().find(Query()).items
      let servers = Set(items.compactMap { item in item.attributes[.server].map { "\($0)" } })
      let expected = [["a", "b", "next"], ["b", "c", "next"]].map { names in
        Set(names.map { "\(AttributeValue.string("\($0).example"))" })
      }
      let labels = items.filter { $0.attributes[.label] != nil }.count
      let isNew = servers == expected[1] && labels == 1
      #expect(isNew || !isCommitted && servers == expected[0] && labels == 0, "\(mode), operation \(number)")
      #expect(try world.store.open().check(decrypts: true).findings == [], "\(mode), operation \(number)")
    }
    #expect(number > 20)
  }

  /// Commits an addition, a change and a deletion together.
  ///
  /// - Returns: True if all are reported as made.
  private func commitThree(_ fault: FaultInjector) throws -> Bool {
    let keyring = try store.create()
    for name in ["a", "b"] {
      try keyring.add(.login("\(name).example", "me"), secret: SecretBytes(text: name))
    }
    let items = try keyring.find(Query()).items
    let changes = [
      WaitingChanges.Change { changes throws(KeyringError) in
        try changes.add(.login("c.example", "me"), secret: SecretBytes(text: "c"))
      },
      WaitingChanges.Change { changes throws(KeyringError) in
        try changes.update(items[1], .set(.label, "labelled"))
      },
      WaitingChanges.Change { changes throws(KeyringError) in try changes.delete(items[0]) },
    ]
    try open(faults: fault.plan).commitTogether(changes)
    return changes.allSatisfy { $0.outcome == .committed }
  }
}
