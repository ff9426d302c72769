import Keyring
import KeyringModel
import Sync
import TestSupport
import Testing

/// Tests two versions of an item of which each may have replaced the other one: one has the later secret, and the other
/// one was modified later. Without a common choice, each clone would take the other one's version for a restored one.
@Suite(.slow) struct CrossedVersionsTests {
  private let clones: SyncClones
  /// The version with the later secret.
  private let replaced: ItemRecord
  /// The version that was modified later.
  private let labelled: ItemRecord
  /// The files of both versions by their revisions.
  private let files: [Revision: [(path: String, bytes: [UInt8])]]

  init() throws {
    clones = try SyncClones()
    let store = clones.world.store
    func files(_ record: ItemRecord) throws -> [(String, [UInt8])] {
      try [store.recordFile(record), store.secretFile(record)].map { ($0, try #require(try store.bytes($0))) }
    }
    let old = try clones.add(0, "a.example", "me", "old")
    let message = try #require(try store.bytes(store.secretFile(old)))
    try clones.replace(0, old, "new")
    replaced = try clones.item(0, "a.example")
    let first = try files(replaced)
    for clone in [0, 1] { try clones.sync(clone) }
    var other = old
    other.attributes[.label] = "label"
    other.modified = Timestamp(microseconds: replaced.modified.microseconds + 5)
    labelled = other
    let record = try store.sign([other], by: store.owner, for: try clones.open(0).policy.keyring)[0].bytes
    self.files = [
      replaced.revision: first,
      labelled.revision: [(store.recordFile(other), record), (store.secretFile(other), message)],
    ]
    try put(labelled)
    try clones.sync(1)
    try #require(try clones.item(1, "a.example") == labelled)
  }

  /// Writes a version to the first clone, and sends it.
  private func put(_ version: ItemRecord, _ given: [(path: String, bytes: [UInt8])]? = nil) throws {
    let store = clones.world.store
    for (path, bytes) in given ?? files[version.revision] ?? [] { try store.put(bytes, at: path) }
    try store.putLine(version)
    _ = try clones.git(0, "commit", "--quiet", "--all", "--allow-empty", "--message", "a version")
    _ = try clones.git(0, "push", "--quiet", "origin", "main")
  }

  @Test func `the later secret is chosen, and the other version becomes a conflict copy`() throws {
    try put(replaced)
    let report = try clones.sync(1)
    #expect(report.olderVersions == [labelled] && report.newCopies == 1)
    for clone in [0, 1] {
      try clones.sync(clone)
      #expect(try clones.item(clone, "a.example") == replaced)
      #expect(try clones.open(clone).conflictCopies().map(\.record) == [labelled])
      try clones.expectSound(clone)
    }
  }

  @Test func `one of two versions with the same times is chosen by all clones`() throws {
    let store = clones.world.store
    try put(replaced)
    for clone in [1, 0] { try clones.sync(clone) }
    var twin = replaced
    twin.attributes[.label] = "twin"
    let record = try store.sign([twin], by: store.owner, for: try clones.open(0).policy.keyring)[0].bytes
    let files = (self.files[replaced.revision] ?? []).map { file in
      file.path == store.recordFile(twin) ? (path: file.path, bytes: record) : file
    }
    // Whichever of the two is in the place of the other one, all clones choose the same one.
    for _ in 0..<2 {
      try put(twin, files)
      for clone in [1, 0] { try clones.sync(clone) }
      try put(replaced)
      for clone in [1, 0] { try clones.sync(clone) }
    }
    #expect(try clones.item(0, "a.example") == clones.item(1, "a.example"))
    let tips = try [0, 1].map { try clones.git($0, "rev-parse", "HEAD") }
    for clone in [0, 1] { try clones.sync(clone) }
    #expect(try [0, 1].map { try clones.git($0, "rev-parse", "HEAD") } == tips)
    #expect(tips[0] == tips[1])
  }

  @Test func `the earlier secret is an older version`() throws {
    try put(replaced)
    for clone in [1, 0] { try clones.sync(clone) }
    try put(labelled)
    let report = try clones.sync(1)
    #expect(report.olderVersions == [labelled])
    for clone in [0, 1] {
      try clones.sync(clone)
      #expect(try clones.item(clone, "a.example") == replaced)
    }
  }
}
