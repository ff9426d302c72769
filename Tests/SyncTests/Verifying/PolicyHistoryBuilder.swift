import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Sync
import TestSupport

/// Writes histories of policies into a store with a stand-in for GnuPG.
final class PolicyHistoryBuilder: Sendable {
  let world: SyncWorld
  private let engine: EngineDouble

  init() throws {
    world = try SyncWorld.withHistory()
    engine = world.store.engine
  }

  private var host: HostContext { world.store.host }

  // MARK: Files

  func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: "\(world.path)/\(path)")))
  }

  private func store(_ bytes: [UInt8], at path: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: "\(world.path)/\(path)"))
  }

  func policy() throws -> Policy { try Policy.parse(try bytes("policy.json")) }

  /// Writes the next policy. Without a signer the old signature is kept.
  func write(
    _ edits: [PolicyEdit], by signer: Fingerprint?, _ change: (inout Policy) throws -> Void = { _ in }
  ) throws {
    let old = try bytes("policy.json")
    var next = try Policy.parse(old)
      .successor(
        by: edits, previous: ContentDigest(of: old), at: Timestamp(microseconds: 1_800_000_000_000_000))
    try change(&next)
    try store(next.encode(), at: "policy.json")
    if let signer { try store(try engine.signDetached(next.encode(), signer: signer), at: "policy.json.asc") }
  }

  func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: "\(world.path)/\(path)") }

  /// Checks out the policy and the signature of a commit.
  func checkOut(_ commit: String) throws {
    try world.git(["checkout", "-q", commit, "--", "policy.json", "policy.json.asc"])
  }

  // MARK: Commits

  private func commit() throws {
    try world.git(["add", "--all"])
    try world.git(["commit", "-q", "--allow-empty", "-m", "x"])
  }

  func edit(
    _ edits: [PolicyEdit], by signer: Fingerprint?, _ change: (inout Policy) throws -> Void
  ) throws {
    try write(edits, by: signer, change)
    try commit()
  }

  func edit(_ edits: [PolicyEdit], by signer: Fingerprint?, then body: () throws -> Void = {}) throws {
    try write(edits, by: signer)
    try body()
    try commit()
  }

  func add(_ person: Fingerprint, _ role: Person.Role = .member, by signer: Fingerprint) throws {
    let key = ContentDigest(of: [2])
    try FileManager.default.createDirectory(
      atPath: "\(world.path)/keys", withIntermediateDirectories: true)
    try store([2], at: StoreLayout.keyFile(person))
    try edit([.add(person, name: "P", role: role, key: key, encryptTo: [person])], by: signer)
  }

  /// Signs the present policy again.
  func sign(by signer: Fingerprint) throws {
    try store(try engine.signDetached(try bytes("policy.json"), signer: signer), at: "policy.json.asc")
    try commit()
  }

  func put(_ path: String, _ text: String) throws {
    try store(Array(text.utf8), at: path)
    try commit()
  }

  /// Commits policies that no admin has signed, each larger than 4 KiB and with other content.
  func flood(_ count: Int) throws {
    let good = try bytes("policy.json")
    for number in 0..<count {
      let names = (0..<50).map { "junk\(number)/\(String(repeating: "x", count: 90))\($0)" }
      try write([], by: nil) { $0.files = Set(names) }
      try commit()
    }
    try store(good, at: "policy.json")
    try commit()
  }

  /// Writes a file of some size.
  func fill(_ path: String, size: Int) throws {
    try FileManager.default.createDirectory(
      atPath: "\(world.path)/keys", withIntermediateDirectories: true)
    try store(Array(repeating: UInt8(ascii: "x"), count: size), at: path)
  }

  func touch(_ path: String) throws { try put(path, path) }

  func drop(_ paths: [String]) throws {
    for path in paths { try remove(path) }
    try commit()
  }

  func restore(_ commit: String) throws {
    try checkOut(commit)
    try self.commit()
  }

  /// Runs a body on its own branch and returns to main.
  func branch(_ name: String, _ body: () throws -> Void) throws {
    try world.git(["switch", "-q", "-c", name])
    try body()
    try world.git(["switch", "-q", "main"])
  }

  /// Merges a branch; `settle` decides about the files.
  func merge(_ name: String, _ settle: () throws -> Void = {}) throws {
    let words = ["merge", "--no-ff", "--no-commit", "-q", "-X", "ours", name]
    // A conflict is resolved below.
    do { try world.git(words) } catch { try world.git(words + ["--quiet"], status: 128) }
    try settle()
    try commit()
  }

  /// Begins a new history with the present files.
  func forgetHistory() throws {
    try FileManager.default.removeItem(atPath: "\(world.path)/.git")
    try world.git(["init", "-q", "-b", "main"])
    try commit()
  }

  // MARK: Verification

  func history(
    withFolder: Bool = false, anchors: [Fingerprint] = [], trusting trusted: String? = nil,
    accepted: Bool = false, limit: Int = PolicyContents.limit
  ) throws -> PolicyHistory {
    let host = host
    var start = PolicyHistory.Start()
    start.anchors = anchors
    if let trusted { start.trusted = try world.lines("rev-parse", trusted) }
    if accepted {
      start.accepted = { (keyring) throws(KeyringError) in
        try AcceptedPolicy(of: keyring, stateBase: host.stateBase)
      }
    }
    return try history(
      in: try world.repository(), start, folder: withFolder ? FileTree(at: world.path) : nil,
      limit: limit)
  }

  func shallowHistory(depth: Int) throws -> PolicyHistory {
    let folder = "\(world.store.folder.path)/shallow"
    try world.git(["clone", "-q", "--depth", "\(depth)", "file://\(world.path)", folder])
    return try history(
      in: try Repository.find(store: folder, git: world.makeGit), PolicyHistory.Start(), folder: nil)
  }

  private func history(
    in repository: Repository?, _ start: PolicyHistory.Start, folder: FileTree?,
    limit: Int = PolicyContents.limit
  ) throws -> PolicyHistory {
    let room = try VerificationWorkspace(host: host, engine: engine)
    defer { room.remove() }
    let tip = try repository?.commitForVerification("HEAD")
    return try PolicyHistory(to: tip, then: folder, from: start, in: repository, room: room, limit: limit)
  }
}
