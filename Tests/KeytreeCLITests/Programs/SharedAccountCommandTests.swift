import Arguments
import CommandSupport
import Foundation
import Keyring
import KeyringModel
import Personalities
import Secrets
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

  /// The requests of git and of Python's `keyring` for one account.
  enum Request: CaseIterable {
    case gitGet, gitStore, gitErase, keyringGet, keyringSet, keyringDelete

    func run(in world: CommandFixture) -> ProgramResult {
      let message = "protocol=https\nhost=git.example\nusername=deploy\npassword=x\n"
      return switch self {
      case .gitGet: world.run(as: .gitCredential, ["get"], input: message)
      case .gitStore: world.run(as: .gitCredential, ["store"], input: message)
      case .gitErase: world.run(as: .gitCredential, ["erase"], input: message)
      case .keyringGet: world.run(as: .keyring, ["get", "git.example", "deploy"])
      case .keyringSet: world.run(as: .keyring, ["set", "git.example", "deploy"], input: "x")
      case .keyringDelete: world.run(as: .keyring, ["del", "git.example", "deploy"])
      }
    }
  }

  @Test(arguments: Request.allCases)
  func `a request that several items match names their groups and the command that keeps one`(
    request: Request
  ) throws {
    for group in ["ops", "default"] {
      for name in ["--server=git.example", "--service=git.example"] {
        let words = ["add", Word(name), "--account=deploy", "-g", Word(group)]
        #expect(world.run(words, input: Array(group.utf8)).code == .done)
      }
    }
    let refused = request.run(in: world)
    #expect(refused.status != 0 && refused.output.isEmpty)
    let lines = refused.talk.split(separator: "\n")
    #expect(lines.count == 4)
    #expect(lines.first == "keytree: 2 items match the request of the other program")
    #expect(lines.contains { $0.hasSuffix("git.example/deploy in group \"default\"") })
    #expect(lines.contains { $0.hasSuffix(" in group \"ops\"") })
    let command = try #require(refused.talk.split(separator: "`").first { $0.hasPrefix("keytree rm ") })
    #expect(world.run(Array(try shellWords(command).dropFirst())).code == .done)
    let status = request.run(in: world)
    #expect(!status.talk.contains("items match"))
  }

  @Test(arguments: [["add"], ["add", "--update"], ["generate"]] as [[Word]])
  func `a command without a group does not store an account for more readers that others have removed`(
    command: [Word]
  ) throws {
    let store = try #require(world.standIn)
    #expect(world.run("add", "git.example/deploy", "-g", "ops", input: [1]).code == .done)
    let item = try #require(try store.open().find(Query()).items.first)
    try store.receiveRemoval(of: item)
    let words = command + ["git.example/deploy"]
    let refused = world.run(words, input: Array("new".utf8))
    #expect(refused.code == .alreadyExists, "\(refused.diagnosticsText)")
    #expect(
      refused.diagnosticsText.contains("was in group \"ops\" until it was removed on another machine"),
      "\(refused.diagnosticsText)")
    let hint = try #require(
      refused.diagnosticsText.split(separator: "`").filter { $0.hasPrefix("keytree add ") }.last)
    #expect(hint.hasSuffix("--group=default"))
    #expect(world.run(Array(try shellWords(hint).dropFirst()), input: Array("own".utf8)).code == .done)
    #expect(world.run("add", "--update", "git.example/deploy", input: Array("new".utf8)).code == .done)
    #expect(world.run("get", "git.example/deploy").text == "new")
  }

  @Test func `add does not replace what others have added instead of the removed item of a group`() throws {
    let store = try #require(world.standIn)
    #expect(world.run("add", "git.example/deploy", "-g", "ops", input: [1]).code == .done)
    let item = try #require(try store.open().find(Query()).items.first)
    try store.receiveRemoval(of: item)
    var planted = NewItem.login("git.example", "deploy")
    planted.group = "default"
    try store.open(as: EngineDouble.fingerprint(2)).add(planted, secret: SecretBytes(text: "wrong"))
    let words: [Word] = ["add", "--update", "git.example/deploy"]
    #expect(world.run(words, input: Array("new".utf8)).code == .alreadyExists)
    #expect(world.run(words + ["-g", "default"], input: Array("new".utf8)).code == .done)
  }

  @Test func `add stores nothing while the index hides an item of another group`() throws {
    let store = try #require(world.standIn)
    #expect(world.run("add", "git.example/deploy", "-g", "ops", input: [1]).code == .done)
    let item = try #require(try store.open().find(Query()).items.first)
    try store.put([], at: store.shardFile(item))
    let refused = world.run("add", "git.example/deploy", input: Array("new".utf8))
    #expect(refused.code == .damaged)
    #expect(refused.diagnosticsText.contains("`keytree check --repair`"), "\(refused.diagnosticsText)")
    #expect(world.run("add", "git.example/deploy", "-g", "default", input: Array("new".utf8)).code == .done)
  }
}
