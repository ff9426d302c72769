import Arguments
import CommandSupport
import Foundation
import KeyringModel
import KeytreeCLI
import Terminal
import TestSupport
import Testing

/// People who each have a machine, and a bare repository that they share.
final class TeamMachines {
  /// A user with keys, their own environment, and the program.
  let worlds: [GnuPGKey: MaintenanceFixture]
  private let scratch = ScratchFolder()

  var hub: String { "\(scratch.path)/hub.git" }

  /// Creates a store of the first person, with git, and pushes it to the bare repository.
  init(_ people: [GnuPGKey] = [.alice, .bob]) throws {
    var worlds: [GnuPGKey: MaintenanceFixture] = [:]
    for person in people { worlds[person] = try MaintenanceFixture([person]) }
    self.worlds = worlds
    try GnuPGTool.run("git", ["init", "-q", "--bare", "-b", "main", hub])
    let first = people[0]
    try succeed(first, "init")
    try succeed(first, "git", "remote", "add", "origin", hub)
    try succeed(first, "sync")
  }

  /// An error for a command that did not have the expected result.
  struct Unexpected: Error, CustomStringConvertible {
    let description: String
  }

  func run(
    _ person: GnuPGKey, _ words: [String], input: String = "", answers: [String]? = nil
  ) -> MaintenanceFixture.Answer {
    guard let world = worlds[person] else { preconditionFailure("\(person) has no machine") }
    guard let answers else { return world.run(words, input: Array(input.utf8)) }
    // Wide enough that no message is wrapped.
    let memory = MemoryConsole(answers, isTerminal: true, columns: 2000)
    let code = Program.run(
      words.map { Word($0) }, environment: Environment(world.variables), console: memory.console)
    return MaintenanceFixture.Answer(code: code, bytes: memory.output.bytes, talk: memory.talk.text)
  }

  @discardableResult
  func succeed(_ person: GnuPGKey, _ words: String..., input: String = "") throws -> MaintenanceFixture.Answer
  {
    let answer = run(person, words, input: input)
    guard answer.code == .done else {
      throw Unexpected(description: "\(person) \(words): \(answer.code) \(answer.talk)")
    }
    return answer
  }

  /// Returns the subjects of a person's commits, newest first.
  func subjects(_ person: GnuPGKey) throws -> [String] {
    guard let world = worlds[person] else { preconditionFailure("\(person) has no machine") }
    let output = try GnuPGTool.run("git", ["-C", world.store, "log", "--format=%s"])
    return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Writes the public key of a person into a file.
  func keyFile(_ person: GnuPGKey) throws -> String {
    let path = "\(scratch.path)/\(person.rawValue).asc"
    try Data(person.publicKey).write(to: URL(fileURLWithPath: path))
    return path
  }

  /// Adds a person to a group, and makes a clone for them.
  func welcome(_ person: GnuPGKey, _ words: String...) throws { try welcome(person, words) }

  private func welcome(_ person: GnuPGKey, _ words: [String]) throws {
    let file = try keyFile(person)
    let answer = run(
      .alice, ["group", "add", "default", file, "--fingerprint", person.fingerprint.text] + words)
    guard answer.code == .done else { throw Unexpected(description: answer.talk) }
    try succeed(.alice, "sync")
    try succeed(person, "clone", hub, "--fingerprint", GnuPGKey.alice.fingerprint.text)
  }

  /// Creates the machines of Alice and Bob, who are admins, and of Carol, with an item of Alice.
  ///
  /// - Parameter words: Further arguments of `group add` for Carol.
  static func ofThree(_ words: String...) throws -> TeamMachines {
    let team = try TeamMachines([.alice, .bob, .carol, .dave])
    try team.succeed(.alice, "add", "a.example/me", input: "one")
    try team.welcome(.bob, "--admin")
    try team.welcome(.carol, words)
    for person in [GnuPGKey.bob, .carol] { try team.succeed(person, "sync") }
    return team
  }

  /// Restores an earlier policy in the remote, as every person who can push can do.
  ///
  /// - Parameter distance: The number of changes of the policy since.
  func restorePolicy(_ distance: Int = 1) throws {
    let clone = try makeClone()
    let commits = try GnuPGTool.run("git", ["-C", clone, "log", "--format=%H", "--", "policy.json"])
    let old = try #require(
      String(decoding: commits, as: UTF8.self).split(separator: "\n").dropFirst(distance).first)
    try GnuPGTool.run(
      "git", ["-C", clone, "checkout", "-q", String(old), "--", "policy.json", "policy.json.asc"])
    try commit(in: clone)
  }

  /// Pushes the policy of a commit, as every person who can push can do.
  func pushPolicy(of commit: String) throws {
    let clone = try makeClone()
    try GnuPGTool.run(
      "git", ["-C", clone, "checkout", "-q", commit, "--", "policy.json", "policy.json.asc"])
    try self.commit(in: clone)
  }

  /// Pushes a merge with the commits of a person that have not been sent.
  ///
  /// - Parameter isRestoring: True to push the policy from before both sides; false to push that of the person.
  func pushMerge(with person: GnuPGKey, isRestoring: Bool = false) throws {
    guard let world = worlds[person] else { preconditionFailure("\(person) has no machine") }
    let clone = try makeClone()
    let git = ["-C", clone, "-c", "user.name=C", "-c", "user.email=c@example.org"]
    try GnuPGTool.run("git", git + ["fetch", "-q", world.store, "main:other"])
    let base = String(
      decoding: try GnuPGTool.run("git", git + ["merge-base", "main", "other"]).dropLast(), as: UTF8.self)
    let source = isRestoring ? base : "other"
    try GnuPGTool.run("git", git + ["merge", "-q", "-s", "ours", "-m", "x", "other"])
    try GnuPGTool.run(
      "git", git + ["checkout", "-q", source, "--", "policy.json", "policy.json.asc", "keys"])
    try commit(in: clone)
  }

  /// Pushes the content of a file, as every person who can push can do.
  func push(_ content: String, to path: String) throws {
    let clone = try makeClone()
    try Data(content.utf8).write(to: URL(fileURLWithPath: "\(clone)/\(path)"))
    try GnuPGTool.run("git", ["-C", clone, "add", path])
    try commit(in: clone)
  }

  private func makeClone() throws -> String {
    let clone = "\(hub).clone"
    if FileManager.default.fileExists(atPath: clone) { try FileManager.default.removeItem(atPath: clone) }
    try GnuPGTool.run("git", ["clone", "-q", hub, clone])
    return clone
  }

  private func commit(in clone: String) throws {
    let person = ["-c", "user.name=C", "-c", "user.email=c@example.org"]
    try GnuPGTool.run("git", ["-C", clone] + person + ["commit", "-q", "-a", "-m", "x"])
    try GnuPGTool.run("git", ["-C", clone, "push", "-q", "origin", "main"])
  }
}
