import Foundation
import Keyring
import TestSupport
import Testing

@testable import Sync

/// Tests references and files of a remote whose names are ambiguous for git, or equal strings that differ in their
/// bytes.
@Suite("Ambiguous names of a remote", .serialized)
struct HostileNamesTests {
  /// The same letter as one scalar and as two.
  static let spellings = ["\u{E9}", "e\u{301}"]

  /// Fetches a new clone.
  private static func clone(of clones: SyncClones, branch: String? = nil) throws -> Repository {
    let path = "\(clones.world.store.folder.path)/new"
    ScratchFolder.remove(path)
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    try StoreClone(clones.hub, branch: branch, to: path, git: clones.world.makeGit).fetch(asksPerson: false)
    return try #require(try Repository.around(store: path, git: clones.world.makeGit))
  }

  @Test func `a tag with the name of the branch does not stop sync`() throws {
    let clones = try SyncClones()
    _ = try clones.git(0, "tag", "main")
    try clones.add(0, "a.example", "me")
    #expect(try clones.sync(0).sent == 1)
    #expect(try clones.sync(1).received == 1)
  }

  @Test func `a clone receives no tags, neither at first nor with a pull by plain git`() throws {
    let clones = try SyncClones()
    try clones.world.git(["tag", "main", "main"], in: clones.hub)
    let clone = try Self.clone(of: clones)
    try clones.add(0, "a.example", "me")
    try clones.sync(0)
    try clones.world.git(["tag", "other", "main"], in: clones.hub)
    try clones.world.git(["fetch", "-q"], in: clone.top)
    #expect(try clones.world.git(["tag"], in: clone.top) == "")
    #expect(try clone.branch() == "main")
  }

  @Test func `two branches whose names are equal strings do not stop a clone`() throws {
    let clones = try SyncClones()
    for name in Self.spellings {
      try clones.world.git(["update-ref", "refs/heads/\(name)", "main"], in: clones.hub)
    }
    #expect(try Self.clone(of: clones).branch() == "main")
    for name in Self.spellings {
      let branch = try #require(try Self.clone(of: clones, branch: name).branch())
      #expect(branch.utf8.elementsEqual(name.utf8))
    }
    try clones.world.git(["update-ref", "-d", "refs/heads/\(Self.spellings[0])"], in: clones.hub)
    #expect(throws: SyncError.self) { try Self.clone(of: clones, branch: Self.spellings[0]) }
  }

  @Test func `files whose names are equal strings are all refused by name`() throws {
    let clones = try SyncClones(3)
    try clones.add(0, "a.example", "me")
    try clones.sync(0)
    let paths = Self.spellings.flatMap { folder in
      [".envrc", "items/Email/x.envrc"].map { "\(folder)/\($0)" }
    }
    for path in paths { try clones.push("100644", path, "x") }
    try clones.add(1, "b.example", "me")
    let refused = try clones.sync(1).refused
    #expect(Set(refused.map { Array($0.path.utf8) }) == Set(paths.map { Array($0.utf8) }), "\(refused)")
    // The merge has removed them for everyone.
    for clone in [0, 2] { #expect(try clones.sync(clone).refused.isEmpty) }
    #expect(
      try !clones.world.git(["ls-tree", "-r", "--name-only", "main"], in: clones.hub).contains("envrc"))
    for clone in 0..<3 { try clones.expectSound(clone) }
    try clones.expectEqual()
  }

  @Test func `a file of another program is received under one spelling of its name`() throws {
    let clones = try SyncClones()
    let paths = Self.spellings.map { "items/Email/\($0).gpg" }
    // The second one is the only one that the commit changes.
    for (number, path) in paths.enumerated() {
      try clones.push("100644", path, "\(number)")
      let report = try clones.sync(1)
      let (received, refused) = (report.foreignFiles.map(\.path), report.refused)
      #expect(received.map { Array($0.utf8) } == (number == 0 ? [Array(path.utf8)] : []))
      #expect(refused.map { Array($0.path.utf8) } == (number == 1 ? [Array(path.utf8)] : []))
      #expect(refused.allSatisfy { $0.reason == .file(.name) })
      try clones.sync(0)
    }
    try clones.expectEqual()
    #expect(try clones.git(0, "status", "--porcelain") == "")
  }

  /// Paths in the folder `store` whose first bytes are not its name and a slash as characters.
  static let joined = ["store/\u{301}.envrc", "store/\u{301}items/x.envrc"]

  @Test(arguments: joined)
  func `a name that begins with a combining character is not outside the store's folder`(path: String) throws
  {
    let clones = try SyncClones()
    let head = try clones.git(0, "rev-parse", "HEAD").filter { !$0.isWhitespace }
    try clones.push("100644", path, "x")
    _ = try clones.git(0, "fetch", "-q", "origin")
    let repository = try #require(try Repository.find(store: clones.paths[0], git: clones.world.makeGit))
    var changes = try TreeDifference(from: head, to: "refs/remotes/origin/main", in: repository.git)
    let refused = try changes.refuse(outside: AllowedFiles(beside: nil), below: "store/")
    #expect(refused.map { Array($0.path.utf8) } == [Array(path.utf8.dropFirst("store/".utf8.count))])
    #expect(changes.entries.isEmpty)
  }
}
