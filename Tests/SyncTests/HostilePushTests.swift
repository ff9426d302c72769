import Foundation
import Keyring
import Sync
import TestSupport
import Testing

/// Tests pushes by an attacker who wants to run programs, read other files or damage a store.
@Suite("Hostile pushes", .serialized, .slow) struct HostilePushTests {
  @Test func `a push brings only files of a store, unchanged, and runs nothing`() throws {
    let clones = try SyncClones()
    try clones.add(0, "a.example", "me")
    try clones.sync(0)
    try clones.sync(1)
    let home = try #require(clones.world.variables["HOME"])
    let trap = "\(home)/PWNED"
    try HostileCommit.writeTrapSettings(in: home, trap: trap)
    let kept = try FolderSnapshot(
      [clones.paths[1], clones.hub], in: "\(clones.world.store.folder.path)/kept")
    let head = try clones.git(1, "rev-parse", "HEAD").filter { !$0.isWhitespace }
    var (taken, refused, stopped) = (0, 0, 0)
    for commit in HostileCommit.all {
      try kept.restore()
      // Git itself refuses to create some of them.
      let isMade =
        (try? clones.world.git(
          ["fast-import", "--quiet", "--force", "--done"], in: clones.hub, input: commit.stream(after: head)))
        != nil
      if !isMade { continue }
      // With an own change it is a merge; without one, the branch is only moved forward.
      for isMerge in [false, true] {
        if isMerge { try clones.add(1, "b.example", "me") }
        let ours = StoreDigest(of: clones.paths[1])
        var report: Synchronization.Report?
        do {
          report = try clones.sync(1)
        } catch is GitError {
          report = nil
        } catch is SyncError {
          report = nil
        }
        let comment: Comment = "\(commit)\(isMerge ? ", merged" : "")"
        #expect(!FileManager.default.fileExists(atPath: trap), comment)
        if let report {
          #expect(!(report.refused.isEmpty && commit.mustBeRefused), comment)
          taken += 1
          if !report.refused.isEmpty { refused += 1 }
          try Self.expectEveryFile(clones, comment)
          try kept.restore()
          _ = try clones.world.git(
            ["fast-import", "--quiet", "--force", "--done"], in: clones.hub, input: commit.stream(after: head)
          )
        } else {
          stopped += 1
          // Only the own change was committed before.
          let changes = StoreDigest(of: clones.paths[1]).difference(from: ours)
          #expect(changes == (isMerge ? ".keytree/uncommitted" : ""), comment)
          #expect(try clones.git(1, "status", "--porcelain") == "", comment)
          #expect(try clones.find(1).count == (isMerge ? 2 : 1), comment)
        }
      }
    }
    #expect(taken > 40 && refused > 30 && stopped > 4, "\(taken), \(refused), \(stopped)")
  }

  /// Expects that every file of the last commit is allowed in a store and unchanged in the work tree.
  private static func expectEveryFile(_ clones: SyncClones, _ comment: Comment) throws {
    let records = try clones.git(1, "ls-tree", "-r", "-z", "HEAD").split(separator: "\0")
    for record in records {
      let parts = record.split(separator: "\t", maxSplits: 1)
      let words = parts[0].split(separator: " ")
      #expect(
        AllowedFiles(beside: nil).reason(String(parts[1]), mode: String(words[0])) == nil,
        "\(comment): \(record)")
      // Without filters, which must not be used.
      let name = try clones.git(1, "hash-object", "--no-filters", "--", String(parts[1]))
      #expect(name.dropLast() == words[2], "\(comment): \(parts[1])")
    }
  }
}
