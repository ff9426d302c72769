import Foundation
import Glibc
import KeyringModel
import OpenPGP
import Secrets
import Synchronization
import TestSupport
import Testing

@testable import Keyring

/// Cuts the power after each operation of changes that concern the policy: a new store, a change of people, and an
/// accepted policy.
@Suite(.serialized, .slow) struct PolicyPowerCutTests {
  private static let bob = EngineDouble.fingerprint(2)

  /// A person is added or removed.
  enum Turn: CaseIterable {
    case comes, goes

    /// Makes the change.
    func make(_ store: StandInStore, _ faults: FaultPlan? = nil) throws {
      let keyring = try store.open(faults: faults)
      let edits: [PolicyEdit] =
        switch self {
        case .comes:
          [
            .add(bob, name: "Bob", role: .member, key: ContentDigest(of: [2]), encryptTo: [bob]),
            .join(bob, group: "default"),
          ]
        case .goes: [.remove(bob)]
        }
      _ = try keyring.make(keyring.plan(edits, newKeys: self == .comes ? [bob: [2]] : [:]))
    }
  }

  @Test(arguments: Turn.allCases)
  func `after a power cut each item is encrypted to the old or the new people`(turn: Turn) throws {
    let store = StandInStore()
    try store.create()
    if turn == .goes { try Turn.comes.make(store) }
    let items = (0..<3).map { NewItem.login("\($0).example", "me") }
    _ = try store.open().addAll(items, secret: { SecretBytes(text: "\($0)") })
    let accepted = try SavedFolder(store.host.stateBase)
    // All operations take a minute, and are tried if every fault is requested.
    let step = unsafe getenv("KEYTREE_EVERY_FAULT") == nil ? 7 : 1
    let power = PowerCut(of: store.path, samples: { $0 % step == 0 })
    try turn.make(store, power.plan)
    let (operations, disks) = power.finish()
    #expect(disks.count > operations / step)
    let newlyAccepted = try SavedFolder(store.host.stateBase)
    for disk in disks {
      // The new policy is accepted after the change is on disk, and may be lost.
      for state in disk.isDone ? [accepted, newlyAccepted] : [accepted] {
        do {
          try power.restore(disk)
          try state.restore()
          try expectPeople(turn, in: store, isDone: disk.isDone, "\(turn), \(disk)")
        } catch {
          Issue.record("\(turn), \(disk): \(error)")
        }
      }
    }
    print("power cuts: a person \(turn): \(operations) operations, \(disks.count) states")
  }

  private func expectPeople(_ turn: Turn, in store: StandInStore, isDone: Bool, _ comment: String) throws {
    // The next command makes a change, so that recovery runs.
    try store.open().add(.login("next.example", "me"), secret: SecretBytes(text: "next"))
    let keyring = try store.open()
    #expect(keyring.distrust == nil, "\(comment)")
    if isDone { #expect(keyring.policy.isMember(Self.bob) == (turn == .comes), "\(comment)") }
    let records = try keyring.find(Query()).items
    #expect(records.count == 4, "\(comment)")
    for record in records {
      #expect(try keyring.readers(of: record).isRight, "\(comment)")
      let name = record.path.text.split(separator: "/")[1].split(separator: ".")[0]
      #expect(try keyring.text(of: record) == name, "\(comment)")
    }
    #expect(try keyring.check(decrypts: true).findings.isEmpty, "\(comment)")
    // Repeating the change gives the intended result.
    if keyring.policy.isMember(Self.bob) != (turn == .comes) { try turn.make(store) }
    let end = try store.open()
    #expect(end.policy.isMember(Self.bob) == (turn == .comes) && end.distrust == nil, "\(comment)")
    #expect(try end.outdatedItems().isEmpty, "\(comment)")
  }

  @Test func `after a power cut a new store is complete or can be created again`() throws {
    let store = StandInStore()
    for path in [store.path, store.host.stateBase] {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    let nothing = try SavedFolder(store.host.stateBase)
    let power = PowerCut(of: store.path)
    let plan = power.plan
    let isInStore = Mutex(true)
    // Before the policy completes the store it is accepted, in a folder whose name is the number of the keyring.
    try store.create { operation, path in
      isInStore.withLock { isInStore in
        if !path.isEmpty { isInStore = !path.prefix { $0 != "/" }.allSatisfy(\.isHexDigit) }
        return isInStore ? plan(operation, path) : nil
      }
    }
    let (operations, disks) = power.finish()
    #expect(disks.count > operations)
    let accepted = try SavedFolder(store.host.stateBase)
    for disk in disks {
      do {
        try power.restore(disk)
        let policy = FileManager.default.contents(atPath: "\(store.path)/\(StoreLayout.policy)")
        let isComplete = policy?.isEmpty == false
        // Before the store is complete the accepted policy may be on disk or not.
        for state in isComplete ? [accepted] : [nothing, accepted] {
          try power.restore(disk)
          try state.restore()
          try expectStore(store, isDone: disk.isDone, "\(disk)")
        }
      } catch {
        Issue.record("\(disk): \(error)")
      }
    }
    print("power cuts: create: \(operations) operations, \(disks.count) states")
  }

  private func expectStore(_ store: StandInStore, isDone: Bool, _ comment: String) throws {
    let keyring: Keyring
    do {
      keyring = try store.open()
    } catch KeyringError.noStore {
      #expect(!isDone, "\(comment)")
      keyring = try store.create()
    }
    let record = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    #expect(try store.open().text(of: record) == "s", "\(comment)")
    #expect(try keyring.check(decrypts: true).findings == [], "\(comment)")
  }

  @Test func `after a power cut the old or the new policy is accepted, and items can be read`() throws {
    let store = StandInStore()
    let record = try store.createWithoutKeyDigests().add(
      .login("a.example", "me"), secret: SecretBytes(text: "s"))
    try store.tree().replaceFile(StoreLayout.keyFile(store.owner), with: [2], temporary: "tmp")
    let old = try #require(try store.open().distrust)
    let power = PowerCut(of: store.host.stateBase)
    try trust(store, power.plan).accept()
    let (operations, disks) = power.finish()
    #expect(disks.count > 10)
    for disk in disks {
      do {
        try power.restore(disk)
        let keyring = try store.open()
        #expect(keyring.distrust == nil || (keyring.distrust == old && !disk.isDone), "\(disk)")
        #expect(try keyring.text(of: record) == "s", "\(disk)")
        try trust(store, nil).accept()
        #expect(try store.open().distrust == nil, "\(disk)")
        #expect(try trust(store, nil).standing == .accepted, "\(disk)")
      } catch {
        Issue.record("\(disk): \(error)")
      }
    }
    print("power cuts: accept a policy: \(operations) operations, \(disks.count) states")
  }

  @Test(
    "a leftover hard link to a policy file is removed",
    arguments: [".keytree/transaction-0123/8-placed", ".keytree/new"])
  func leftoverLink(_ second: String) throws {
    for file in ["policy.json", "policy.json.asc", StoreLayout.keyFile(EngineDouble.fingerprint(1))] {
      let store = StandInStore()
      let record = try store.create().add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
      #expect(try store.tree().link(file, to: second))
      #expect(try trust(store, nil).standing == .accepted)
      #expect(try store.tree().status(second) == nil)
      #expect(try store.tree().link(file, to: second))
      if file.hasPrefix("policy") {
        #expect(try store.open().text(of: record) == "s")
        #expect(try store.open().check().findings.isEmpty)
      } else {
        try store.open().add(.login("b.example", "me"), secret: SecretBytes(text: "t"))
      }
      #expect(try store.tree().status(second) == nil)
    }
  }

  private func trust(_ store: StandInStore, _ faults: FaultPlan?) throws -> Trust {
    try Trust(at: store.path, host: store.host, engine: store.engine, own: [store.owner], faults: faults)
  }
}
