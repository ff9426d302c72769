import Foundation
import Keyring
import KeyringModel
import Sync
import TestSupport

extension Simulation {
  /// The maximum number of rounds in which every clone is synchronized, until nothing changes any more.
  private static let rounds = 8

  /// Synchronizes all clones until nothing changes, and compares the result with the model.
  ///
  /// - Throws: `SimulationFailure`.
  mutating func finish() throws {
    note("the end")
    try synchronizeAll()
    let tip = try world.git(["rev-parse", "main^{tree}"], in: world.hub)
    let policy = try world.seats[0].open().policy
    let members = world.seats.filter { policy.isMember($0.person) }
    var texts = Set(try world.texts(world.seats[0]).keys)
    for seat in world.seats where !policy.isMember(seat.person) {
      // The clone of a removed person receives everything, and keeps what nobody else would accept.
      try world.git(["fetch", "-q", "origin", "main"], in: seat.path)
      let received = try world.git(["merge-base", "main", "FETCH_HEAD"], in: seat.path)
      guard try world.git(["rev-parse", "main"], in: world.hub) == received else {
        throw SimulationFailure("\(seat) has not received everything")
      }
      let own = try world.texts(seat).keys.filter { text in
        model.secrets[text]?.authors.contains { world.seats[$0].person == seat.person } ?? false
      }
      texts.formUnion(own)
    }
    for seat in members {
      guard try world.git(["rev-parse", "HEAD^{tree}"], in: seat.path) == tip else {
        throw SimulationFailure("\(seat) differs from the remote: \(try difference(seat))")
      }
      let status = try world.git(["status", "--porcelain"], in: seat.path)
      guard status.isEmpty else { throw SimulationFailure("\(seat) differs from its last commit: \(status)") }
    }
    let lost = model.kept.subtracting(texts)
    guard lost.isEmpty else { throw SimulationFailure("lost: \(lost.sorted())") }
    for item in abandoned where !texts.contains(item.text) {
      guard try world.hasPast(item.text, of: item.items, item.seat) else {
        throw SimulationFailure("\(item.seat): the history does not name \(item.text) of \(item.items)")
      }
    }
    for seat in members { try check(seat) }
    try checkLastChanges(members)
  }

  private mutating func synchronizeAll() throws {
    var last = ""
    for round in 0..<Self.rounds {
      for seat in world.seats { try sync(seat, addsReaders: true) }
      let tips = [world.hub] + world.seats.map(\.path)
      let now = try tips.map { try world.git(["rev-parse", "main"], in: $0) }.joined()
      if now == last { return }
      last = now
      note("round \(round)")
    }
    throw SimulationFailure("the clones never become equal")
  }

  private func difference(_ seat: SimulatedSeat) throws -> String {
    try world.git(["fetch", "-q", "origin", "main"], in: seat.path)
    return try world.git(["diff", "--stat", "HEAD", "FETCH_HEAD"], in: seat.path)
  }

  /// Expects that a clone has no findings and that no file has a reader who is not in the group of its item.
  private func check(_ seat: SimulatedSeat) throws {
    let keyring = try seat.open()
    let findings = try keyring.check().findings
    guard findings.isEmpty else { throw SimulationFailure("\(seat): \(findings)") }
    let room = try VerificationWorkspace(host: seat.host, engine: world.reader as? EngineDouble)
    defer { room.remove() }
    let verification = try Verification(
      ofStoreAt: seat.path, in: try seat.repository(), from: .init(), room: room)
    // The key files of the stand-in are not keys.
    let faults = verification.findings.filter { if case .keyFile = $0.kind { false } else { true } }
    guard faults.isEmpty else { throw SimulationFailure("\(seat), verify: \(faults)") }
    for path in world.messages(seat) {
      try checkReaders(of: path, keyring.policy, seat)
    }
  }

  private func checkReaders(of path: String, _ policy: Policy, _ seat: SimulatedSeat) throws {
    let line = try record(path, seat)
    let bytes = Array(FileManager.default.contents(atPath: "\(seat.path)/\(path)") ?? Data())
    let readers = try unsafe bytes.withUnsafeBytes { bytes in
      try unsafe world.reader.recipients(of: bytes).flatMap { try world.reader.owners(of: $0) }
    }
    let members = policy.groups[line.group] ?? []
    guard Set(readers).isSubset(of: members) else {
      throw SimulationFailure("\(seat): \(path) of \(line.group) has the readers \(readers)")
    }
  }

  /// Returns the records of a clone by the paths of their encrypted files.
  func records(_ seat: SimulatedSeat) throws -> [String: ItemRecord] {
    Dictionary(
      uniqueKeysWithValues: world.messages(seat).compactMap { path in
        (try? record(path, seat)).map { (path, $0) }
      })
  }

  /// Expects that what a command has encrypted has no reader who is not in the group of its item. A later
  /// synchronization would remove such a reader from the file, but not from the history.
  func checkReaders(_ seat: SimulatedSeat, since before: [String: ItemRecord]) throws {
    let policy = try seat.open().policy
    for (path, record) in try records(seat) where before[path] != record {
      try checkReaders(of: path, policy, seat)
    }
  }

  private func record(_ path: String, _ seat: SimulatedSeat) throws -> ItemRecord {
    let file = path.dropLast(StoreLayout.secretExtension.utf8.count) + StoreLayout.recordExtension
    guard let bytes = FileManager.default.contents(atPath: "\(seat.path)/\(file)") else {
      throw SimulationFailure("\(seat): \(file) is missing")
    }
    return try RecordFile(parsing: Array(bytes)).record
  }
}
