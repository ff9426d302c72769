import Foundation
import Keyring
import KeyringModel
import Secrets
import Sync
import TestSupport
import Testing

/// Tests that clones become equal after changes that the simulation has found to be repeated for ever, or lost.
@Suite(.slow) struct ConvergenceTests {
  @Test func `two signatures of one record do not replace each other`() throws {
    let clones = try SyncClones()
    let item = try clones.add(0, "a.example", "me")
    for clone in [0, 1] { try clones.sync(clone) }
    let store = clones.world.store
    for clone in 0..<2 {
      let file = try store.sign([item], by: store.owner, for: try clones.open(0).policy.keyring)[0]
      let path = "\(clones.paths[clone])/\(store.recordFile(item))"
      try Data(file.bytes).write(to: URL(fileURLWithPath: path))
      _ = try clones.git(clone, "commit", "--quiet", "--all", "--message", "sign")
    }
    for clone in [0, 1, 0] { try clones.sync(clone) }
    try clones.expectEqual()
    for clone in 0..<2 {
      #expect(try clones.sync(clone) == Synchronization.Report())
      try clones.expectSound(clone)
    }
  }

  @Test func `a removed person keeps their items and sends them after they were added again`() throws {
    let world = try SimulatedWorld()
    let (alice, bob) = (world.seats[0], world.seats[2])
    try world.add("of Bob", at: bob)
    try world.change([.remove(bob.person)], at: alice)
    try world.sync(alice)
    for _ in 0..<2 {
      let report = try world.sync(bob)
      #expect(report.withheld > 0 && report.sent == 0 && report.deletions.isEmpty)
      #expect(try world.sync(alice) == Synchronization.Report())
    }
    #expect(try world.texts(bob)["of Bob"] != nil)
    try world.change(world.edits(adding: bob.person), at: alice)
    for seat in [alice, bob, alice] { try world.sync(seat) }
    #expect(try world.texts(alice)["of Bob"] != nil)
    #expect(try world.sync(bob) == Synchronization.Report())
  }

  @Test func `a conflict copy of a person who is removed before it arrives is kept`() throws {
    let world = try SimulatedWorld()
    let (alice, laptop, bob) = (world.seats[0], world.seats[1], world.seats[2])
    try world.add("old", at: alice)
    for seat in [alice, laptop, bob] { try world.sync(seat) }
    laptop.clock.jump(bySeconds: 1000)
    for (seat, secret) in [(bob, "of Bob"), (laptop, "of Alice")] {
      let keyring = try seat.open()
      let item = try #require(try keyring.find(Query()).items.first)
      try keyring.update(item, secret: SecretBytes(text: secret))
      try seat.commit()
      try world.sync(seat)
    }
    try world.change([.remove(bob.person)], at: alice)
    let report = try world.sync(alice)
    #expect(report.signed == 0 && report.signedAgain == 1)
    #expect(report.refused.isEmpty)
    try world.sync(laptop)
    for seat in [alice, laptop] {
      #expect(Set(try world.texts(seat).keys) == ["of Alice", "of Bob"])
      #expect(try world.sync(seat) == Synchronization.Report())
      #expect(try seat.open().check().findings.isEmpty)
    }
  }

  @Test func `a removed admin with changes of people accepts the policy that removes them`() throws {
    let world = try SimulatedWorld()
    let (alice, bob) = (world.seats[0], world.seats[2])
    try world.create("ops", at: bob)
    try world.change([.remove(bob.person)], at: alice)
    try world.sync(alice)
    #expect(try world.sync(bob).withheld > 0)
    let keyring = try bob.open()
    #expect(keyring.distrust == nil && keyring.policy.groups["ops"] == nil)
    try world.change(world.edits(adding: bob.person), at: alice)
    for seat in [alice, bob, alice] { try world.sync(seat) }
    #expect(try world.sync(bob) == Synchronization.Report())
    try world.add("of Bob", at: bob)
  }

  @Test func `the commit after an interrupted merge skips no policy`() throws {
    let world = try SimulatedWorld()
    let (alice, bob) = (world.seats[0], world.seats[2])
    for group in ["ops", "web"] { try world.create(group, at: alice) }
    try world.add("of Alice", at: alice)
    try world.sync(alice)
    // The store is changed, and the journal is noted before the commit.
    #expect(throws: (any Error).self) {
      try world.sync(bob, faults: { _, path in path.hasSuffix("committed.new") ? .fail(4) : nil })
    }
    try bob.recover()
    try world.add("of Bob", at: bob)
    for seat in [bob, alice, bob] { try world.sync(seat) }
    #expect(try Set(world.texts(alice).keys) == ["of Alice", "of Bob"])
    let room = try VerificationWorkspace(host: bob.host, engine: world.reader as? EngineDouble)
    defer { room.remove() }
    let verification = try Verification(
      ofStoreAt: bob.path, in: try bob.repository(), from: .init(), room: room)
    // The key files of the stand-in are not keys.
    #expect(verification.findings.allSatisfy { if case .keyFile = $0.kind { true } else { false } })
  }

  @Test func `an unsent change of a removed person stays until the remote changes the item, too`() throws {
    let world = try SimulatedWorld()
    let (alice, bob) = (world.seats[0], world.seats[2])
    try world.add("old", at: alice)
    for seat in [alice, bob] { try world.sync(seat) }
    try world.replace("of Bob", at: bob)
    try world.change([.remove(bob.person)], at: alice)
    for number in 0..<2 {
      try world.add("more \(number)", named: "more\(number)", at: alice)
      for seat in [alice, bob] { #expect(try world.sync(seat).abandoned.isEmpty) }
      #expect(try world.texts(bob)["of Bob"] != nil)
    }
    try world.replace("of Alice", at: alice)
    try world.sync(alice)
    let report = try world.sync(bob)
    #expect(report.abandoned.map(\.isReplaced) == [true] && report.deletions.isEmpty)
    #expect(try Set(world.texts(bob).keys) == ["of Alice", "more 0", "more 1"])
    let item = SimulatedItem(id: report.abandoned[0].record.id, path: report.abandoned[0].record.path)
    #expect(try world.hasPast("of Bob", of: [item], bob))
    #expect(try world.sync(alice) == Synchronization.Report())
  }

  @Test func `a change of a removed person to an item that others have moved and replaced is taken back`()
    throws
  {
    let world = try SimulatedWorld()
    let (alice, laptop, carol) = (world.seats[0], world.seats[1], world.seats[3])
    try world.add("old", at: alice)
    for seat in [alice, laptop, carol] { try world.sync(seat) }
    // The merge has the new name, and the time of the new secret, which is later.
    try world.change(AttributeChanges(set: [.account: .string("new")]), ofItem: "\(alice).example", at: alice)
    laptop.clock.jump(bySeconds: 3600)
    try world.replace("of Alice", at: laptop)
    try world.change(
      AttributeChanges(set: [.label: .string("of Carol")]), ofItem: "\(alice).example", at: carol)
    try world.sync(laptop)
    try world.change([.leave(carol.person, group: GroupName.default)], at: alice)
    for seat in [alice, carol, alice, carol, alice, carol, laptop] { try world.sync(seat) }
    for seat in [alice, carol, laptop] {
      #expect(try world.sync(seat) == Synchronization.Report())
      let paths = try #require(try world.texts(seat)["of Alice"])
      #expect(paths.filter { $0.hasPrefix("items/") } == ["items/internet-password/\(alice).example/new.gpg"])
    }
  }

  /// The files at a path to which a merge moves an item.
  enum Occupant: CaseIterable {
    case item
    /// An item whose encrypted file another program has replaced.
    case changedFile
    /// A file of another program, without a record.
    case foreignFile
    /// An item that no member has signed.
    case unsigned
  }

  @Test(arguments: Occupant.allCases)
  func `an item whose name and group two sides have changed replaces no other item`(
    _ occupant: Occupant
  ) throws {
    let world = try SimulatedWorld()
    let (alice, bob) = (world.seats[0], world.seats[2])
    try world.create("web", at: alice)
    try world.change([.join(bob.person, group: "web")], at: alice)
    try world.add("other", named: "new", to: "web", at: alice)
    try world.add("app", named: "app", to: "web", at: alice)
    try world.add("moved", named: "old", at: alice)
    let file = try path(of: "other", world)
    // A file that is also at another path would be ignored.
    let app = try Data(contentsOf: URL(fileURLWithPath: try path(of: "app", world)))
    let keyring = try alice.open()
    try keyring.delete(
      try keyring.find(Query(predicates: [.equal(.server, .string("app.example"))])).items)
    try alice.commit()
    let record = file.dropLast(4) + ".json"
    for seat in [alice, bob] { try world.sync(seat) }
    switch occupant {
    case .item: break
    case .changedFile: try app.write(to: URL(fileURLWithPath: file))
    case .foreignFile: try FileManager.default.removeItem(atPath: String(record))
    case .unsigned:
      let text = try String(contentsOfFile: String(record), encoding: .utf8)
      try text.replacing("\"signature\":\"xA0", with: "\"signature\":\"xA1")
        .write(toFile: String(record), atomically: true, encoding: .utf8)
    }
    if occupant != .item {
      try world.git(["add", "-A"], in: alice.path)
      try world.git(["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"], in: alice.path)
      // Both clones have it, as after a policy that nobody has accepted.
      try world.git(["push", "-q", "origin", "main"], in: alice.path)
      try world.git(["pull", "-q", "--ff-only", "origin", "main"], in: bob.path)
    }
    try world.change(AttributeChanges(group: "web"), ofItem: "old.example", at: alice)
    try world.change(AttributeChanges(set: [.server: .string("new.example")]), ofItem: "old.example", at: bob)
    var reports = Synchronization.Report()
    for seat in [alice, bob, alice, bob] { reports.add(try world.sync(seat)) }
    for seat in [alice, bob] {
      #expect(try world.sync(seat) == Synchronization.Report())
      let texts = try world.texts(seat)
      // The item with the later secret stays.
      #expect(texts["moved"]?.contains { $0.hasPrefix("items/internet-password/new.example/me~") } == true)
      if occupant == .unsigned {
        #expect(Set(reports.abandoned.map(\.isReplaced)) == [true])
      } else {
        #expect(texts["other"] != nil)
      }
      #expect((texts["app"] != nil) == (occupant == .changedFile))
    }
  }

  /// Returns the encrypted file with a secret in Alice's clone.
  private func path(of secret: String, _ world: SimulatedWorld) throws -> String {
    "\(world.seats[0].path)/\(try #require(try world.texts(world.seats[0])[secret]?.first))"
  }

  @Test(arguments: [false, true])
  func `a refused version of a person who left the group is taken back and named`(isNew: Bool) throws {
    let world = try SimulatedWorld()
    let (alice, bob) = (world.seats[0], world.seats[2])
    try world.create("web", at: alice)
    try world.change([.join(bob.person, group: "web")], at: alice)
    if !isNew { try world.add("old", to: "web", at: alice) }
    for seat in [alice, bob] { try world.sync(seat) }
    if isNew { try world.add("of Bob", to: "web", at: bob) } else { try world.replace("of Bob", at: bob) }
    #expect(try world.texts(bob)["of Bob"] != nil)
    try world.change([.leave(bob.person, group: "web")], at: alice)
    for seat in [alice, bob] { #expect(try world.sync(seat).abandoned.isEmpty) }
    #expect(try world.sync(alice).refused.count == 1)
    let report = try world.sync(bob)
    #expect(report.abandoned.map(\.isReplaced) == [!isNew] && report.deletions.isEmpty)
    let item = SimulatedItem(id: report.abandoned[0].record.id, path: report.abandoned[0].record.path)
    #expect(try world.hasPast("of Bob", of: [item], bob))
    for seat in [alice, bob] {
      #expect(try world.sync(seat) == Synchronization.Report())
      #expect(try Set(world.texts(seat).keys) == (isNew ? [] : ["old"]))
      #expect(try seat.open().check().findings.isEmpty)
    }
  }

  @Test(arguments: [false, true])
  func `an item of a person whom an admin without access removes is signed by a member`(isMoved: Bool) throws
  {
    let world = try SimulatedWorld()
    let (laptop, bob, carol) = (world.seats[1], world.seats[2], world.seats[3])
    try world.change([.leave(bob.person, group: GroupName.default)], at: laptop)
    try world.add("old", named: "\(world.seats[0])", at: laptop)
    for seat in [laptop, carol] { try world.sync(seat) }
    // Carol encrypts for the group as she knows it, without Bob.
    try world.replace("of Carol", at: carol)
    try world.change([.join(bob.person, group: GroupName.default)], at: laptop)
    for seat in [laptop, bob] { try world.sync(seat) }
    if isMoved {
      let keyring = try carol.open()
      let item = try #require(try keyring.find(Query()).items.first)
      try keyring.update(item, AttributeChanges(set: [.account: .string("new")]))
      try carol.commit()
    }
    for seat in [carol, laptop] { try world.sync(seat) }
    // Bob has not received the change, and cannot sign it.
    try world.change([.leave(carol.person, group: GroupName.default)], at: bob)
    #expect(try world.sync(bob).refused.count == 1)
    let report = try world.sync(laptop)
    #expect(report.signedAgain == 1 && report.abandoned.isEmpty && report.deletions.isEmpty)
    for seat in [bob, laptop, bob] {
      #expect(try world.sync(seat, addsReaders: true).refused.isEmpty)
      #expect(try world.texts(seat)["of Carol"] != nil)
    }
    for seat in [bob, laptop] {
      #expect(try seat.open().check().findings.isEmpty)
    }
    #expect(try world.sync(laptop) == Synchronization.Report())
  }

  @Test(arguments: [false, true])
  func `both files of a conflict copy are merged if one side has signed it again`(isResolved: Bool) throws {
    let clones = try SyncClones()
    let item = try clones.add(0, "a.example", "me")
    for clone in [0, 1] { try clones.sync(clone) }
    for clone in [0, 1] { try clones.replace(clone, item, "of \(clone)") }
    for clone in [0, 1, 0] { try clones.sync(clone) }
    let copy = try #require(try clones.open(0).conflictCopies().first)
    let store = clones.world.store
    let file = try store.sign([copy.record], by: store.owner, for: try clones.open(0).policy.keyring)[0]
    let path = try #require(copy.files.first { $0.hasSuffix(".json") })
    try Data(file.bytes).write(to: URL(fileURLWithPath: "\(clones.paths[0])/\(path)"))
    _ = try clones.git(0, "commit", "--quiet", "--all", "--message", "sign")
    if isResolved { try clones.open(1).resolve(copy, keeping: .item) }
    for clone in isResolved ? [1, 0, 1] : [0, 1, 0] { #expect(try clones.sync(clone).refused.isEmpty) }
    try clones.expectEqual()
    for clone in 0..<2 {
      #expect(try clones.open(clone).conflictCopies().count == (isResolved ? 0 : 1))
      try clones.expectSound(clone)
    }
  }

  @Test func `reapplied changes keep the items of a group that only this side has`() throws {
    let world = try SimulatedWorld()
    let (alice, bob) = (world.seats[0], world.seats[2])
    try world.create("web", at: alice)
    try world.sync(alice)
    try world.create("ops", at: bob)
    try world.add("of ops", to: "ops", at: bob)
    for seat in [bob, alice, bob] { try world.sync(seat) }
    for seat in [alice, bob] {
      #expect(try world.texts(seat)["of ops"]?.count == 1)
      let keyring = try seat.open()
      #expect(keyring.policy.groups["ops"] == [bob.person] && keyring.policy.groups["web"] == [alice.person])
      #expect(try keyring.check().findings.isEmpty)
    }
  }

  @Test func `two people can create the same group`() throws {
    let world = try SimulatedWorld()
    let (alice, bob) = (world.seats[0], world.seats[2])
    for seat in [alice, bob] {
      try world.create("ops", at: seat)
      try world.add("of \(seat.name)", to: "ops", at: seat)
    }
    for seat in [alice, bob, alice, bob] { try world.sync(seat, addsReaders: true) }
    for seat in [alice, bob] {
      let keyring = try seat.open()
      #expect(keyring.policy.groups["ops"] == [alice.person, bob.person])
      #expect(try keyring.check(decrypts: true).findings.isEmpty)
      #expect(Set(try world.texts(seat).keys) == ["of alice", "of bob"])
      #expect(try world.sync(seat) == Synchronization.Report())
    }
  }
}
