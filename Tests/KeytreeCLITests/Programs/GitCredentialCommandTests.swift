import Arguments
import CommandSupport
import KeytreeCLI
import Personalities
import TestSupport
import Testing

@Suite("The program called by git", .serialized)
struct GitCredentialCommandTests {
  static let host = "protocol=https\nhost=git.example.org\n"
  static let alice = host + "username=alice\npassword=secret\n"

  @Test("the helper stores, answers and erases silently, and only changes make commits")
  func roundTrip() throws {
    let world = try CommandFixture()
    func commits() throws -> Int { try GitLog.subjects(world.store).count }
    let before = try commits()
    func git(_ action: String, _ message: String) -> ProgramResult {
      let result = world.run(as: .gitCredential, [action], input: message + "\n")
      #expect(result.status == 0 && result.talk.isEmpty)
      return result
    }
    #expect(git("get", Self.host).text == "")
    #expect(git("store", Self.alice).text == "")
    #expect(try commits() == before + 1)
    #expect(git("store", Self.alice).text == "")
    #expect(git("get", Self.host).text == "username=alice\npassword=secret\n")
    #expect(git("erase", Self.host + "username=alice\npassword=stale\n").text == "")
    #expect(try commits() == before + 1)
    #expect(git("erase", Self.alice).text == "")
    #expect(try commits() == before + 2)
    #expect(git("get", Self.host).text == "")
    #expect(git("capability", "").text == "version 0\ncapability authtype\ncapability state\n")
    #expect(git("some-later-action", "x").text == "")
    #expect(try GitLog.subjects(world.store).first == "remove internet-password/git.example.org/alice+https")
  }

  @Test("the helper uses the store in its options")
  func store() throws {
    let world = try CommandFixture()
    let words = ["--store", world.store, "store"]
    #expect(
      world.run(as: .gitCredential, words, input: Self.alice, more: ["KEYTREE_STORE": "/nowhere"]).status == 0
    )
    let answer = world.run("credential", "git", "get", input: Array(Self.host.utf8))
    #expect(answer.text == "username=alice\npassword=secret\n")
  }

  @Test("an invalid message is an error that does not show its content, and nothing is stored")
  func badInput() throws {
    let world = try CommandFixture()
    let long = String(repeating: "x", count: 1 << 20)
    for message in [
      "password=hunter2", "hunter2\n", "protocol=https\r\nhost=h\r\nusername=u\r\npassword=hunter2\r\n",
      Self.host + "username=u\npassword=hunter2\u{0}\n",
      "protocol=https\nhost=../hunter2\nusername=u\npassword=p\n",
      Self.host + "username=\(long)\npassword=hunter2\n",
      "\u{FEFF}" + Self.alice.replacing("secret", with: "hunter2"),
      Self.host + "username=u\npassword=hunter2\(long)\n",
    ] {
      let result = world.run(as: .gitCredential, ["store"], input: message)
      #expect(result.output.isEmpty)
      #expect(!result.talk.contains("hunter2"))
      // An incomplete message is ignored; an invalid one is an error.
      #expect(result.status == 0 || result.talk.hasPrefix("keytree: cannot"))
    }
    #expect(world.run("find").text == "")
  }

  @Test("a secret that git would read as more than one line is not released")
  func lineEnd() throws {
    let world = try CommandFixture()
    _ = world.run("add", "git.example.org/alice", input: Array("a\nhost=evil".utf8))
    let result = world.run(as: .gitCredential, ["get"], input: Self.host)
    #expect(result.output.isEmpty && result.status == 1)
    #expect(result.talk.contains("cannot return git.example.org/alice"))
  }
}

/// The history of a store, as git reports it.
enum GitLog {
  /// Returns the subjects of all commits, newest first.
  static func subjects(_ folder: String) throws -> [String] {
    let output = try GnuPGTool.run("/usr/bin/git", ["-C", folder, "log", "--format=%s"])
    return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
