import Arguments
import CommandSupport
import Foundation
import Terminal
import TestSupport
import Testing

/// The user's settings, and named stores.
@Suite("The user's settings", .serialized)
struct ConfigurationTests {
  private let world: CommandFixture
  private let file: String

  init() throws {
    world = try .withoutGnuPG()
    file = world.folder.path + "/home/.config/keytree/config.json"
    try FileManager.default.createDirectory(
      atPath: world.folder.path + "/home", withIntermediateDirectories: true)
  }

  private func write(_ text: String, mode: Int = 0o600) throws {
    try FileManager.default.createDirectory(
      atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
  }

  /// The settings that have a value, each with a tab and the value.
  private var values: [String] {
    world.run("config").text.split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "\t", omittingEmptySubsequences: false)
      return cells.count == 3 && !cells[1].isEmpty ? "\(cells[0])\t\(cells[1])" : nil
    }
  }

  @Test("settings are set, shown and removed, and other members are kept")
  func settings() throws {
    let unset = world.run("config").text
    #expect(unset.hasPrefix("defaultStore\t\t$XDG_DATA_HOME/keytree\nclipboardSeconds\t\t45\n"))
    #expect(unset.split(separator: "\n").count == Configuration.Setting.fixed.count)
    try write("{\"future\":[1],\"generate\":{\"length\":30}}")
    for words in [
      ["clipboardSeconds", "10"], ["stores.work", "~/work"], ["generate.charset", "letters,digits"],
    ] {
      #expect(world.run(["config"] + words.map { Word($0) }).code == .done)
    }
    #expect(
      values
        == [
          "clipboardSeconds\t10", "generate.length\t30", "generate.charset\tletters,digits",
          "stores.work\t~/work",
        ]
    )
    #expect(world.run("config", "generate.length").text == "30\n")
    #expect(world.run("config", "--unset", "generate.length").code == .done)
    #expect(world.run("config", "generate.length").code == .notFound)
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(text.contains("\"future\":[1]"))
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test(
    "an invalid setting is refused, and nothing is written",
    arguments: [
      ["clipboardSeconds", "-1"], ["clipboardSeconds", "x"], ["generate.length", "0"],
      ["generate.charset", "bogus"],
      ["stores.work", "relative"], ["stores.a/b", "/x"], ["stores.", "/x"], ["bogus", "x"],
      ["picker", "no-such-program"],
      ["picker", ""], ["picker", "cat \""], ["--unset"], ["--unset", "picker", "x"],
      ["defaultStore", "team"], ["defaultStore", "./team"],
    ])
  func refused(words: [String]) {
    let result = world.run(["config"] + words.map { Word($0) })
    #expect(result.code == .usage || words[0] == "picker" && result.code == .failure)
    #expect(!FileManager.default.fileExists(atPath: file))
  }

  @Test(
    "a file that cannot be used is an error of every command that needs it",
    arguments: [
      "{", "[]", "{\"clipboardSeconds\":\"x\"}", "{\"stores\":[]}", "{\"picker\":1}",
      "{\"generate\":{\"length\":-1}}", "{\"defaultStore\":\"team\"}",
    ])
  func damaged(text: String) throws {
    try write(text)
    for words in [["config"], ["find", "--store", "name"], ["generate", "a.example"]] {
      let result = world.run(words.map { Word($0) })
      #expect(
        result.code == .failure && result.diagnosticsText.contains("cannot use the settings in \(file)"))
    }
    #expect(world.run("find").code == .done, "the path of the store is no setting")
  }

  @Test(
    "a file that another user can write to is not used, because it names programs", arguments: [0o620, 0o602])
  func unsafeFile(mode: Int) throws {
    try write("{\"picker\":\"true\"}", mode: mode)
    #expect(world.run("config").diagnosticsText.contains("cannot trust \(file)"))
    #expect(world.run("find", "--store", "name").diagnosticsText.contains("cannot trust \(file)"))
  }

  @Test("a value that is not valid can be replaced or removed")
  func corrections() throws {
    try write("{\"clipboardSeconds\":\"x\",\"stores\":{\"a\":\"/a\"}}")
    #expect(world.run("config", "clipboardSeconds", "30").code == .done)
    #expect(world.run("config", "--json").text == "{\"clipboardSeconds\":30,\"stores.a\":\"/a\"}\n")
    try write("{\"clipboardSeconds\":\"x\"}")
    #expect(world.run("config", "--unset", "clipboardSeconds").code == .done)
    #expect(world.run("config", "--unset", "clipboardSeconds").code == .notFound)
    #expect(values == [])
    // The default store would name a folder below the current one.
    try write("{\"defaultStore\":\"a\",\"stores\":{\"a\":\"/a\"}}")
    #expect(world.run("config", "--unset", "stores.a").code == .usage)
  }

  @Test("a picker that other users can write to is not run")
  func unsafePicker() throws {
    let path = world.folder.path + "/picker"
    try ExecutableFile.write("#!/bin/sh\nhead -n 1\n", to: path, mode: 0o777)
    #expect(world.run("config", "picker", Word(path)).code == .failure)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    #expect(world.run("config", "picker", Word(path)).code == .done)
  }

  @Test("a store has a name, and a default")
  func stores() throws {
    try write("{\"stores\":{\"work\":\"\(world.store)\"}}")
    let elsewhere = ["KEYTREE_STORE": ""]
    #expect(world.run(["add", "a.example", "--store", "work"], input: [0x78], more: elsewhere).code == .done)
    #expect(world.run(["get", "a.example"], more: ["KEYTREE_STORE": "work"]).text == "x")
    #expect(world.run(["get", "a.example"], more: elsewhere).code == .notFound)
    #expect(world.run(["config", "defaultStore", "work"], more: elsewhere).code == .done)
    #expect(world.run(["get", "a.example"], more: elsewhere).text == "x")
    // A path is never a name.
    let path = world.run(["get", "a.example", "--store", "./work"], more: elsewhere)
    #expect(path.code != .done && path.diagnosticsText.contains("./work"))
  }

  @Test("a store is not asked for settings")
  func storeIsNotAsked() throws {
    try Data("{\"picker\":\"false\"}".utf8).write(to: URL(fileURLWithPath: world.store + "/config.json"))
    #expect(values == [])
  }

  @Test("generated secrets follow the settings unless an option says otherwise")
  func generated() throws {
    try write("{\"generate\":{\"length\":12,\"charset\":\"digits\"}}")
    #expect(world.run("generate", "a.example").code == .done)
    let digits = world.run("get", "a.example").output
    #expect(digits.count == 12 && digits.allSatisfy { (0x30...0x39).contains($0) })
    #expect(world.run("add", "b.example", "--generate=5").code == .done)
    #expect(world.run("get", "b.example").output.count == 5)
    #expect(world.run("generate", "c.example", "40", "--charset", "lower").code == .done)
    #expect(world.run("get", "c.example").output.allSatisfy { (0x61...0x7A).contains($0) })
  }
}
