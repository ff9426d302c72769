import Foundation
import Keyring
import KeyringModel
import Secrets
import Sync
import TestSupport
import Testing

/// Tests two stores in one repository. Each treats the files of the other as files that do not belong to it.
@Suite("Two stores in one repository", .serialized) struct SecondStoreTests {
  /// Two clones of a repository with a store in a folder or at the top.
  private struct World {
    let sync: SyncWorld
    let tops: [String]
    let prefix: String

    init(prefix: String) throws {
      sync = try SyncWorld()
      self.prefix = prefix
      let folder = sync.store.folder.path
      tops = ["\(folder)/one", "\(folder)/two"]
      let store = tops[0] + (prefix.isEmpty ? "" : "/\(prefix.dropLast())")
      try FileManager.default.createDirectory(
        atPath: URL(fileURLWithPath: store).deletingLastPathComponent().path,
        withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      try FileManager.default.moveItem(atPath: sync.path, toPath: store)
      for words in [
        ["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "begin"],
        ["init", "-q", "--bare", "-b", "main", "\(folder)/hub.git"],
        ["remote", "add", "origin", "\(folder)/hub.git"], ["push", "-q", "-u", "origin", "main"],
      ] { try sync.git(words, in: tops[0]) }
      try sync.git(["clone", "-q", "\(folder)/hub.git", tops[1]], in: folder)
      for top in tops {
        var path = top
        for part in [""] + prefix.split(separator: "/").map({ "/\($0)" }) {
          path += part
          try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        }
      }
    }

    func repository(_ number: Int) throws -> Repository {
      try #require(try Repository.find(store: "\(tops[number])/\(prefix)", git: sync.makeGit))
    }

    @discardableResult
    func synchronize(_ number: Int) throws -> Synchronization.Report {
      let path = "\(tops[number])/\(prefix)"
      return try Synchronization(
        try sync.open(at: path), tree: try FileTree(at: path), repository: try repository(number),
        timeout: 30,
        options: .init(), author: { "Alice <alice@example.org>" }
      ).run()
    }

    /// Commits files in a clone.
    func commit(_ files: [String], in number: Int) throws {
      for file in files {
        let path = "\(tops[number])/\(file)"
        try FileManager.default.createDirectory(
          atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path,
          withIntermediateDirectories: true)
        try Data("x\n".utf8).write(to: URL(fileURLWithPath: path))
      }
      try sync.git(["add", "-A"], in: tops[number])
      try sync.git(["commit", "-q", "-m", "work"], in: tops[number])
    }
  }

  static let both = ["policy.json", "policy.json.asc"]

  /// The folder of the store and the folder of the other store.
  static let places = [
    ("", "other"), ("a/", "b"), ("a/", "a/b"), ("a/b/", "a"), ("a/", ""), ("a/", "a b/\u{e9}"),
  ]

  private static func files(_ folder: String) -> [String] {
    both.map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
  }

  @Test(arguments: places)
  func `sync refuses another store of ours`(prefix: String, folder: String) throws {
    let world = try World(prefix: prefix)
    try world.commit(Self.files(folder), in: 0)
    #expect(try world.repository(0).otherStores() == [folder])
    let before = try world.sync.git(["rev-parse", "main"], in: "\(world.sync.store.folder.path)/hub.git")
    #expect(throws: SyncError.anotherStore(folder: folder)) { try world.synchronize(0) }
    #expect(
      try world.sync.git(["rev-parse", "main"], in: "\(world.sync.store.folder.path)/hub.git") == before)
  }

  @Test(arguments: places)
  func `sync refuses another store on the remote`(prefix: String, folder: String) throws {
    let world = try World(prefix: prefix)
    try world.commit(Self.files(folder), in: 1)
    try world.sync.git(["push", "-q"], in: world.tops[1])
    let before = try world.sync.git(["rev-parse", "HEAD"], in: world.tops[0])
    if "\(folder)/".hasPrefix(prefix) {
      // Inside the store its files are refused one by one, and the rest is received.
      let refused = try world.synchronize(0).refused.map { prefix + $0.path }
      #expect(Set(refused).isSuperset(of: ["policy.json", "policy.json.asc"].map { "\(folder)/\($0)" }))
      return
    }
    #expect(throws: SyncError.anotherStore(folder: folder)) { try world.synchronize(0) }
    #expect(try world.sync.git(["rev-parse", "HEAD"], in: world.tops[0]) == before)
  }

  @Test func `a store that arrives in two parts is refused when it is complete`() throws {
    let world = try World(prefix: "a/")
    try world.commit(["b/policy.json"], in: 1)
    try world.sync.git(["push", "-q"], in: world.tops[1])
    #expect(try world.synchronize(0).received == 1)
    try world.commit(["b/policy.json.asc"], in: 1)
    try world.sync.git(["push", "-q"], in: world.tops[1])
    #expect(throws: SyncError.anotherStore(folder: "b")) { try world.synchronize(0) }
  }

  @Test func `files with similar names are not a store`() throws {
    let world = try World(prefix: "a/")
    let files = [
      "b/policy.json", "c/policy.json.asc", "d/xpolicy.json", "d/xpolicy.json.asc", "e/policy.json/x",
    ]
    try world.commit(files, in: 0)
    #expect(try world.repository(0).otherStores() == [])
    try world.synchronize(0)
    #expect(try world.synchronize(1).received == 1)
  }

  @Test func `a repository that loses its other store is accepted again`() throws {
    let world = try World(prefix: "a/")
    try world.commit(Self.files("b"), in: 1)
    try world.sync.git(["rm", "-q", "-r", "b"], in: world.tops[1])
    try world.sync.git(["commit", "-q", "-m", "gone"], in: world.tops[1])
    try world.sync.git(["push", "-q"], in: world.tops[1])
    #expect(try world.synchronize(0).received == 2)
  }

  @Test func `many folders that look like stores are refused without inspecting each of them`() throws {
    let world = try World(prefix: "a/")
    let repository = try world.repository(1)
    let base = try world.sync.lines("rev-parse", "HEAD", in: world.tops[1])[0]
    try world.commit((0..<65).map { "b\($0)/policy.json.asc" }, in: 1)
    let tip = try world.sync.lines("rev-parse", "HEAD", in: world.tops[1])[0]
    #expect(try repository.otherStores(in: tip, since: base).count == 65)
    #expect(try repository.otherStores(in: tip, since: tip) == [])
  }
}
