import Foundation
import Glibc
import Keyring
import KeyringModel
import Subprocess
import Sync
import TestSupport
import Testing

/// Tests pushes by an attacker who wants to fill memory and disks (threat T46).
@Suite("Pushes that are too large", .serialized, .slow) struct LargePushTests {
  @Test(arguments: [
    ("items/internet-password/b.example/me.gpg", 2 << 20), ("items/Email/b.gpg", 2 << 20),
    ("items/internet-password/b.example/me.json", RecordFile.maximumSize), ("index/00.jsonl", 4 << 20),
    ("keys/\(String(repeating: "A", count: 40)).asc", 256 << 10),
    ("conflicts/\(String(repeating: "0", count: 32))/\(String(repeating: "a", count: 64)).gpg", 2 << 20),
  ])
  func `a file that is too large for its kind is refused by name, and the rest is received`(
    path: String, limit: Int
  ) throws {
    let clones = try SyncClones()
    try clones.add(0, "a.example", "me")
    try clones.sync(0)
    try clones.push("100644", path, String(repeating: "x", count: limit + 1))
    let report = try clones.sync(1)
    let refused = [RefusedChange.Reason.tooLarge(size: limit + 1, limit: limit)]
    #expect(report.refused.map(\.path) == [path] && report.refused.map(\.reason) == refused)
    #expect(report.refused.first?.committer == "X <x@example.org>")
    #expect(try clones.find(1, "a.example").count == 1)
    try clones.expectSound(1)
    try clones.sync(0)
    try clones.expectEqual()
  }

  @Test func `an item is kept when its files are replaced by large ones`() throws {
    let clones = try SyncClones()
    let item = try clones.add(0, "a.example", "me")
    try clones.sync(0)
    try clones.sync(1)
    for ending in [".gpg", ".json"] {
      try clones.push("100644", "items/\(item.path.text)\(ending)", String(repeating: "x", count: 3 << 20))
    }
    // An own change, so that both sides have changed the item.
    let changes = AttributeChanges(set: [.label: .string("L")])
    try clones.open(1).update(clones.item(1, "a.example"), changes)
    let report = try clones.sync(1)
    let paths = [".gpg", ".json"].map { "items/\(item.path.text)\($0)" }
    #expect(Set(report.refused.map(\.path)) == Set(paths) && report.deletions.isEmpty)
    #expect(try clones.find(1, "a.example").map { $0.attributes[.label] } == [.string("L")])
    try clones.expectSound(1)
  }

  @Test func `large files that take almost no space in the repository are not read`() throws {
    let clones = try SyncClones()
    let before = try clones.git(1, "rev-parse", "HEAD")
    let size = 1 << 20
    for number in 0..<33 {
      try clones.push(
        "100644", "items/Bombs/\(number).gpg", "\(number + 100)\(String(repeating: "x", count: size - 3))")
    }
    #expect(throws: SyncError.tooLarge(size: 33 * size, limit: 32 << 20)) { try clones.sync(1) }
    #expect(try clones.git(1, "rev-parse", "HEAD") == before)
    try clones.expectSound(1)
  }

  @Test func `a small tree that names millions of files is not listed completely`() throws {
    let clones = try SyncClones()
    let script = """
      blob=$(echo x | git hash-object -w --stdin)
      tree=$(for i in $(seq 100); do printf '100644 blob %s\\t%s.gpg\\n' $blob $i; done | git mktree)
      for level in 1 2 3; do
        tree=$(for i in $(seq 100); do printf '040000 tree %s\\t%s\\n' $tree $i; done | git mktree)
      done
      top=$( (git ls-tree main | grep -v 'conflicts$'; printf '040000 tree %s\\tconflicts\\n' $tree) | git mktree)
      git update-ref refs/heads/main $(git -c user.name=X -c user.email=x@example.org commit-tree -p main -m x $top)
      """
    var run = ProgramRun(
      "/bin/sh", ["-ec", script], environment: ProcessEnvironment(["PATH": "/usr/bin:/bin"]))
    run.folder = clones.hub
    #expect(try run.run().succeeded)
    let report = try clones.sync(1)
    #expect(Set(report.refused.map(\.path)) == Set((1...100).map { "conflicts/\($0)" }))
    #expect(report.refused.allSatisfy { $0.reason == .file(.tooManyFiles) })
    #expect(try clones.world.git(["ls-tree", "main", "conflicts"], in: clones.hub) == "")
    try clones.expectSound(1)
  }

  @Test func `git reports that it needs more memory than its limit`() throws {
    let world = try SyncWorld.withHistory()
    var git = try #require(try world.repository()).git
    let input = [UInt8](repeating: 0, count: 64 << 20)
    git.memoryLimit = 32 << 20
    #expect(throws: GitError.tooMuchMemory(command: "hash-object", limit: 32 << 20)) {
      // Git reads all of its input from a pipe first.
      try git.run(["hash-object", "--stdin"], input: input)
    }
    git.memoryLimit = 512 << 20
    #expect(try git.run(["hash-object", "--stdin"], input: input).count == 41)
  }
}
