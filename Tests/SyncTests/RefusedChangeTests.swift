import Foundation
import Keyring
import KeyringModel
import Secrets
import Sync
import TestSupport
import Testing

/// Tests that a change of the remote that is refused has no other effect, such as a deletion or an older version.
@Suite struct RefusedChangeTests {
  @Test func `a refused move to another path is not a deletion`() throws {
    let clones = try SyncClones()
    let store = clones.world.store
    let item = try clones.add(0, "a.example", "me", "kept")
    for clone in [0, 1] { try clones.sync(clone) }
    // Nobody is in that group.
    var moved = item
    moved.group = "ops"
    moved.modified = Timestamp(microseconds: item.modified.microseconds + 1)
    let message = try store.bytes(store.secretFile(item))
    let file = try store.sign([moved], by: store.owner, for: try clones.open(0).policy.keyring)[0]
    for path in [store.recordFile(item), store.secretFile(item)] { try store.put(nil, at: path) }
    try store.put(file.bytes, at: store.recordFile(moved))
    try store.put(message, at: store.secretFile(moved))
    try store.putLine(moved)
    try clones.push("a move")
    let report = try clones.sync(1)
    #expect(report.refused.map(\.path) == [store.recordFile(moved)] && report.deletions.isEmpty)
    #expect(try clones.open(1).text(of: clones.item(1, "a.example")) == "kept")
    try clones.expectSound(1)
  }

  @Test(arguments: [".gpg", ".json"])
  func `a conflict copy of which the remote has removed one file is kept`(suffix: String) throws {
    let clones = try SyncClones()
    let store = clones.world.store
    let item = try clones.add(0, "a.example", "me")
    for clone in [0, 1] { try clones.sync(clone) }
    for clone in [0, 1] { try clones.replace(clone, item, "of \(clone)") }
    for clone in [0, 1, 0] { try clones.sync(clone) }
    let copy = try #require(try clones.open(0).conflictCopies().first)
    let path = try #require(copy.files.first { $0.hasSuffix(suffix) })
    try store.put(nil, at: path)
    try clones.push("one file")
    #expect(try clones.sync(1).refused.map(\.path) == [path])
    let kept = try #require(try clones.open(1).conflictCopies().first)
    #expect(try clones.open(1).text(of: kept) == clones.open(1).text(of: copy))
    try clones.expectSound(1)
  }

  @Test func `a record under a policy that nobody has accepted does not hide the version before it`() throws {
    let clones = try SyncClones()
    let store = clones.world.store
    let old = try clones.add(0, "a.example", "me", "old")
    try clones.sync(0)
    let files = try [store.recordFile(old), store.secretFile(old)].map { ($0, try store.bytes($0)) }
    try clones.replace(0, old, "new")
    for clone in [0, 1] { try clones.sync(clone) }
    let item = try clones.item(1, "a.example")

    let stranger = EngineDouble.fingerprint(3)
    let accepted = try [StoreLayout.policy, StoreLayout.policySignature].map { ($0, try store.bytes($0)) }
    var policy = try clones.open(0).policy
    policy.previous = ContentDigest(of: policy.encode())
    policy.generation += 1
    policy.people[stranger] = Person(
      name: "Stranger", role: .member, added: item.modified, encryptTo: [stranger])
    policy.groups["default"] = [store.owner, stranger].sorted()
    try store.put(Array(stranger.text.utf8), at: StoreLayout.keyFile(stranger))
    try store.put(policy.encode(), at: StoreLayout.policy)
    try store.put(
      try store.engine.signDetached(policy.encode(), signer: stranger), at: StoreLayout.policySignature)
    let message = try store.engine.seal(SecretBytes(text: "forged"), to: [store.owner, stranger])
    var forged = item
    forged.sealed = ContentDigest(of: message)
    forged.modified = Timestamp(microseconds: item.modified.microseconds + 1)
    let file = try store.sign([forged], by: stranger, for: policy.keyring)[0]
    try store.put(file.bytes, at: store.recordFile(forged))
    try store.put(message, at: store.secretFile(forged))
    try store.putLine(forged)
    try clones.push("a policy")
    // Only plain git receives it.
    _ = try clones.git(1, "pull", "-q", "--ff-only", "origin", "main")
    #expect(try clones.open(1).distrust != nil)

    for (path, bytes) in accepted + files { try store.put(bytes, at: path) }
    try store.put(nil, at: StoreLayout.keyFile(stranger))
    try store.putLine(old)
    try clones.push("an older version")
    let report = try clones.sync(1)
    #expect(report.olderVersions == [old] && report.deletions.isEmpty)
    let keyring = try clones.open(1)
    #expect(keyring.distrust == nil)
    #expect(try keyring.text(of: clones.item(1, "a.example")) == "new")
    try clones.expectSound(1)
  }

  @Test func `a key file of a stranger is refused by name, and does not stay in any clone`() throws {
    let clones = try SyncClones()
    try clones.add(0, "a.example", "me")
    for clone in [0, 1] { try clones.sync(clone) }
    let file = StoreLayout.keyFile(EngineDouble.fingerprint(9))
    try clones.push("100644", file, "a key")
    try clones.add(0, "b.example", "me")
    let report = try clones.sync(0)
    #expect(report.refused.map(\.path) == [file])
    #expect(report.refused.map(\.reason) == [.file(.stranger)])
    #expect(try clones.sync(1).refused.isEmpty)
    for clone in [0, 1] {
      #expect(!FileManager.default.fileExists(atPath: "\(clones.paths[clone])/\(file)"))
      try clones.expectSound(clone)
    }
    try clones.expectEqual()
  }
}

extension SyncClones {
  /// Commits all files of the first clone with plain git, and pushes them.
  fileprivate func push(_ message: String) throws {
    _ = try git(0, "add", "--all")
    _ = try git(0, "commit", "--quiet", "--message", message)
    _ = try git(0, "push", "--quiet", "origin", "main")
  }
}
