import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import Sync
import TestSupport
import Testing

/// Tests received items that have moved to another group. Alice is in `default` and `ops`, Bob only in `default`.
@Suite(.serialized, .slow) struct GroupMoveTests {
  private static let bob = EngineDouble.fingerprint(2)

  /// Creates two clones of Alice without items.
  private static func clones() throws -> SyncClones {
    let clones = try SyncClones()
    let store = clones.world.store
    try clones.changePolicy {
      try store.join(bob, "default")
      try store.changePolicy { $0.groups["ops"] = [store.owner] }
    }
    return clones
  }

  /// Two clones of Alice with an item of `ops` in each.
  private struct World {
    let clones: SyncClones
    let item: ItemRecord

    init(_ clones: SyncClones, _ item: ItemRecord) { (self.clones, self.item) = (clones, item) }

    init() throws {
      clones = try GroupMoveTests.clones()
      var new = NewItem.login("prod.example", "root")
      new.group = "ops"
      item = try clones.open(0).add(new, secret: SecretBytes(text: "of ops"))
      for clone in [0, 1, 0] { try clones.sync(clone) }
    }

    /// Writes a version of the item to `default` in the first clone, where it replaces the present one, and commits it.
    func write(
      _ version: ItemRecord, _ secret: String, by signer: Fingerprint, over old: ItemRecord
    ) throws -> ItemRecord {
      let store = clones.world.store
      let message = try store.engine.seal(
        SecretBytes(text: secret), to: [store.owner, GroupMoveTests.bob])
      var version = version
      version.group = "default"
      version.sealed = ContentDigest(of: message)
      version.modified = Timestamp(microseconds: version.modified.microseconds + 1)
      let file = try store.sign([version], by: signer, for: try clones.open(0).policy.keyring)[0]
      for path in [store.recordFile(old), store.secretFile(old)] { try store.put(nil, at: path) }
      try store.put(file.bytes, at: store.recordFile(version))
      try store.put(message, at: store.secretFile(version))
      try store.putLine(version)
      try commit("write")
      return version
    }

    func commit(_ message: String) throws {
      _ = try clones.git(0, "add", "--all")
      _ = try clones.git(0, "commit", "--quiet", "--message", message)
    }
  }

  @Test(arguments: [false, true])
  func `a person outside the group of an item cannot take it over`(hasOwnChange: Bool) throws {
    let world = try World()
    let clones = world.clones
    let forged = try world.write(world.item, "of Bob", by: Self.bob, over: world.item)
    try #require(forged.path != world.item.path)
    _ = try clones.git(0, "push", "--quiet", "origin", "main")
    if hasOwnChange { try clones.open(1).update(world.item, .set(.comment, "own")) }
    let report = try clones.sync(1)
    #expect(report.refused.map(\.path) == [clones.world.store.recordFile(forged)])
    #expect(
      report.refused.map(\.reason) == [.record(.mismatch(.unauthorizedMove))] && report.deletions.isEmpty)
    #expect(report.refused.first?.committer == "P <p@example.org>")
    let item = try clones.item(1, "prod.example")
    #expect(item.group == "ops" && item.id == world.item.id)
    #expect(try clones.open(1).text(of: item) == "of ops")
    #expect(try clones.open(1).conflictCopies().map(\.record) == [forged])
    try clones.expectSound(1)
    // The remote gets the item back unchanged.
    let files = try clones.git(1, "ls-tree", "-r", "--name-only", "origin/main")
    #expect(!files.contains(clones.world.store.recordFile(forged)))
    #expect(files.contains(clones.world.store.recordFile(item)))
  }

  @Test func `a person outside the group of a restored item cannot replace it`() throws {
    let world = try World()
    let clones = world.clones
    try clones.open(0).delete([world.item])
    for clone in [0, 1] { try clones.sync(clone) }
    let repository = try #require(
      try Repository.find(store: clones.paths[1], git: clones.world.makeGit))
    let removal = try #require(
      try RemovedItems(below: [StoreLayout.items], in: repository).removals.first)
    let past = try #require(try HistoricalStore(at: removal.parent, in: repository))
    let keyring = try clones.open(1)
    let restored = try #require(
      try keyring.bringBack([past.item(at: world.item.path, in: keyring)]).first)
    let forged = try world.write(world.item, "of Bob", by: Self.bob, over: world.item)
    _ = try clones.git(0, "push", "--quiet", "origin", "main")
    let report = try clones.sync(1)
    #expect(report.refused.map(\.reason) == [.record(.mismatch(.unauthorizedMove))])
    #expect(try clones.find(1) == [restored])
    #expect(try clones.open(1).conflictCopies().map(\.record) == [forged])
    try clones.expectSound(1)
  }

  @Test func `a move by a member of both groups is accepted, even if others then change the item`()
    throws
  {
    let world = try World()
    let clones = world.clones
    let owner = clones.world.store.owner
    let moved = try world.write(world.item, "of ops", by: owner, over: world.item)
    var changed = moved
    changed.attributes[.comment] = "of Bob"
    changed = try world.write(changed, "of ops", by: Self.bob, over: moved)
    _ = try clones.git(0, "push", "--quiet", "origin", "main")
    let report = try clones.sync(1)
    #expect(report.refused.isEmpty && report.newCopies == 0)
    #expect(try clones.item(1, "prod.example") == changed)
    try clones.expectSound(1)
  }

  @Test func `a reverted move does not let others take the item over`() throws {
    let world = try World()
    let clones = world.clones
    let shared = try clones.open(0).update(world.item, AttributeChanges(group: "default"))
    try clones.sync(0)
    let item = try clones.open(0).update(shared, AttributeChanges(group: "ops"))
    try clones.sync(0)
    let forged = try world.write(item, "of Bob", by: Self.bob, over: item)
    _ = try clones.git(0, "push", "--quiet", "origin", "main")
    let report = try clones.sync(1)
    #expect(report.refused.map(\.path) == [clones.world.store.recordFile(forged)])
    #expect(try clones.item(1, "prod.example") == world.item)
    try clones.expectSound(1)
  }

  /// Bob does not know of the move and cannot revert it.
  @Test func `a move and a new secret by a person outside the group have the same result in every clone`()
    throws
  {
    let clones = try Self.clones()
    let old = try clones.add(0, "prod.example", "root", "old")
    for clone in [0, 1, 0] { try clones.sync(clone) }
    let moved = try clones.open(1).update(old, AttributeChanges(group: "ops"))
    var changed = old
    var generator = SystemRandomNumberGenerator()
    changed.revision = Revision(using: &generator)
    changed.secretModified = Timestamp(microseconds: moved.modified.microseconds + 10)
    changed.modified = changed.secretModified
    let world = World(clones, old)
    changed = try world.write(changed, "of Bob", by: Self.bob, over: old)
    _ = try clones.git(0, "push", "--quiet", "origin", "main")
    let report = try clones.sync(1)
    #expect(report.refused.isEmpty && report.newCopies == 1)
    let again = try clones.sync(0)
    #expect(again.refused.isEmpty && again.olderVersions.isEmpty && again.newCopies == 1)
    try clones.expectEqual()
    for clone in [0, 1] {
      #expect(try clones.item(clone, "prod.example") == moved)
      let copy = try #require(clones.open(clone).conflictCopies().first)
      #expect(copy.record == changed)
      #expect(try clones.open(clone).text(of: copy) == "of Bob")
    }
  }

  /// A merged record has the time of the later of its two sources.
  @Test func `a version that a merge has replaced is not restored`() throws {
    let clones = try SyncClones()
    let item = try clones.add(0, "a.example", "me", "old")
    for clone in [0, 1] { try clones.sync(clone) }
    try clones.replace(0, item, "new")
    try clones.open(1).update(item, .set(.label, "label"))
    let labelled = try clones.item(1, "a.example")
    try clones.world.git(["add", "--all"], in: clones.paths[1])
    try clones.world.git(["commit", "--quiet", "--message", "label"], in: clones.paths[1])
    let before = try clones.git(1, "rev-parse", "HEAD").trimmingCharacters(in: .newlines)
    for clone in [0, 1, 0] { try clones.sync(clone) }
    let merged = try clones.item(0, "a.example")
    try #require(merged.modified == labelled.modified)
    _ = try clones.git(0, "checkout", "--quiet", before, "--", "items", "index")
    _ = try clones.git(0, "commit", "--quiet", "--all", "--message", "put back")
    _ = try clones.git(0, "push", "--quiet", "origin", "main")
    let report = try clones.sync(1)
    #expect(report.olderVersions == [labelled] && report.newCopies == 1 && report.refused.isEmpty)
    #expect(try clones.item(1, "a.example") == merged)
    #expect(try clones.open(1).text(of: merged) == "new")
    try clones.expectSound(1)
  }

  /// A version that lost against the item is signed and is in `conflicts` for all readers.
  @Test func `a version that has lost does not let others take the item over`() throws {
    let world = try World()
    let clones = world.clones
    var loser = world.item
    loser.secretModified = Timestamp(microseconds: loser.secretModified.microseconds - 1)
    let old = try world.write(loser, "older", by: clones.world.store.owner, over: world.item)
    let forged = try world.write(old, "of Bob", by: Self.bob, over: old)
    _ = try clones.git(0, "push", "--quiet", "origin", "main")
    let report = try clones.sync(1)
    #expect(report.refused.map(\.path) == [clones.world.store.recordFile(forged)])
    #expect(try clones.item(1, "prod.example") == world.item)
    try clones.expectSound(1)
  }

  /// The version in `default` has the later secret, and that in `ops` was modified later.
  @Test func `a restored version never adds readers`() throws {
    let clones = try Self.clones()
    let store = clones.world.store
    let old = try clones.add(0, "prod.example", "root", "old")
    try clones.replace(0, old, "new")
    let shared = try clones.item(0, "prod.example")
    let files = try [store.recordFile(shared), store.secretFile(shared)].map { ($0, try store.bytes($0)) }
    for clone in [0, 1] { try clones.sync(clone) }
    let world = World(clones, shared)
    let message = try store.engine.seal(SecretBytes(text: "old"), to: [store.owner])
    var moved = old
    moved.group = "ops"
    moved.sealed = ContentDigest(of: message)
    moved.modified = Timestamp(microseconds: shared.modified.microseconds + 5)
    let record = try store.sign([moved], by: store.owner, for: try clones.open(0).policy.keyring)[0].bytes
    for (path, _) in files { try store.put(nil, at: path) }
    try store.put(record, at: store.recordFile(moved))
    try store.put(message, at: store.secretFile(moved))
    try store.putLine(moved)
    try world.commit("move")
    try clones.sync(0)
    try clones.sync(1)
    try #require(try clones.item(1, "prod.example") == moved)
    for path in [store.recordFile(moved), store.secretFile(moved)] { try store.put(nil, at: path) }
    for (path, bytes) in files { try store.put(bytes, at: path) }
    try store.putLine(shared)
    try world.commit("restore")
    _ = try clones.git(0, "push", "--quiet", "origin", "main")
    let report = try clones.sync(1)
    #expect(report.olderVersions == [shared] && report.newCopies == 1)
    #expect(try clones.item(1, "prod.example") == moved)
    try clones.expectSound(1)
  }

  @Test func `a version against which a conflict was resolved is not restored`() throws {
    let clones = try SyncClones()
    let store = clones.world.store
    let item = try clones.add(0, "a.example", "me", "old")
    for clone in [0, 1] { try clones.sync(clone) }
    for clone in [1, 0] { try clones.replace(clone, item, "of \(clone)") }
    for clone in [1, 0] { try clones.sync(clone) }
    let loser = try clones.item(0, "a.example")
    let files = try [store.recordFile(loser), store.secretFile(loser)].map { ($0, try store.bytes($0)) }
    let copy = try #require(try clones.open(0).conflictCopies().first)
    try clones.open(0).resolve(copy, keeping: .copy)
    let chosen = try clones.item(0, "a.example")
    try #require(chosen.secretModified > loser.secretModified)
    for clone in [0, 1] { try clones.sync(clone) }
    for (path, bytes) in files { try store.put(bytes, at: path) }
    try store.putLine(loser)
    _ = try clones.git(0, "commit", "--quiet", "--all", "--message", "restore")
    _ = try clones.git(0, "push", "--quiet", "origin", "main")
    #expect(try clones.sync(1).olderVersions == [loser])
    #expect(try clones.item(1, "a.example") == chosen)
  }

  @Test func `a policy that is not accepted makes no one a member of the old group`() throws {
    let world = try World()
    let (clones, store) = (world.clones, world.clones.world.store)
    var policy = try clones.open(0).policy
    policy.previous = ContentDigest(of: policy.encode())
    policy.generation += 1
    policy.groups["ops"] = [store.owner, Self.bob]
    try store.put(policy.encode(), at: StoreLayout.policy)
    try store.put(
      try store.engine.signDetached(policy.encode(), signer: Self.bob), at: StoreLayout.policySignature)
    let message = try store.engine.seal(SecretBytes(text: "of Bob"), to: [store.owner, Self.bob])
    var forged = world.item
    forged.group = "default"
    forged.sealed = ContentDigest(of: message)
    forged.modified = Timestamp(microseconds: forged.modified.microseconds + 1)
    let file = try store.sign([forged], by: Self.bob, for: policy.keyring)[0]
    try store.put(file.bytes, at: store.recordFile(forged))
    try store.put(message, at: store.secretFile(forged))
    try world.commit("a policy")
    _ = try clones.git(0, "push", "--quiet", "origin", "main")
    for _ in 0..<2 {
      #expect {
        try clones.sync(1)
      } throws: { error in
        if case SyncError.untrustedPolicy? = error as? SyncError { true } else { false }
      }
    }
    #expect(try clones.open(1).distrust == nil)
    #expect(try clones.item(1, "prod.example") == world.item)
    try clones.expectSound(1)
  }

  /// The item was in `default` once, as its signed record of that time still says.
  @Test func `an old move does not let others take the item over`() throws {
    let clones = try Self.clones()
    let store = clones.world.store
    let first = try clones.add(0, "prod.example", "root", "shared")
    let old = try [store.recordFile(first), store.secretFile(first)].map { ($0, try store.bytes($0)) }
    let item = try clones.open(0).update(first, AttributeChanges(group: "ops"))
    for clone in [0, 1, 0] { try clones.sync(clone) }
    let world = World(clones, item)
    for (path, bytes) in old { try store.put(bytes, at: path) }
    for path in [store.recordFile(item), store.secretFile(item)] { try store.put(nil, at: path) }
    try store.putLine(first)
    try world.commit("an old version")
    var version = first
    version.modified = item.modified
    _ = try world.write(version, "of Bob", by: Self.bob, over: first)
    _ = try clones.git(0, "push", "--quiet", "origin", "main")
    let report = try clones.sync(1)
    #expect(
      report.refused.map(\.reason) == [.record(.mismatch(.unauthorizedMove))] && report.deletions.isEmpty)
    #expect(try clones.item(1, "prod.example") == item)
    try clones.expectSound(1)
  }

  /// - Parameter isSignedAgain: True if the record has another proof than in the history.
  @Test(arguments: [false, true])
  func `an older item does not return under another id`(isSignedAgain: Bool) throws {
    let clones = try SyncClones()
    let store = clones.world.store
    let old = try clones.add(0, "a.example", "me", "old")
    let files = try [store.recordFile(old), store.secretFile(old)].map { ($0, try store.bytes($0)) }
    try clones.sync(0)
    try clones.open(0).delete([old])
    let new = try clones.add(0, "a.example", "me", "new")
    try clones.sync(0)
    try clones.sync(1)
    for (path, bytes) in files { try store.put(bytes, at: path) }
    if isSignedAgain {
      let file = try store.sign([old], by: store.owner, for: try clones.open(0).policy.keyring)[0]
      try store.put(file.bytes, at: store.recordFile(old))
    }
    try store.putLine(old)
    _ = try clones.git(0, "commit", "--quiet", "--all", "--message", "put back")
    _ = try clones.git(0, "push", "--quiet", "origin", "main")
    let report = try clones.sync(1)
    #expect(report.olderVersions == [old] && report.newCopies == 1)
    #expect(report.deletions.isEmpty)
    #expect(try clones.find(1, "a.example") == [new])
    #expect(try clones.open(1).text(of: new) == "new")
    #expect(try clones.open(1).text(of: try #require(clones.open(1).conflictCopies().first)) == "old")
    try clones.expectSound(1)
  }
}
