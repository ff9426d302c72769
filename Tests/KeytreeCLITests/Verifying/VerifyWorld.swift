import Foundation
import Keyring
import KeyringModel
import TestSupport

/// A person with a store of some items and two policies, a bare repository whose hook is the built program, and a
/// machine without any key that looks at both.
final class VerifyWorld {
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
    try program.git(["init", "-q", "--bare", "-b", "main", hub])
    try program.git(["remote", "add", "origin", hub])
    try program.git(["branch", "-M", "main"])
    try hook("exec '\(ProcessesProgram.path)' verify --pre-receive")
    try push()
    // Bob belongs to the keyring, and is in no group.
    try forge.succeed([PolicyForge.adding(.bob)], by: .alice)
    try commit()
    try push()
    try copy(from: "", to: ".base")
  }

  /// Puts the store and the bare repository back to where the world began.
  func reset() throws {
    for path in [store, hub] { ScratchFolder.remove(path) }
    try copy(from: ".base", to: "")
  }

  private func copy(from old: String, to new: String) throws {
    for path in [store, hub] {
      try GnuPGTool.run("cp", ["-a", path + old, path + new])
    }
  }

  /// Makes the hook of the bare repository.
  func hook(_ line: String) throws {
    let path = "\(hub)/hooks/pre-receive"
    try Data("#!/bin/sh\n\(line)\n".utf8).write(to: URL(fileURLWithPath: path))
    _ = unsafe chmod(path, 0o700)
  }

  /// Commits everything that lies in the store's folder, or what is in git's index already.
  func commit(stagesAll: Bool = true) throws {
    if stagesAll { try program.git(["add", "--all"]) }
    try program.git(["commit", "-q", "-m", "x"])
  }

  /// Pushes; it has to succeed.
  func push() throws {
    let outcome = try pushing()
    guard outcome.status == 0 else { throw ProcessesFailure(description: outcome.errors) }
  }

  /// Pushes, however it ends.
  func pushing(_ arguments: [String] = ["origin", "main"]) throws -> ProcessesProgram.Outcome {
    try program.outcome(ofGit: ["push", "--porcelain"] + arguments, in: store)
  }

  /// Where a machine is that has no key and has accepted nothing.
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

  /// What is left of `verify` in its folder.
  var remains: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: "\(program.folder)/run/keytree")
        .filter { $0.hasPrefix(".verify") }
    }
  }

  // MARK: Damage

  static func file(_ item: String) -> String { "items/internet-password/\(item).gpg" }

  /// Puts another message in the place of an item, with a line that describes it.
  func replace(_ item: String, with message: [UInt8]) throws {
    guard let path = ItemPath(validating: "internet-password/\(item)") else { return }
    let file = StoreLayout.shardFile(path.shard, isLocal: false)
    var shard = Shard(parsing: try forge.bytes(file), number: path.shard)
    guard var record = shard.records.first(where: { $0.path == path }) else { return }
    record.sealed = ContentDigest(of: message)
    try shard.put(record)
    try forge.write(shard.encode(), to: file)
    try forge.write(message, to: Self.file(item))
  }

  func swapFiles(_ first: String, _ second: String) throws {
    let bytes = try forge.bytes(Self.file(first))
    try forge.write(try forge.bytes(Self.file(second)), to: Self.file(first))
    try forge.write(bytes, to: Self.file(second))
  }
}
