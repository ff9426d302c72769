import Foundation
import Keyring
import KeyringModel
import Secrets
import Sync
import TestSupport
import Testing

/// Tests `sync` with files that a phone app has committed: new ones, and changed files of items.
@Suite(.serialized, .slow) struct ForeignFileSyncTests {
  private let clones: SyncClones
  private let item: ItemRecord
  private var store: StandInStore { clones.world.store }
  private var itemFile: String { store.secretFile(item) }

  init() throws {
    clones = try SyncClones(3)
    item = try clones.add(0, "a.example", "me", "old")
    for clone in 0..<3 { try clones.sync(clone) }
    _ = try clones.git(2, "pull", "--quiet")
  }

  /// Commits a file in the clone of the phone, and pushes it.
  private func phone(_ path: String, _ secret: String?) throws {
    _ = try clones.git(2, "pull", "--quiet", "--no-rebase", "--no-edit")
    if let secret {
      try put(2, path, secret)
    } else {
      _ = try clones.git(2, "rm", "--quiet", "--", path)
    }
    _ = try clones.git(2, "add", "--all")
    _ = try clones.git(2, "commit", "--quiet", "--message", "phone")
    _ = try clones.git(2, "push", "--quiet", "origin", "main")
  }

  private func put(_ clone: Int, _ path: String, _ secret: String) throws {
    let bytes = SecretBytes(text: secret)
    let message = try store.engine.seal(bytes, to: [store.owner])
    let file = URL(fileURLWithPath: "\(clones.paths[clone])/\(path)")
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(message).write(to: file)
  }

  private func foreign(_ clone: Int) throws -> [String] { try clones.open(clone).foreignFiles().map(\.path) }

  private func text(_ clone: Int, _ path: String) throws -> String {
    let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: "\(clones.paths[clone])/\(path)")))
    return try store.engine.open(bytes, limit: 1000).text()
  }

  private func adopt(_ clone: Int, _ secret: String) throws {
    let keyring = try clones.open(clone)
    for file in try keyring.foreignFiles() {
      let content: Adoption.Content =
        file.item == nil
        ? .login([Adoption.Part(.login("new.example", "me"), secret: SecretSlice(SecretBytes(text: secret)))])
        : .secret(SecretSlice(SecretBytes(text: secret)))
      guard case .adopted = try keyring.adopt([Adoption(file, content)])[0] else {
        Issue.record("\(file.path)")
        continue
      }
    }
  }

  private func expectSame() throws {
    for clone in [0, 1, 0] { #expect(try clones.sync(clone).refused.isEmpty) }
    let trees = try [0, 1].map { try clones.git($0, "rev-parse", "HEAD^{tree}") }
    #expect(trees[0] == trees[1])
    #expect(try clones.git(0, "status", "--porcelain") == "")
  }

  static let names = [
    "items/new.example/me.gpg", "items/web/Some Site.gpg", "items/internet-password/new.example/me.gpg",
    "items/generic-password/My Wifi/home.gpg", "items/x.gpg",
  ]

  @Test(arguments: names)
  func `a new file comes in, stays in a clone that has not adopted it, and goes with the adoption`(
    path: String
  ) throws {
    try phone(path, "claim")
    let report = try clones.sync(0)
    #expect(report.refused.isEmpty && report.newCopies == 0)
    #expect(report.foreignFiles.map(\.path) == [path] && report.foreignFiles.allSatisfy { $0.item == nil })
    #expect(report.foreignFiles[0].committer?.contains("@") == true)
    #expect(try foreign(0) == [path] && clones.sync(0).foreignFiles.isEmpty)
    // The other clone has a change of its own, so that its sync makes a merge commit.
    try clones.add(1, "c.example", "me")
    #expect(try clones.sync(1).refused.isEmpty)
    #expect(try foreign(1) == [path] && clones.find(1, "new.example").isEmpty)
    try expectSame()
    try adopt(0, "claim")
    try expectSame()
    #expect(try foreign(0).isEmpty && foreign(1).isEmpty)
    #expect(try clones.open(1).text(of: clones.item(1, "new.example")) == "claim")
    try clones.expectSound(1)
  }

  @Test(arguments: names)
  func `a file that is changed or removed again is merged`(path: String) throws {
    try phone(path, "one")
    try expectSame()
    try phone(path, "two")
    try clones.add(0, "c.example", "me")
    try expectSame()
    #expect(try foreign(1) == [path] && text(1, path) == "two")
    try phone(path, nil)
    try clones.add(1, "d.example", "me")
    try expectSame()
    #expect(try foreign(0).isEmpty && foreign(1).isEmpty)
  }

  @Test(arguments: names)
  func `a file that the phone changes while it is adopted stays to be adopted`(path: String) throws {
    try phone(path, "one")
    try expectSame()
    try adopt(0, "one")
    try phone(path, "two")
    try expectSame()
    let rest = try foreign(0)
    #expect(try rest.count == 1 && text(0, rest[0]) == "two" && foreign(1) == rest)
    #expect(try clones.open(1).text(of: clones.item(1, "new.example")) == "one")
  }

  @Test(arguments: names)
  func `two versions of a new file are both kept`(path: String) throws {
    try put(0, path, "one")
    _ = try clones.git(0, "add", "--all")
    _ = try clones.git(0, "commit", "--quiet", "--message", "phone")
    try phone(path, "two")
    try expectSame()
    let found = try foreign(1)
    #expect(try Set(found.map { try text(1, $0) }) == ["one", "two"])
  }

  /// Phone apps put entries without a folder there.
  @Test(arguments: ["items/internet-password/direct.example.gpg", "items/generic-password/wifi.gpg"])
  func `a message directly in the folder of a class is moved to a path that no item can have`(
    path: String
  ) throws {
    try phone(path, "claim")
    // The folder of this item has the path of the first file.
    try clones.add(0, "direct.example.gpg", "me", "mine")
    let report = try clones.sync(0)
    #expect(report.refused.isEmpty)
    let found = report.foreignFiles.map(\.path)
    #expect(found.count == 1 && found.allSatisfy { $0.hasPrefix("\(path.dropLast(4)) (") }, "\(found)")
    #expect(try foreign(0) == found && text(0, found[0]) == "claim")
    try expectSame()
    #expect(try foreign(1) == found)
    #expect(try clones.open(1).text(of: clones.item(1, "direct.example.gpg")) == "mine")
    // The app receives the new path, and changes the file there.
    try phone(found[0], "new claim")
    try expectSame()
    #expect(try foreign(1) == found && text(1, found[0]) == "new claim")
  }

  /// Returns the path at which a merge keeps the file that the phone has changed.
  private func second() throws -> String {
    let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: "\(clones.paths[2])/\(itemFile)")))
    return SecondPath.of(itemFile, ContentDigest(of: bytes))
  }

  @Test func `a changed file of an item is kept beside the signed one, and can be accepted`() throws {
    try phone(itemFile, "new")
    let second = try second()
    let decryptions = store.engine.statistics.decryptions
    let report = try clones.sync(0)
    #expect(report.refused.isEmpty)
    #expect(report.foreignFiles.map(\.path) == [second] && report.foreignFiles.map(\.item) == [item.path])
    #expect(report.foreignFiles[0].committer?.contains("@") == true)
    #expect(store.engine.statistics.decryptions == decryptions)
    let files = try clones.open(0).foreignFiles()
    #expect(files.map(\.path) == [second] && files.map(\.kind) == [.kept(item)])
    #expect(try clones.open(0).text(of: item) == "old")
    try clones.add(1, "c.example", "me")
    let other = try clones.sync(1)
    #expect(other.foreignFiles.map(\.item) == [item.path] && other.foreignFiles[0].committer != nil)
    try expectSame()
    #expect(try foreign(1) == [second] && clones.open(1).text(of: item) == "old")
    try adopt(0, "new")
    try expectSame()
    #expect(try clones.open(1).text(of: clones.item(1, "a.example")) == "new")
    #expect(try foreign(1).isEmpty)
    try clones.expectSound(1)
  }

  @Test func `a file that no member can read does not replace the signed one`() throws {
    _ = try clones.git(2, "pull", "--quiet")
    let junk = try store.engine.seal(SecretBytes(text: "junk"), to: [EngineDouble.fingerprint(9)])
    try Data(junk).write(to: URL(fileURLWithPath: "\(clones.paths[2])/\(itemFile)"))
    _ = try clones.git(2, "commit", "--quiet", "--all", "--message", "push")
    _ = try clones.git(2, "push", "--quiet", "origin", "main")
    try expectSame()
    for clone in 0..<2 { #expect(try clones.open(clone).text(of: item) == "old") }
    // A new clone has the signed file, too.
    _ = try clones.git(2, "pull", "--quiet")
    #expect(try clones.open(2).text(of: item) == "old" && foreign(2).count == 1)
  }

  @Test func `a file that was changed here stays in place here, and is kept beside the item elsewhere`()
    throws
  {
    try put(0, itemFile, "new")
    _ = try clones.git(0, "commit", "--quiet", "--all", "--message", "edit")
    try clones.add(1, "c.example", "me")
    try clones.sync(1)
    try clones.sync(0)
    #expect(try foreign(0) == [itemFile] && text(0, itemFile) == "new")
    let report = try clones.sync(1)
    let rest = report.foreignFiles.map(\.path)
    #expect(rest != [itemFile] && report.foreignFiles.map(\.item) == [item.path])
    try expectSame()
    #expect(try foreign(0) == rest && foreign(1) == rest && text(0, rest[0]) == "new")
    for clone in 0..<2 { #expect(try clones.open(clone).text(of: item) == "old") }
  }

  @Test func `an item whose file was changed before it arrives has its signed file`() throws {
    let new = try clones.add(1, "b.example", "me", "signed")
    try clones.sync(1)
    let file = store.secretFile(new)
    try phone(file, "phone")
    let report = try clones.sync(0)
    #expect(report.refused.isEmpty && report.foreignFiles.map(\.item) == [new.path])
    #expect(try clones.open(0).text(of: new) == "signed")
    try expectSame()
    #expect(try clones.open(1).text(of: new) == "signed" && foreign(1) == foreign(0))
    // If the signed file is nowhere, the other one is kept in its place.
    _ = try clones.git(2, "pull", "--quiet", "--no-rebase", "--no-edit")
    let last = try clones.add(2, "d.example", "me", "never committed")
    try put(2, store.secretFile(last), "phone")
    _ = try clones.git(2, "add", "--all")
    _ = try clones.git(2, "commit", "--quiet", "--message", "both")
    _ = try clones.git(2, "push", "--quiet", "origin", "main")
    #expect(try clones.sync(0).foreignFiles.map(\.path) == [store.secretFile(last)])
    try expectSame()
  }

  @Test func `an undone change is undone everywhere`() throws {
    try phone(itemFile, "new")
    try expectSame()
    let keyring = try clones.open(0)
    let second = try second()
    let done = try keyring.undo(keyring.foreignFiles(), originals: [:])
    guard case .quarantined? = done[second] else {
      Issue.record("\(done)")
      return
    }
    try expectSame()
    #expect(try clones.open(1).text(of: item) == "old" && foreign(1).isEmpty)
    try clones.expectSound(1)
  }

  @Test func `a changed attribute and a changed file are merged, and the file stays to be adopted`() throws {
    try clones.open(0).update(item, AttributeChanges(set: [.comment: "own"]))
    try phone(itemFile, "new")
    let second = try second()
    try expectSame()
    #expect(try clones.item(1, "a.example").attributes[.comment] == "own")
    #expect(try foreign(0) == [second] && foreign(1) == [second])
    try adopt(1, "new")
    try expectSame()
    let merged = try clones.item(0, "a.example")
    #expect(try clones.open(0).text(of: merged) == "new" && merged.attributes[.comment] == "own")
  }

  /// Concurrent changes of the item on this side.
  enum OwnChange: CaseIterable { case secret, removal, rename }

  @Test(arguments: OwnChange.allCases, [false, true])
  func `a signed change wins, and the file of the phone is kept beside it`(
    own: OwnChange, phoneIsFirst: Bool
  ) throws {
    if phoneIsFirst {
      // The clone receives the file of the phone, and another one the signed change.
      try phone(itemFile, "phone")
      try clones.sync(1)
    }
    switch own {
    case .secret: try clones.replace(0, item, "own")
    case .removal: try clones.open(0).delete([item])
    case .rename: try clones.open(0).update(item, AttributeChanges(set: [.account: "you"]))
    }
    if !phoneIsFirst { try phone(itemFile, "phone") }
    try expectSame()
    let rest = try foreign(0)
    #expect(try rest.count == 1 && text(0, rest[0]) == "phone" && foreign(1) == rest, "\(rest)")
    #expect(rest.first != itemFile)
    let items = try clones.find(1, "a.example")
    switch own {
    case .secret: #expect(try items.map { try clones.open(1).text(of: $0) } == ["own"])
    case .removal: #expect(items.isEmpty)
    case .rename: #expect(try items.map { try clones.open(1).text(of: $0) } == ["old"])
    }
    let findings = try clones.open(1).check(decrypts: true).findings
    #expect(findings == [Finding(rest[0], .notAdopted)], "\(findings)")
  }

  /// Files that a person without a key can push in place of that of an item.
  enum Replay: CaseIterable { case otherItem, oldVersion, noMessage }

  @Test(arguments: Replay.allCases)
  func `a copy of another file, an old file and other bytes are refused and reverted`(replay: Replay) throws {
    let old = try #require(try store.bytes(itemFile))
    try clones.replace(0, item, "current")
    let other = try clones.add(0, "b.example", "me", "other")
    try expectSame()
    _ = try clones.git(2, "pull", "--quiet")
    let bytes =
      switch replay {
      case .otherItem: try #require(try store.bytes(store.secretFile(other)))
      case .oldVersion: old
      case .noMessage: Array("text".utf8)
      }
    try Data(bytes).write(to: URL(fileURLWithPath: "\(clones.paths[2])/\(itemFile)"))
    _ = try clones.git(2, "commit", "--quiet", "--all", "--message", "forged")
    _ = try clones.git(2, "push", "--quiet", "origin", "main")
    let report = try clones.sync(0)
    #expect(report.refused.map(\.path) == [store.recordFile(item)])
    #expect(report.refused.map(\.reason) == [.record(.damage(.notAsRecorded))])
    try expectSame()
    #expect(try clones.open(1).text(of: clones.item(1, "a.example")) == "current")
    try clones.expectSound(1)
  }

  @Test func `a rollback is recognised although the file was changed in between`() throws {
    let files = [store.recordFile(item), itemFile]
    let old = try files.map { try #require(try store.bytes($0)) }
    try clones.replace(0, item, "current")
    try expectSame()
    try phone(itemFile, "phone")
    try expectSame()
    _ = try clones.git(2, "pull", "--quiet")
    for (file, bytes) in zip(files, old) {
      try Data(bytes).write(to: URL(fileURLWithPath: "\(clones.paths[2])/\(file)"))
    }
    _ = try clones.git(2, "commit", "--quiet", "--all", "--message", "forged")
    _ = try clones.git(2, "push", "--quiet", "origin", "main")
    let report = try clones.sync(0)
    #expect(report.olderVersions.map(\.id) == [item.id])
    try expectSame()
    #expect(try clones.item(1, "a.example").revision != item.revision)
  }

  @Test func `a file that is too large, a list of recipients and a link are refused`() throws {
    let large = String(repeating: "x", count: StoreLayout.sealedItemLimit + 1)
    try clones.push("100644", "items/web/large.gpg", large)
    try clones.push("100644", "items/web/.gpg-id", "0123")
    try clones.push("120000", "items/web/link.gpg", "/etc/passwd")
    let report = try clones.sync(0)
    #expect(
      report.refused.map(\.path).sorted() == [
        "items/web/.gpg-id", "items/web/large.gpg", "items/web/link.gpg",
      ])
    try expectSame()
    try clones.expectSound(1)
  }
}
