import Foundation
import Keyring
import KeyringModel
import Secrets
import Subprocess
import Sync
import TestSupport
import Testing

/// Clones of one store around a bare repository, all of the same user on one machine.
final class SyncClones: Sendable {
  let world: SyncWorld
  let paths: [String]

  /// Creates the store, pushes it to the bare repository and clones it.
  ///
  /// - Parameters:
  ///   - count: The number of clones, including the first one.
  ///   - words: Further arguments of `git init` for all of them.
  ///   - gnupg: A store with real GnuPG.
  init(_ count: Int = 2, _ words: String..., gnupg: GnuPGStore? = nil) throws {
    world = try SyncWorld(gnupg: gnupg)
    let folder = world.store.folder.path
    try world.git(["init", "-q", "-b", "main"] + words)
    try world.commit()
    try world.git(["init", "-q", "--bare", "-b", "main"] + words + ["\(folder)/hub.git"])
    try world.git(["remote", "add", "origin", "\(folder)/hub.git"])
    try world.git(["push", "-q", "origin", "main"])
    var paths = [world.path]
    for number in 1..<count {
      let path = "\(folder)/clone\(number)"
      try world.git(["clone", "-q", "\(folder)/hub.git", path])
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
      paths.append(path)
    }
    self.paths = paths
  }

  var hub: String { "\(world.store.folder.path)/hub.git" }

  func open(_ clone: Int, faults: FaultPlan? = nil) throws -> Keyring {
    try world.open(at: paths[clone], faults: faults)
  }

  @discardableResult
  func sync(
    _ clone: Int, _ options: Synchronization.Options = .init(), with keyring: Keyring? = nil,
    faults: FaultPlan? = nil
  ) throws -> Synchronization.Report {
    let keyring = try keyring ?? open(clone, faults: faults)
    let repository = try #require(try Repository.find(store: paths[clone], git: world.makeGit))
    return try Synchronization(
      keyring, tree: try FileTree(at: paths[clone], faults: faults), repository: repository, timeout: 30,
      options: options,
      author: { "Alice <alice@example.org>" }
    ).run()
  }

  @discardableResult
  func add(_ clone: Int, _ server: String, _ account: String, _ secret: String = "s") throws -> ItemRecord {
    try open(clone).add(.login(server, account), secret: SecretBytes(text: secret))
  }

  func replace(_ clone: Int, _ item: ItemRecord, _ secret: String) throws {
    let bytes = SecretBytes(text: secret)
    try open(clone).update(item, secret: bytes)
  }

  func find(_ clone: Int, _ server: String? = nil) throws -> [ItemRecord] {
    try open(clone).find(Query(predicates: server.map { [.equal(.server, .string($0))] } ?? [])).items
  }

  /// Returns the only item of a server.
  func item(_ clone: Int, _ server: String) throws -> ItemRecord {
    let items = try find(clone, server)
    return try #require(items.count == 1 ? items[0] : nil, "\(items)")
  }

  func git(_ clone: Int, _ words: String..., status: Int32 = 0) throws -> String {
    try world.git(words, in: paths[clone], status: status)
  }

  /// Pushes a file without keytree, as a user of plain git would.
  ///
  /// - Parameters:
  ///   - mode: The file mode, as git writes it.
  ///   - path: The path from the top.
  ///   - content: The content.
  ///   - isQuoted: True if the path has escapes of `git fast-import`.
  func push(_ mode: String, _ path: String, _ content: String, isQuoted: Bool = false) throws {
    let head = try world.git(["rev-parse", "main"], in: hub).trimmingCharacters(in: .whitespacesAndNewlines)
    let name = isQuoted ? path : path.replacing("\n", with: "\\n")
    let entry =
      mode == "160000"
      ? "M 160000 \(head) \"\(name)\""
      : "M \(mode) inline \"\(name)\"\ndata \(content.utf8.count)\n\(content)"
    try world.git(
      ["fast-import", "--quiet", "--force", "--done"], in: hub,
      input:
        "commit refs/heads/main\ncommitter X <x@example.org> 1 +0000\ndata 1\nx\nfrom \(head)\n\(entry)\ndone\n"
    )
  }

  /// Expects that a clone equals its last commit, that its lines and files agree, and that every item can be read.
  func expectSound(_ clone: Int, _ comment: Comment? = nil, location: SourceLocation = #_sourceLocation)
    throws
  {
    let report = try open(clone).check(decrypts: true)
    let texts = report.findings.map { "\($0)" }
    #expect(texts.isEmpty, comment, sourceLocation: location)
    let status = try git(clone, "status", "--porcelain")
    #expect(status == "", comment, sourceLocation: location)
    _ = try git(clone, "fsck", "--strict")
  }

  /// Expects that the last commits of all clones have the same files.
  func expectEqual(_ comment: Comment? = nil, location: SourceLocation = #_sourceLocation) throws {
    let trees = try paths.indices.map { try git($0, "rev-parse", "HEAD^{tree}") }
    #expect(Set(trees).count == 1, comment, sourceLocation: location)
  }
}
