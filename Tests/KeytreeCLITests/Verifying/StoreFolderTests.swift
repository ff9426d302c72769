import Foundation
import Glibc
import KeyringModel
import TestSupport
import Testing

/// A store in a folder of a larger repository, with its hook, and a second store beside it.
@Suite("A store in a folder of a repository", .serialized) struct StoreFolderTests {
  /// A repository with a store in `team/keys`, and a bare repository with a hook.
  private final class World {
    let program: ProcessesProgram
    var top: String { "\(program.folder)/large" }
    var store: String { "\(top)/team/keys" }
    var hub: String { "\(program.folder)/hub.git" }

    init(hook: String = "--folder team/keys") throws {
      program = try ProcessesProgram()
      try FileManager.default.createDirectory(
        atPath: "\(top)/team", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try program.git(["init", "-q", "-b", "main"], in: top)
      try write("README")
      try program.git(["add", "-A"], in: top)
      try program.git(["commit", "-q", "-m", "begin"], in: top)
      try run("init")
      try run("add", "a.example/alice", input: "secret")
      try program.git(["init", "-q", "--bare", "-b", "main", hub], in: top)
      try program.git(["config", "receive.fsckObjects", "true"], in: hub)
      try program.git(["remote", "add", "origin", hub], in: top)
      let path = "\(hub)/hooks/pre-receive"
      let line = "#!/bin/sh\nexec '\(ProcessesProgram.path)' verify --pre-receive \(hook)\n"
      try Data(line.utf8).write(to: URL(fileURLWithPath: path))
      _ = unsafe chmod(path, 0o700)
    }

    func write(_ file: String) throws {
      let path = "\(top)/\(file)"
      try FileManager.default.createDirectory(
        atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path,
        withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      try Data("x\n".utf8).write(to: URL(fileURLWithPath: path))
    }

    func commit() throws {
      try program.git(["add", "-A"], in: top)
      try program.git(["commit", "-q", "-m", "work"], in: top)
    }

    func outcome(_ arguments: String..., input: String = "") throws -> ProcessesProgram.Outcome {
      try program.run(arguments, input: input, variables: ["KEYTREE_STORE": store])
    }

    func run(_ arguments: String..., input: String = "") throws {
      let outcome = try program.run(arguments, input: input, variables: ["KEYTREE_STORE": store])
      guard outcome.status == 0 else { throw ProcessesFailure(description: outcome.errors) }
    }

    func push() throws -> ProcessesProgram.Outcome {
      try program.outcome(ofGit: ["push", "origin", "main"], in: top)
    }
  }

  @Test func `the hook accepts a valid store in the folder, whatever is beside it`() throws {
    let world = try World()
    let first = try world.push()
    #expect(first.status == 0 && first.errors.contains("1 item, 1 policy"), "\(first.errors)")
    // Files beside the store are not checked, even if a store must not contain them.
    try world.write(".envrc")
    try FileManager.default.createSymbolicLink(atPath: "\(world.top)/link", withDestinationPath: "README")
    try world.commit()
    try world.run("add", "b.example/bob", input: "secret")
    let second = try world.push()
    #expect(second.status == 0 && second.errors.contains("2 items, 1 policy"), "\(second.errors)")
    // The hook treats a push by `sync` in the same way.
    try world.run("add", "c.example/carol", input: "secret")
    let sync = try world.outcome("sync")
    #expect(sync.status == 0, "\(sync.errors)")
    let at = try world.program.run([
      "verify", "--store", world.hub, "--at", "main", "--folder", "team/keys/",
      "--fingerprint", GnuPGKey.alice.fingerprint.text,
    ])
    #expect(at.status == 0 && at.errors.contains("3 items"), "\(at.errors)")
  }

  @Test func `the hook refuses an invalid store in the folder`() throws {
    let world = try World()
    #expect(try world.push().status == 0)
    try world.write("team/keys/items/tool.sh")
    try world.commit()
    let stray = try world.push()
    #expect(stray.status != 0 && stray.errors.contains("items/tool.sh"), "\(stray.errors)")
    try world.program.git(["reset", "-q", "--hard", "origin/main"], in: world.top)
    try world.write("team/keys/policy.json")
    try world.commit()
    let policy = try world.push()
    #expect(policy.status != 0 && policy.errors.contains("policy.json"), "\(policy.errors)")
    try world.program.git(["reset", "-q", "--hard", "origin/main"], in: world.top)
    try world.program.git(["rm", "-q", "-r", "team"], in: world.top)
    try world.program.git(["commit", "-q", "-m", "gone"], in: world.top)
    let gone = try world.push()
    #expect(gone.status != 0 && gone.errors.contains("it does not exist in this commit"), "\(gone.errors)")
  }

  @Test func `a hook without the option --folder refuses the store`() throws {
    let world = try World(hook: "")
    let outcome = try world.push()
    #expect(outcome.status != 0, "\(outcome.errors)")
  }

  @Test func `the hook refuses a second store`() throws {
    let world = try World()
    #expect(try world.push().status == 0)
    for file in ["policy.json", "policy.json.asc"] { try world.write("other/\(file)") }
    try world.commit()
    let outcome = try world.push()
    #expect(outcome.status != 0 && outcome.errors.contains("other/policy.json"), "\(outcome.errors)")
    #expect(outcome.errors.contains("another store"), "\(outcome.errors)")
  }

  @Test func `sync refuses a second store, doctor names it, and init does not create one`() throws {
    let world = try World()
    #expect(try world.push().status == 0)
    let second = "\(world.top)/second/store"
    let refused = try world.program.run(["init", "--store", second])
    #expect(refused.status == 11 && refused.errors.contains("team/keys"), "\(refused.errors)")
    #expect(!FileManager.default.fileExists(atPath: "\(world.top)/second"))
    let top = try world.program.run(["init", "--store", world.top])
    #expect(top.status == 11 && top.errors.contains("team/keys"), "\(top.errors)")

    let plain = try world.program.run(["init", "--store", second, "--no-git"])
    #expect(plain.status == 0, "\(plain.errors)")
    // This store was committed with plain git.
    try world.program.git(["add", "-f", "second"], in: world.top)
    try world.program.git(["commit", "-q", "-m", "second"], in: world.top)
    let sync = try world.outcome("sync")
    #expect(sync.status == 11 && sync.errors.contains("second/store"), "\(sync.errors)")
    #expect(sync.errors.contains("git subtree split"), "\(sync.errors)")
    let doctor = try world.outcome("doctor")
    let words = "another store in the folder second/store"
    #expect(doctor.status != 0 && doctor.text.contains(words), "\(doctor.text)")
  }

  @Test func `the folder must be a plain path, and the option is for bare repositories only`() throws {
    let world = try World()
    #expect(try world.push().status == 0)
    for folder in ["/team/keys", "team/../keys", "..", "", "team//keys", "."] {
      let outcome = try world.program.run([
        "verify", "--store", world.hub, "--at", "main", "--folder", folder,
      ])
      #expect(outcome.status == 2, "\(folder): \(outcome.errors)")
    }
    #expect(try world.outcome("verify", "--folder", "team/keys").status == 2)
    #expect(try world.outcome("verify", "--at", "HEAD", "--folder", "team/keys").status == 2)
    let other = try world.program.run(["verify", "--store", world.hub, "--at", "main", "--folder", "nothing"])
    #expect(other.status == 4, "\(other.errors)")
  }
}
