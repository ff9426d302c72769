import Foundation
import Keyring
import TestSupport
import Testing

@testable import Sync

/// Tests pushed trees that expand to far more files than their size (threat T46).
@Suite("Tree bombs", .serialized)
struct TreeBombTests {
  /// Folders of a tree bomb, and the folders that are refused.
  static let folders: [(String, [String])] = [
    ("bomb", ["bomb"]), ("x/y", ["x"]), ("index/x", ["index/x"]), ("keys/x", ["keys/x"]),
    ("docs/x", ["docs/x"]),
    ("items/internet-password/evil.example", ["items/internet-password/evil.example"]),
    ("items/evil", (10..<40).map { "items/evil/\($0)" }),
  ]

  @Test(arguments: folders)
  func `a tree bomb is refused by name, and everything else is received`(folder: String, refused: [String])
    throws
  {
    let clones = try SyncClones(3)
    if folder.hasPrefix("docs") {
      let keyring = try clones.open(0)
      _ = try keyring.make(keyring.plan([.allow(file: "docs/")]))
      // The clones share a pin.
      for clone in 0..<3 { try clones.sync(clone) }
    }
    try clones.add(0, "a.example", "me")
    try clones.sync(0)
    try Self.push(folder, to: clones)
    try clones.add(1, "b.example", "me")
    let report = try clones.sync(1)
    let paths = Set(report.refused.map(\.path))
    #expect(report.refused.allSatisfy { $0.reason == .file(.tooManyFiles) }, "\(report.refused)")
    #expect(paths == Set(refused))
    let commit = try #require(report.refused.first?.commit)
    #expect(report.refused.first?.committer == "P <p@example.org>")
    #expect(try clones.world.git(["log", "-1", "--format=%s", commit], in: clones.hub) == "x\n")
    // The merge has removed it for everyone.
    #expect(try clones.sync(0).refused.isEmpty)
    #expect(try clones.sync(2).refused.isEmpty)
    for clone in 0..<3 {
      #expect(try clones.find(clone).count == 2)
      try clones.expectSound(clone)
    }
    try clones.expectEqual()
  }

  @Test
  func `a tree bomb outside the store, or before the policy is accepted, is an error that names the commit`()
    throws
  {
    let clones = try SyncClones()
    try clones.add(0, "a.example", "me")
    try clones.sync(0)
    try Self.push("bomb", to: clones)
    let commit = try clones.world.git(["rev-parse", "main"], in: clones.hub).filter { !$0.isWhitespace }
    _ = try clones.git(0, "fetch", "-q", "origin")
    let head = try clones.git(0, "rev-parse", "HEAD").filter { !$0.isWhitespace }
    let repository = try #require(try Repository.find(store: clones.paths[0], git: clones.world.makeGit))
    do {
      _ = try UnacceptedFiles(from: head, to: commit, in: repository)
      Issue.record("the files were listed")
    } catch SyncError.tooManyFiles(let named, let folder) {
      #expect(named == commit && folder.hasPrefix("bomb/"))
    }
    var changes = try TreeDifference(from: head, to: commit, in: repository.git)
    #expect(throws: SyncError.self) {
      _ = try changes.refuse(outside: AllowedFiles(beside: nil), below: "store/")
    }
    let path = "\(clones.world.store.folder.path)/new"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    let clone = StoreClone(clones.hub, branch: nil, to: path, git: clones.world.makeGit)
    try clone.fetch(asksPerson: false)
    let cloned = try #require(try Repository.around(store: path, git: clones.world.makeGit))
    #expect(throws: SyncError.tooManyFiles(commit: commit, folder: "")) { _ = try clone.checkOut(cloned) }
  }

  @Test func `a tree bomb is found in a commit and in a push`() throws {
    let clones = try SyncClones()
    try clones.add(0, "a.example", "me")
    try clones.sync(0)
    try Self.push("bomb", to: clones)
    try Self.push("items/internet-password/evil.example", to: clones)
    let names = try clones.world.git(["rev-list", "main", "-2"], in: clones.hub).split(separator: "\n")
      .map(String.init)
    let repository = try #require(Repository.bare(clones.hub, git: clones.world.makeGit))
    let tree = try CommittedTree(of: names[0], in: repository, AllowedFiles(beside: nil))
    let evil = "items/internet-password/evil.example"
    #expect(tree.findings == ["bomb", evil].map { Finding($0, .stray(.tooManyFiles)) })
    #expect(tree.entries.contains { $0.path == "policy.json" && $0.size > 0 })
    let pushed = try IncomingUnexpectedFiles(of: names, in: repository) { _ in AllowedFiles(beside: nil) }
    #expect(
      pushed.findings == [
        Finding("items/internet-password/evil.example", .stray(.tooManyFiles), commit: names[0]),
        Finding("bomb", .stray(.tooManyFiles), commit: names[1]),
      ])
  }

  @Test func `a tree bomb in the history hides no removed item, and is not listed`() throws {
    let clones = try SyncClones()
    try clones.add(0, "a.example", "me")
    let removed = try clones.add(0, "b.example", "me")
    try clones.sync(0)
    try Self.push("items/internet-password/evil.example", to: clones)
    // The bomb is gone again in the next commit.
    let git = { (words: [String]) in try clones.world.git(words, in: clones.hub).filter { !$0.isWhitespace } }
    let clean = try git(["commit-tree", "-p", "main", "-m", "x", "main~1^{tree}"])
    _ = try git(["update-ref", "refs/heads/main", clean])
    _ = try clones.git(0, "fetch", "-q", "origin")
    _ = try clones.git(0, "reset", "-q", "--hard", "FETCH_HEAD")
    try clones.open(0).delete([removed])
    _ = try clones.git(0, "commit", "-qam", "x")
    let repository = try #require(try Repository.find(store: clones.paths[0], git: clones.world.makeGit))
    #expect(try RemovedItems(below: [StoreLayout.items], in: repository).records == [removed])
    let contents = try ChangedContents(in: repository, limit: 1 << 28)
    let files = [removed.path, try clones.item(0, "a.example").path].map(ItemFiles.secretFile)
    for file in files { #expect(contents.paths.values.contains { $0.contains(file) }) }
    // The bomb has 30 files in each of 30 * 30 * ... folders.
    #expect(contents.paths.values.map(\.count).reduce(0, +) < 10_000)
  }

  @Test func `a walk through trees finds what git finds`() throws {
    let clones = try SyncClones()
    for number in 0..<20 { try clones.add(0, "\(number % 7).example", "a\(number)") }
    try clones.sync(0)
    let base = try clones.git(0, "rev-parse", "HEAD~1").filter { !$0.isWhitespace }
    for (mode, path) in [
      ("100755", "run.sh"), ("120000", "items/link"), ("160000", "module"), ("100644", "index"),
      ("100644", "items/\\377.gpg"), ("100644", "keys/a/b/c/d"),
    ] { try clones.push(mode, path, "x", isQuoted: true) }
    _ = try clones.git(0, "fetch", "-q", "origin")
    let repository = try #require(try Repository.find(store: clones.paths[0], git: clones.world.makeGit))
    let names = try clones.git(0, "rev-list", "FETCH_HEAD").split(separator: "\n").map(String.init)
    #expect(names.count > 5)
    for old in names + [base, try repository.hash().emptyTree] {
      for new in names {
        let listed = try TreeDifference(from: old, to: new, in: repository.git)
        let walked = try TreeDifference(walkingFrom: old, to: new, in: repository.git)
        #expect(listed.entries == walked.entries, "\(old), \(new)")
        #expect(Set(listed.unreadable.map(Array.init)) == Set(walked.unreadable.map(Array.init)))
        #expect(walked.folders.isEmpty)
      }
    }
  }

  private static func push(_ folder: String, to clones: SyncClones) throws {
    try TreeBomb.commit(at: folder) { try clones.world.git($0, in: clones.hub, input: $1) }
  }
}
