import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Cuts the power after each operation of a change that takes in, moves or restores files.
@Suite(.serialized, .slow) struct ForeignFilePowerCutTests {
  /// A change to a store that has the item a, whose file another program has changed from `old` to `new`, and the new
  /// file `items/web/x.gpg` with the secret `claim`.
  enum Change: CaseIterable {
    /// Adopts both files.
    case adopt
    /// Undoes both changes.
    case undo
    /// Restores the file of the item, and keeps the changed one beside it.
    case separate
    /// Restores both files of the item in place of damaged ones.
    case restore
  }

  /// A store before a change.
  private struct World {
    let store = StandInStore()
    let item: ItemRecord
    let record: [UInt8]
    let old: [UInt8]
    let new: [UInt8]
    let claim: [UInt8]
    let damage: [UInt8] = [1, 2, 3]

    init(_ change: Change) throws {
      item = try store.create().add(.login("a.example", "me"), secret: SecretBytes(text: "old"))
      record = try #require(try store.bytes(store.recordFile(item)))
      old = try #require(try store.bytes(store.secretFile(item)))
      new = try store.engine.seal(SecretBytes(text: "new"), to: [store.owner])
      claim = try store.engine.seal(SecretBytes(text: "claim"), to: [store.owner])
      try store.put(change == .restore ? damage : new, at: store.secretFile(item))
      if change == .restore { try store.put(damage, at: store.recordFile(item)) }
      try store.put(claim, at: "items/web/x.gpg")
    }

    func perform(_ change: Change, _ faults: @escaping FaultPlan) throws {
      let keyring = try store.open(faults: faults)
      let files = try keyring.foreignFiles()
      let path = store.secretFile(item)
      switch change {
      case .adopt:
        let outcomes = try keyring.adopt(
          files.map { file in
            file.item == nil
              ? Adoption(file, .login([Adoption.Part(.login("x.example", "me"), secret: slice("claim"))]))
              : Adoption(file, .secret(slice("new")))
          })
        #expect(outcomes.count == 2)
      case .undo: #expect(try keyring.undo(files, originals: [path: old]).count == 2)
      case .separate: #expect(try keyring.separate(files, originals: [path: old]) == [path])
      case .restore:
        let damaged = ContentDigest(of: damage)
        let repairs = try keyring.restore(
          [store.recordFile(item): record, path: old],
          replacing: [store.recordFile(item): damaged, path: damaged])
        #expect(!repairs.isEmpty)
      }
    }

    private func slice(_ text: String) -> SecretSlice { SecretSlice(SecretBytes(text: text)) }

    /// The contents of all files of the store.
    func files() -> [[UInt8]] {
      let paths = FileManager.default.enumerator(atPath: store.path)?.compactMap { $0 as? String } ?? []
      return paths.compactMap { FileManager.default.contents(atPath: "\(store.path)/\($0)").map(Array.init) }
    }

    /// The secrets of all items, by server.
    func secrets() throws -> [String: String] {
      let keyring = try store.open()
      var secrets: [String: String] = [:]
      for record in try keyring.find(Query()).items where record != item || isOld {
        secrets[String(record.path.text.split(separator: "/")[1])] = try keyring.text(of: record)
      }
      return secrets
    }

    /// True if the file of the item is the original one.
    private var isOld: Bool { (try? store.bytes(store.secretFile(item))) == old }
  }

  @Test(arguments: Change.allCases)
  func `after a power cut each file is as before or as intended`(change: Change)
    throws
  {
    let world = try World(change)
    let power = PowerCut(of: world.store.path)
    try world.perform(change, power.plan)
    let (operations, disks) = power.finish()
    #expect(disks.count > 30)
    for disk in disks {
      do {
        try power.restore(disk)
        try expect(change, world, isDone: disk.isDone, "\(change), \(disk)")
      } catch {
        Issue.record("\(change), \(disk): \(error)")
      }
    }
    print("power cuts: \(change): \(operations) operations, \(disks.count) states")
  }

  private func expect(_ change: Change, _ world: World, isDone: Bool, _ comment: String) throws {
    // An unrelated change, so that recovery runs.
    try world.store.open().add(.login("next.example", "me"), secret: SecretBytes(text: "next"))
    var secrets = try world.secrets()
    #expect(secrets.removeValue(forKey: "next.example") == "next", "\(comment)")
    let foreign = Set(try world.store.open().foreignFiles().map(\.kind.summary))
    let files = world.files()
    switch change {
    case .adopt:
      // Both are adopted, or none.
      if secrets.isEmpty && !isDone {
        #expect(
          foreign == ["added", "changed"] && files.contains(world.claim) && files.contains(world.new),
          "\(comment)")
      } else {
        #expect(secrets == ["a.example": "new", "x.example": "claim"] && foreign.isEmpty, "\(comment)")
      }
    case .undo:
      #expect(files.contains(world.claim), "\(comment)")
      if secrets.isEmpty && !isDone {
        #expect(foreign == ["added", "changed"] && files.contains(world.new), "\(comment)")
      } else {
        #expect(secrets == ["a.example": "old"] && foreign.isEmpty, "\(comment)")
      }
    case .separate:
      #expect(files.contains(world.claim) && files.contains(world.new), "\(comment)")
      if secrets.isEmpty && !isDone {
        #expect(foreign == ["added", "changed"], "\(comment)")
      } else {
        #expect(secrets == ["a.example": "old"] && foreign == ["added", "kept"], "\(comment)")
      }
    case .restore:
      #expect(files.contains(world.claim) && foreign == ["added"], "\(comment)")
      // The damaged contents are at their paths or in the quarantine.
      #expect(files.count { $0 == world.damage } == 2, "\(comment)")
      #expect(secrets == ["a.example": "old"] || (secrets.isEmpty && !isDone), "\(comment)")
    }
    guard secrets.isEmpty else { return }
    // The same change can be made again.
    try world.perform(change) { _, _ in nil }
    var repeated = try world.secrets()
    repeated["next.example"] = nil
    let adopted = ["a.example": "new", "x.example": "claim"]
    #expect(repeated == (change == .adopt ? adopted : ["a.example": "old"]), "\(comment)")
  }
}

extension ForeignFile.Kind {
  /// The name of the case.
  fileprivate var summary: String {
    switch self {
    case .added: "added"
    case .changed: "changed"
    case .kept: "kept"
    }
  }
}
