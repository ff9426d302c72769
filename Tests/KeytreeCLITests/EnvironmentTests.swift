import CommandSupport
import KeytreeCLI
import Terminal
import Testing

@Suite("The environment", .serialized)
struct EnvironmentTests {
  @Test(
    "the option or the environment determines the path of the store",
    arguments: [
      ("/s", ["KEYTREE_STORE": "/k", "HOME": "/h"], "/s"),
      ("relative", [:], "relative"),
      (nil, ["KEYTREE_STORE": "/k", "XDG_DATA_HOME": "/d"], "/k"),
      (nil, ["KEYTREE_STORE": "", "XDG_DATA_HOME": "/d"], "/d/keytree"),
      (nil, ["XDG_DATA_HOME": "/d", "HOME": "/h"], "/d/keytree"),
      (nil, ["XDG_DATA_HOME": "d", "HOME": "/h"], "/h/.local/share/keytree"),
      (nil, ["HOME": "/h"], "/h/.local/share/keytree"),
    ] as [(String?, [String: String], String)])
  func store(option: String?, variables: [String: String], path: String) throws {
    #expect(try Environment(variables).storePath(option: option) == path)
  }

  @Test(
    "the path of the store is never guessed",
    arguments: [(nil, [:]), ("", ["HOME": "/h"]), (nil, ["HOME": "h"]), (nil, ["HOME": ""])]
      as [(String?, [String: String])])
  func unknownStore(option: String?, variables: [String: String]) {
    #expect(throws: CommandError.self) { try Environment(variables).storePath(option: option) }
  }

  @Test("a store path that is not UTF-8 is refused")
  func bytes() {
    let environment = Environment(entries: [Array("KEYTREE_STORE=".utf8) + [0xFF], Array("HOME=/h".utf8)])
    #expect(throws: CommandError.storeLocationUnknown(reason: "`KEYTREE_STORE` is not UTF-8")) {
      try environment.storePath(option: nil)
    }
    #expect(environment.bytes("KEYTREE_STORE").map(Array.init) == [0xFF])
  }

  @Test("the environment determines folders and programs")
  func folders() {
    let bare = Environment(["HOME": "/h"])
    #expect(bare.stateHome == "/h/.local/state")
    #expect(bare.runtimeBase == "/h/.cache/keytree")
    #expect(bare.editor == "vi")
    #expect(bare.gnupgHome == nil)
    let full = Environment([
      "XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": "/r", "EDITOR": "ed", "VISUAL": "vim -X", "GNUPGHOME": "/g",
      "PATH": "/bin",
    ])
    #expect(full.stateHome == "/s")
    #expect(full.runtimeBase == "/r/keytree")
    #expect(full.editor == "vim -X")
    #expect(full.gnupgHome == "/g")
    #expect(full.searchPath == "/bin")
  }

  @Test("the environment of the process is read")
  func process() {
    #expect(Environment.ofProcess().text("PATH") != nil)
  }
}
