import Arguments
import CommandSupport
import Foundation
import Keyring
import TestSupport
import Testing

@testable import KeytreeCLI

/// Tests the messages of programs that name no group, with a store of two people: Alice is in `default` and `ops`, Bob
/// only in `default`.
@Suite(.serialized) struct SharedAccountCommandTests {
  private let world: CommandFixture

  init() throws {
    world = try .withoutGnuPG()
    let store = try #require(world.standIn)
    let owner = store.owner
    try store.join(EngineDouble.fingerprint(2), "default")
    try store.changePolicy { $0.groups["ops"] = [owner] }
  }

  /// Returns the words of a command that a shell would run.
  private func shellWords(_ command: Substring) throws -> [Word] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "printf '%s\\n' \(command)"]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: output, as: UTF8.self).split(separator: "\n").map { Word(String($0)) }
  }

  @Test(arguments: ["deploy", "-x", "o'neil $HOME", " deploy "])
  func `the command in the hint adds the account that was not stored for more readers`(user: String) throws {
    let name = user.trimmingCharacters(in: .whitespaces).uppercased()
    #expect(
      world.run("add", "--server=git.example", Word("--account=\(name)"), "-g", "ops", input: [1]).code
        == .done)
    let request = "protocol=http\nhost=git.example\nusername=\(user)\npassword=new\n"
    let refused = world.run("credential", "git", "store", input: Array(request.utf8))
    #expect(refused.code == .alreadyExists)
    let text = refused.diagnosticsText
    #expect(
      text.contains("may be for the same account, and not all members of group \"default\" can read it"))
    let command = try #require(text.split(separator: "`").first { $0.hasPrefix("keytree add ") })
    let words = try shellWords(command)
    #expect(world.run(Array(words.dropFirst()), input: Array("own".utf8)).code == .done)
    let answer = world.run(
      "credential", "git", "get", input: Array("protocol=http\nhost=git.example\nusername=\(user)\n".utf8))
    #expect(answer.text == "username=\(user)\npassword=own\n")
    #expect(world.run("credential", "git", "store", input: Array(request.utf8)).code == .done)
  }
}
