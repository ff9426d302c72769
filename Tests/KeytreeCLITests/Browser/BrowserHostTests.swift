import Arguments
import CommandSupport
import Foundation
import OpenPGP
import TestSupport
import Testing

/// The host in this process, with a store without GnuPG.
@Suite("The host for browsers", .serialized)
struct BrowserHostTests {
  private let world: CommandFixture

  init() throws {
    world = try .withoutGnuPG()
    try FileManager.default.createDirectory(
      atPath: world.folder.path + "/home", withIntermediateDirectories: true)
    try FileManager.default.createDirectory(
      atPath: world.folder.path + "/run", withIntermediateDirectories: true)
  }

  private func add(_ name: String, _ secret: String, _ options: String...) {
    let result = world.run([Word("add"), Word(name)] + options.map { Word($0) }, input: Array(secret.utf8))
    #expect(result.code == .done, "\(result.diagnosticsText)")
  }

  @Test("the extension gets the default store, the list, the tree, one login, and its own value")
  func actions() throws {
    add("github.com/alice", "hunter2")
    add("github.com/alice", "JBSWY3DPEHPK3PXP", "--field", "otp")
    let configure = world.ask("configure", stores: [:])
    #expect(configure.isOK && configure.object["version"] as? Int == 3_001_002)
    let own = configure.data["defaultStore"] as? [String: String]
    let path = URL(fileURLWithPath: world.store).resolvingSymlinksInPath().path
    #expect(own == ["path": path, "settings": "{}"])
    #expect(world.ask("configure").data["storeSettings"] as? [String: String] == ["default": "{}"])
    #expect(world.ask("list").files == ["github.com/alice.gpg"])
    #expect(world.ask("tree").data["directories"] as? [String: [String]] == ["default": ["github.com"]])
    let fetched = world.ask("fetch", file: "github.com/alice.gpg")
    #expect(fetched.contents == "hunter2\nlogin: alice\nurl: https://github.com/")
    let both = world.ask("fetch", file: "github.com/alice.gpg", enableOTP: true)
    #expect(both.contents == fetched.contents + "\notp: JBSWY3DPEHPK3PXP")
    let value = #"{"b": [1.5, "\ud800"],  "a":1}"#
    let echo = world.browser(
      input: BrowserMessage.frame(
        Array("{\"action\":\"echo\",\"settings\":{},\"echoResponse\":\(value)}".utf8)))
    #expect(echo.text == value && echo.status == 0)
    #expect(world.browser(input: BrowserMessage.frame(Array(#"{"action":"echo"}"#.utf8))).text == "null")
    for reply in [configure, fetched, both, echo] { #expect(reply.talk.isEmpty) }
  }

  @Test("the extension stores, changes and removes a login")
  func changes() throws {
    #expect(world.ask("save", file: "github.com/alice.gpg", contents: "one\nlogin: alice\nnote").isOK)
    #expect(world.run("get", "github.com/alice").text == "one")
    #expect(world.run("get", "github.com/alice", "--field", "note").text == "note")
    #expect(world.ask("save", file: "github.com/alice.gpg", contents: "two\nlogin: alice").isOK)
    #expect(world.run("get", "github.com/alice").text == "two")
    #expect(world.run("get", "github.com/alice", "--field", "note").text == "note")
    #expect(world.ask("delete", file: "github.com/alice.gpg").isOK)
    #expect(world.ask("list").files.isEmpty)
    #expect(world.ask("delete", file: "github.com/alice.gpg").code == 30)
  }

  @Test("each kind of failure has its code")
  func codes() throws {
    add("github.com/alice", "hunter2")
    add("github.com/two", "a\nb")
    let elsewhere: [String: [String: Any]] = ["x": ["id": "x", "name": "X", "path": "/tmp", "settings": [:]]]
    for (reply, code) in [
      (world.browser(input: [2, 0]), 10), (world.browser(input: [2]), 10),
      (world.browser(input: [0, 0, 0, 0]), 11), (world.browser(input: [9, 0, 0, 0] + "{}".utf8), 11),
      (world.browser(input: [255, 255, 255, 255] + "{}".utf8), 11),
      (world.browser(input: [1, 0, 128, 0] + [UInt8](repeating: 0x20, count: (8 << 20) + 1)), 11),
      (world.browser(input: BrowserMessage.frame(Array("{".utf8))), 11),
      (world.browser(input: BrowserMessage.frame([0x7B, 0x22, 0xFF, 0x22])), 11),
      (
        world.browser(
          input: BrowserMessage.frame(Array("{\"x\":".utf8) + [UInt8](repeating: 0x5B, count: 100_000))), 11
      ),
      (world.browser(input: BrowserMessage.frame(Array("{}".utf8))), 12), (world.ask("steal"), 12),
      (world.ask("list", stores: elsewhere), 13), (world.ask("configure", stores: elsewhere), 13),
      (world.ask("fetch", file: "github.com/alice.gpg", stores: elsewhere, storeID: "x"), 13),
      (world.ask("configure", stores: [:], more: ["KEYTREE_STORE": "/nonexistent/store"]), 14),
      (
        world.ask("configure", stores: [:], more: ["KEYTREE_STORE": "", "HOME": "", "XDG_STATE_HOME": ""]), 15
      ),
      (world.ask("fetch", file: "github.com/alice.gpg", storeID: "other"), 20),
      (world.ask("fetch", file: "github.com/alice"), 23), (world.ask("fetch"), 23),
      (world.ask("fetch", file: "github.com/none.gpg"), 24),
      (world.ask("fetch", file: "../../etc/passwd.gpg"), 24),
      (world.ask("fetch", file: "%2e%2e/github.com/alice.gpg"), 24),
      (world.ask("fetch", file: "a\u{0}b.gpg"), 24),
      (world.ask("fetch", file: "github.com/two.gpg"), 24),
      (world.ask("save", file: "github.com/alice.gpg", contents: ""), 27),
      (world.ask("save", file: "mailer/bot.gpg", contents: "x"), 29),
      (world.ask("save", file: "x", contents: "x"), 23),
      (world.ask("delete", file: "github.com/none.gpg"), 30),
    ] {
      #expect(reply.code == code, "\(code): \(reply.text)")
      let message = reply.parameters["message"] as? String
      #expect(
        message?.isEmpty == false && reply.parameters["action"] is String
          && reply.parameters["error"] is String)
      #expect(!reply.text.contains("hunter2"))
    }
    let store = world.ask("list", stores: elsewhere).parameters
    #expect(
      store["storeId"] as? String == "x" && store["storePath"] as? String == "/tmp"
        && store["storeName"] as? String == "X")
  }

  @Test("the subject of a failure is in its answer")
  func parameters() {
    let elsewhere: [String: [String: Any]] = ["x": ["id": "x", "name": "X", "path": "/tmp", "settings": [:]]]
    let common: Set = ["message", "action", "error"]
    func about(_ file: String) -> [String: String] {
      ["file": file, "storeId": "default", "storeName": "pass", "storePath": world.store]
    }
    for (reply, action, more) in [
      (
        world.ask("list", stores: elsewhere), "list", ["storeId": "x", "storePath": "/tmp", "storeName": "X"]
      ),
      (world.ask("fetch", file: "h/a.gpg", storeID: "other"), "fetch", ["storeId": "other"]),
      (world.ask("fetch", file: "h/a"), "fetch", ["file": "h/a"]),
      (world.ask("save", file: "h/a", contents: "x"), "save", ["file": "h/a"]),
      (world.ask("delete", file: "h/a"), "delete", ["file": "h/a"]), (world.ask("steal"), "steal", [:]),
      (world.ask("fetch", file: "h/a.gpg"), "fetch", about("h/a.gpg")),
      (world.ask("delete", file: "h/a.gpg"), "delete", about("h/a.gpg")),
      (world.ask("save", file: "h.example/a.gpg", contents: ""), "save", about("h.example/a.gpg")),
      (world.ask("save", file: "h/a.gpg", contents: "x"), "save", about("h/a.gpg")),
      (world.browser(input: [9]), "", [:]),
      (world.browser(input: BrowserMessage.frame([0x7B])), "", [:]),
      (world.ask("configure", stores: [:], more: ["KEYTREE_STORE": "/nonexistent/store"]), "configure", [:]),
    ] as [(BrowserReply, String, [String: String])] {
      #expect(Set(reply.parameters.keys) == common.union(more.keys), "\(reply.text)")
      #expect(reply.parameters["action"] as? String == action)
      for (name, value) in more { #expect(reply.parameters[name] as? String == value) }
      #expect(reply.object["version"] as? Int == 3_001_002)
    }
  }

  @Test("a store that has lost its index has no list and no tree")
  func lostIndex() throws {
    add("github.com/alice", "hunter2")
    try FileManager.default.removeItem(atPath: world.store + "/index")
    #expect(world.ask("list").code == 18)
    #expect(world.ask("tree").code == 25)
    #expect((world.ask("list").parameters["message"] as? String)?.contains("check --repair") == true)
  }

  @Test("without GnuPG nothing is read or stored")
  func noGnuPG() throws {
    add("github.com/alice", "hunter2")
    let engine = try #require(world.standIn?.engine)
    engine.refusal = .engineMissing(detail: "gpg is not in /nowhere")
    let reply = world.ask("fetch", file: "github.com/alice.gpg")
    #expect(reply.code == 22 && !reply.text.contains("hunter2"))
    engine.refusal = nil
    engine.signingRefusal = .engineMissing(detail: "gpg is not in /nowhere")
    #expect(world.ask("save", file: "github.com/alice.gpg", contents: "new").code == 22)
    engine.signingRefusal = nil
    #expect(world.ask("fetch", file: "github.com/alice.gpg").contents.hasPrefix("hunter2\n"))
  }

  @Test("a request that stops is given up after ten seconds, but the wait for one has no limit")
  func stalled() {
    for (bytes, code, waits) in [
      ([4], 10, [nil, 10]), ([4, 0, 0], 10, [nil, 10]), ([4, 0, 0, 0, 0x7B], 11, [nil, 10, 10]),
    ] as [([UInt8], Int, [Double?])] {
      let input = StalledInput(bytes)
      let reply = world.browser(input)
      #expect(reply.code == code, "\(reply.text)")
      #expect((reply.parameters["error"] as? String)?.contains("in time") == true)
      #expect(input.waits == waits)
    }
  }

  @Test("only an allowed extension gets an answer, and the store is not opened for another one")
  func callers() throws {
    add("github.com/alice", "hunter2")
    let list = BrowserMessage.frame(BrowserMessage.make("list", store: world.store))
    for arguments in [
      [], ["chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/"], ["/m.json", "evil@example"],
      ["x", BrowserMessage.origin],
    ] {
      let reply = world.browser(input: list, arguments: arguments, more: ["KEYTREE_STORE": "/nonexistent"])
      #expect(reply.code == 12)
    }
    #expect(world.browser(input: list, arguments: ["/m.json", "browserpass@maximbaz.com"]).isOK)
    #expect(world.run("config", "browser.origins", "own@example").code == .done)
    #expect(world.browser(input: list, arguments: ["/m.json", "own@example"]).isOK)
    for bad in ["evil", "chrome-extension://abc/", "a@b, x"] {
      #expect(world.run("config", "browser.origins", Word(bad)).code == .usage)
    }
  }

  @Test("the end of input before a frame is no error, and a second frame is not read")
  func frames() {
    let nothing = world.browser(input: [])
    #expect(nothing.status == 0 && nothing.output.isEmpty && nothing.talk.isEmpty)
    let list = BrowserMessage.frame(BrowserMessage.make("list", store: world.store))
    #expect(world.browser(input: list + list).isOK)
    #expect(world.browser(input: list + [1, 2, 3]).isOK)
  }

  @Test("an answer that a browser would not accept is replaced by an error")
  func largeAnswer() {
    let text = String(repeating: "x", count: 1 << 20)
    let message = Array("{\"action\":\"echo\",\"echoResponse\":\"\(text)\"}".utf8)
    #expect(world.browser(input: BrowserMessage.frame(message)).code == 11)
    let action = Array("{\"action\":\"\(text)\"}".utf8)
    let refused = world.browser(input: BrowserMessage.frame(action))
    #expect(refused.code == 12 && refused.output.count < 1000)
  }

  @Test("a store in the settings of the extension is used only if the user allows it")
  func otherStores() throws {
    add("github.com/alice", "hunter2")
    let link = world.folder.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: world.store)
    let linked: [String: [String: Any]] = ["default": ["path": link]]
    #expect(world.ask("list", stores: linked).files == ["github.com/alice.gpg"])
    let home = ["HOME": world.folder.path]
    #expect(
      world.ask("list", stores: ["default": ["path": "~/link"]], more: home).files == ["github.com/alice.gpg"]
    )
    #expect(world.ask("list", stores: ["default": ["path": ""]]).code == 13)
    // Another default store: the one that the extension names must be allowed.
    let other = try CommandFixture.withoutGnuPG()
    let named: [String: [String: Any]] = ["default": ["path": other.store]]
    #expect(world.ask("list", stores: named).code == 13)
    #expect(world.run("config", "stores.team", Word(other.store)).code == .done)
    #expect(world.run("config", "browser.stores", "team, /nonexistent").code == .done)
    #expect(world.ask("list", stores: named).isOK)
    #expect(world.ask("list", stores: ["default": ["path": "/nonexistent"]]).code == 13)
  }

  @Test("the settings restrict and extend what the extension may do")
  func settings() throws {
    add("github.com/alice", "hunter2")
    add("mail.example/alice", "x", "-r", "imaps")
    #expect(world.ask("list").files == ["github.com/alice.gpg"])
    #expect(world.run("config", "browser.protocols", "imaps,ssh").code == .done)
    #expect(world.ask("list").files == ["github.com/alice.gpg", "mail.example/alice.gpg"])
    #expect(world.run("config", "browser.restrictToSite", "true").code == .done)
    #expect(world.ask("fetch", file: "github.com/alice.gpg", origin: "https://evil.example").code == 24)
    #expect(world.ask("fetch", file: "github.com/alice.gpg").isOK)
    #expect(world.run("config", "browser.generic", "true").code == .done)
    #expect(world.ask("save", file: "mailer/bot.gpg", contents: "x").isOK)
    #expect(world.run("config", "browser.fetchesPerMinute", "2").code == .done)
    #expect(world.ask("fetch", file: "github.com/alice.gpg").isOK)
    #expect(world.ask("fetch", file: "github.com/alice.gpg").code == 24)
    for (name, value) in [
      ("browser.restrictToSite", "yes"), ("browser.generic", "1"), ("browser.fetchesPerMinute", "0"),
      ("browser.x", "1"),
    ] { #expect(world.run("config", Word(name), Word(value)).code == .usage) }
    let settings = world.run("config").text
    for line in [
      "browser.fetchesPerMinute\t2\t30\n", "browser.generic\ttrue\tfalse\n",
      "browser.protocols\timaps,ssh\tnone\n",
      "browser.restrictToSite\ttrue\tfalse\n",
    ] { #expect(settings.contains(line), "\(line)") }
  }

  @Test("a damaged line of the index leaves the others in the list")
  func damagedIndex() throws {
    add("github.com/alice", "hunter2")
    let index = world.store + "/index"
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: index).first)
    let path = "\(index)/\(name)"
    let text = try String(contentsOfFile: path, encoding: .utf8)
    try (text + text.prefix(text.count / 2) + "\n").write(toFile: path, atomically: false, encoding: .utf8)
    let list = world.ask("list")
    #expect(list.files == ["github.com/alice.gpg"])
    #expect(list.talk.contains("warning: index/"))
    let missing = world.ask("fetch", file: "github.com/bob.gpg")
    #expect(missing.code == 24)
  }

  @Test("the command answers like the link, reports the cost without names, and needs a caller")
  func command() throws {
    add("github.com/alice", "hunter2")
    let list = BrowserMessage.frame(BrowserMessage.make("list", store: world.store))
    let result = world.run("--explain", "browser-host", Word(BrowserMessage.origin), input: list)
    #expect(result.code == .done)
    #expect(BrowserReply(status: 0, output: result.output, talk: "").files == ["github.com/alice.gpg"])
    #expect(result.diagnosticsText.contains("explain: logins for the browser: 1"))
    #expect(!result.diagnosticsText.contains("github") && !result.diagnosticsText.contains("alice"))
    #expect(world.run("browser-host").code == .usage)
    #expect(world.run("browser-host", "--allow", "own@example").code == .usage)
    #expect(world.run("browser-host", "--list", "--install", "firefox").code == .usage)
    #expect(world.run("browser-host", "--install", "netscape").code == .usage)
  }
}
