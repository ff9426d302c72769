import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import Subprocess
import Sync
import TestSupport

/// A store with a stand-in for GnuPG, and real git.
final class SyncWorld: Sendable {
  let store = StandInStore()
  let variables: [String: String]
  /// A store with real GnuPG that replaces the other one.
  private let gnupg: GnuPGStore?

  /// Creates the store; the test calls `git init`.
  ///
  /// - Parameter gnupg: A store with real GnuPG to use instead.
  init(variables: [String: String] = [:], gnupg: GnuPGStore? = nil) throws {
    self.gnupg = gnupg
    let home = "\(store.folder.path)/home"
    // A test can put programs into the first folder.
    let path = "\(store.folder.path)/programs:/usr/local/bin:/usr/bin:/bin"
    self.variables = ["HOME": home, "PATH": path].merging(variables) { $1 }
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
    if let gnupg { _ = try gnupg.create() } else { try store.create() }
  }

  var host: HostContext { gnupg?.host ?? store.host }

  /// Opens the store or a clone of it.
  func open(at path: String, faults: FaultPlan? = nil) throws -> Keyring {
    try Keyring.open(at: path, host: host, faults: faults, engine: gnupg == nil ? store.engine : nil)
  }

  /// Creates a world with a repository in the store and its first commit.
  static func withHistory(_ words: String...) throws -> SyncWorld {
    let world = try SyncWorld()
    try world.git(["init", "-q", "-b", "main"] + words)
    try world.commit()
    return world
  }

  var path: String { gnupg?.path ?? store.path }
  var environment: ProcessEnvironment { ProcessEnvironment(variables, locale: nil) }

  /// The error of a git command that a test runs.
  struct GitFailed: Error { let words: String }

  /// Runs git as a user would, in the store or elsewhere.
  @discardableResult
  func git(
    _ words: [String], in folder: String? = nil, input: String = "", status: Int32 = 0
  ) throws -> String {
    var run = ProgramRun(
      "/usr/bin/git", ["-c", "user.name=P", "-c", "user.email=p@example.org"] + words,
      environment: ProcessEnvironment(variables))
    run.folder = folder ?? path
    run.input = .bytes(Array(input.utf8))
    run.timeout = .seconds(120)
    let outcome = try run.run()
    let text = String(decoding: outcome.output, as: UTF8.self)
    guard outcome.ending == .exited(status: status) else {
      throw GitFailed(words: "\(words): \(text)\(String(decoding: outcome.errors, as: UTF8.self))")
    }
    return text
  }

  /// Removes an object from the repository, as a damaged disk does.
  func removeObject(_ name: some StringProtocol) throws {
    let objects = "\(path)/.git/objects"
    // Git unpacks only objects that it does not have, so the packs are moved out of the repository first.
    let moved = "\(path)/.git/packs"
    try FileManager.default.moveItem(atPath: "\(objects)/pack", toPath: moved)
    var unpack = ProgramRun(
      "/bin/sh", ["-c", "for pack in .git/packs/*.pack; do git unpack-objects -q <$pack || exit; done"],
      environment: ProcessEnvironment(variables))
    unpack.folder = path
    guard try unpack.run().ending == .exited(status: 0) else { throw GitFailed(words: "unpack-objects") }
    try FileManager.default.removeItem(atPath: "\(objects)/\(name.prefix(2))/\(name.dropFirst(2))")
  }

  func lines(_ words: String..., in folder: String? = nil) throws -> [String] {
    try git(words, in: folder).split(separator: "\n").map(String.init)
  }

  func makeGit(_ folder: String) -> Git {
    Git(in: folder, searchPath: variables["PATH"] ?? "", environment: environment)
  }

  func repository() throws -> Repository? { try Repository.find(store: path, git: makeGit) }

  /// Commits pending changes, as the command does after each change.
  @discardableResult
  func commit(
    at path: String? = nil, in known: Repository? = nil,
    author: String? = "Alice Example <alice@example.org>"
  ) throws -> Committer.Outcome {
    let path = path ?? self.path
    guard let repository = try known ?? Repository.find(store: path, git: makeGit) else {
      throw GitFailed(words: "the store uses no git")
    }
    let tree = try FileTree(at: path)
    return try Committer(repository: repository, tree: tree, timeout: 60, author: { author }).commitPending()
  }

  /// Adds an item without a commit.
  @discardableResult
  func add(_ server: String, _ account: String, isLocal: Bool = false) throws -> ItemRecord {
    var item = NewItem.login(server, account)
    item.isLocal = isLocal
    return try store.open().add(item, secret: SecretBytes(text: "secret"))
  }

  /// Returns the subjects of all commits, the last one first.
  func subjects() throws -> [String] { try lines("log", "--format=%s") }

  /// Returns the files of the last commit and those in the store's folder: content by path.
  func compare() throws -> (head: [String: String], files: [String: String]) {
    var head: [String: String] = [:]
    let prefix = try repository()?.prefix ?? ""
    let top = try repository()?.top
    for record in try git(["ls-tree", "-r", "-z", "HEAD"], in: top).split(separator: "\0") {
      let parts = record.split(separator: "\t", maxSplits: 1)
      guard parts[1].hasPrefix(prefix) else { continue }
      let name = parts[0].split(separator: " ")
      let path = String(parts[1].dropFirst(prefix.count))
      head[path] = name[0] == "100644" ? String(name[2]) : "mode \(name[0])"
    }
    var files: [String: String] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: self.path) {
      let isOurs = ["index/", "items/", "conflicts/", "keys/"].contains { path.hasPrefix($0) }
      guard isOurs || StoreLayout.trackedFiles.contains(path) else { continue }
      guard let bytes = FileManager.default.contents(atPath: "\(self.path)/\(path)") else { continue }
      var isFolder: ObjCBool = false
      _ = unsafe FileManager.default.fileExists(atPath: "\(self.path)/\(path)", isDirectory: &isFolder)
      if isFolder.boolValue { continue }
      let hash: GitHash = head.values.first?.utf8.count == 64 ? .sha256 : .sha1
      files[path] = hash.blobName(of: Array(bytes))
    }
    return (head, files)
  }
}
