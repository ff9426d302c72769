import Foundation
import Keyring
import KeyringModel
import TestSupport
import Testing

/// A user with a store of some items and two policies, a bare repository whose hook is the built program, and a machine
/// without any key that verifies both.
final class VerifyFixture {
  let program: ProcessesProgram
  let forge: PolicyForge
  var store: String { program.store }
  var hub: String { "\(program.folder)/hub.git" }

  /// The items of the store.
  static let items = ["a.example/alice", "b.example/bob", "c.example/carol"]

  init() throws {
    program = try ProcessesProgram()
    forge = PolicyForge(program.gnupg, store: program.store)
    try program.succeed(["init"])
    for key in [GnuPGKey.bob, .carol] {
      try program.gnupg.run(["--pinentry-mode", "loopback", "--import"], input: key.secretKey)
    }
    for item in Self.items { try program.succeed(["add", item], input: "secret of \(item)") }
    try makeHub()
    try program.git(["remote", "add", "origin", hub])
    try program.git(["branch", "-M", "main"])
    try hook("exec '\(ProcessesProgram.path)' verify --pre-receive")
    try push()
    // Bob belongs to the keyring, but to no group.
    try forge.succeed([PolicyForge.adding(.bob)], by: .alice)
    try commit()
    try push()
    try copy(from: "", to: ".base")
  }

  /// Creates the bare repository, without its hook.
  func makeHub() throws {
    try program.git(["init", "-q", "--bare", "-b", "main", hub], in: "/")
    try program.git(["config", "receive.fsckObjects", "true"], in: hub)
  }

  /// Restores the store and the bare repository to their initial state.
  func reset() throws {
    for path in [store, hub] { ScratchFolder.remove(path) }
    try copy(from: ".base", to: "")
  }

  private func copy(from old: String, to new: String) throws {
    for path in [store, hub] {
      try GnuPGTool.run("cp", ["-a", path + old, path + new])
    }
  }

  /// Creates the hook of the bare repository.
  func hook(_ line: String) throws {
    try ExecutableFile.write("#!/bin/sh\n\(line)\n", to: "\(hub)/hooks/pre-receive")
  }

  /// Commits all files in the store's folder, or only the content of git's index.
  func commit(stagesAll: Bool = true) throws {
    if stagesAll { try program.git(["add", "--all"]) }
    try program.git(["commit", "-q", "-m", "x"])
  }

  /// Pushes, and requires that it succeeds.
  func push() throws {
    let outcome = try pushing()
    guard outcome.status == 0 else { throw ProcessesFailure(description: outcome.errors) }
  }

  /// Pushes, and returns the outcome even if it fails.
  func pushing(_ arguments: [String] = ["origin", "main"]) throws -> ProcessesProgram.Outcome {
    try program.outcome(ofGit: ["push", "--porcelain"] + arguments, in: store)
  }

  /// The variables of a machine that has no key and has accepted no policy.
  var elsewhere: [String: String] {
    [
      "HOME": "\(program.folder)/elsewhere", "GNUPGHOME": "\(program.folder)/elsewhere/gnupg",
      "XDG_STATE_HOME": "\(program.folder)/elsewhere/state",
      "XDG_DATA_HOME": "\(program.folder)/elsewhere/data",
    ]
  }

  /// Runs `verify` on that machine.
  func verify(_ arguments: String..., tracer: [String] = []) throws -> ProcessesProgram.Outcome {
    try program.run(["verify"] + arguments, tracer: tracer, variables: elsewhere)
  }

  /// The files that `verify` has left in its folder.
  var remains: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: "\(program.folder)/run/keytree")
        .filter { $0.hasPrefix(".verify") }
    }
  }

  // MARK: Damage

  static func file(_ item: String) -> String { "items/internet-password/\(item).gpg" }

  static func recordFile(_ item: String) -> String { "items/internet-password/\(item).json" }

  func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: "\(store)/\(path)") }

  /// Changes the line of an item.
  ///
  /// - Returns: The record that is now in the line.
  @discardableResult
  func forgeLine(_ item: String, _ change: (inout ItemRecord) -> Void) throws -> ItemRecord {
    let path = try #require(ItemPath(validating: "internet-password/\(item)"))
    let file = StoreLayout.shardFile(path.shard, isLocal: false)
    var shard = Shard(parsing: try forge.bytes(file), number: path.shard)
    var record = try #require(shard.records.first { $0.path == path })
    change(&record)
    try shard.put(record)
    try forge.write(shard.encode(), to: file)
    return record
  }

  /// Replaces the message of an item, and its line with one that describes the new message.
  ///
  /// - Parameter signer: Signs a record that describes the message; nil keeps the old record.
  func replace(_ item: String, with message: [UInt8], signedBy signer: GnuPGKey?) throws {
    let record = try forgeLine(item) { $0.sealed = ContentDigest(of: message) }
    try forge.write(message, to: Self.file(item))
    guard let signer else { return }
    let keyring = try forge.policy.keyring
    let file = try program.gnupg.sign(record, by: signer, for: keyring, at: record.modified)
    try forge.write(file.bytes, to: Self.recordFile(item))
  }

  /// Swaps the encrypted files of two items.
  func swapFiles(_ first: String, _ second: String) throws {
    try swap(Self.file(first), Self.file(second))
  }

  /// Swaps the records of two items.
  func swapRecords(_ first: String, _ second: String) throws {
    try swap(Self.recordFile(first), Self.recordFile(second))
  }

  private func swap(_ first: String, _ second: String) throws {
    let bytes = try forge.bytes(first)
    try forge.write(try forge.bytes(second), to: first)
    try forge.write(bytes, to: second)
  }
}
