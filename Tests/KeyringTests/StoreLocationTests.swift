import Foundation
import Keyring
import TestSupport
import Testing

/// Tests that a program finds the store that the command would use.
@Suite struct StoreLocationTests {
  private let store = StandInStore()
  private let home = ScratchFolder()

  init() throws { try store.create() }

  private func write(_ settings: String) throws {
    let folder = URL(fileURLWithPath: "\(home.path)/.config/keytree")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(settings.utf8).write(to: folder.appendingPathComponent("config.json"))
  }

  private func open(_ name: String? = nil, _ more: [String: String] = [:]) throws -> Keyring {
    var variables = [
      "HOME": home.path, "XDG_STATE_HOME": "\(store.folder.path)/state", "PATH": "/usr/bin:/bin",
    ]
    variables.merge(more) { $1 }
    return try Keyring.open(store: name, environment: variables)
  }

  @Test func `a program opens the store of KEYTREE_STORE, by its path or its name`() throws {
    try write(#"{"stores": {"work": "\#(store.path)"}, "clipboardSeconds": 5}"#)
    for name in [store.path, "work"] {
      #expect(try open(nil, ["KEYTREE_STORE": name]).find(Query()).items.isEmpty)
      #expect(try open(name).find(Query()).items.isEmpty)
    }
  }

  @Test func `a program opens the default store of the settings`() throws {
    try write(#"{"stores": {"work": "\#(store.path)"}, "defaultStore": "work"}"#)
    #expect(try open().find(Query()).items.isEmpty)
    #expect(throws: KeyringError.noStore(path: "/nonexistent")) {
      try open(nil, ["KEYTREE_STORE": "/nonexistent"])
    }
  }

  @Test func `without settings the store is in the folder for data`() throws {
    #expect(throws: KeyringError.noStore(path: "\(home.path)/.local/share/keytree")) { try open() }
    #expect(throws: KeyringError.noStore(path: "\(home.path)/data/keytree")) {
      try open(nil, ["XDG_DATA_HOME": "\(home.path)/data"])
    }
    #expect(throws: KeyringError.location(.homeUnknown)) { try open(nil, ["HOME": ""]) }
  }

  @Test(arguments: [
    ("[]", "the file", "a JSON object"), (#"{"defaultStore": 5}"#, "defaultStore", "text that is not empty"),
    (#"{"stores": [], "defaultStore": "x"}"#, "stores", "a JSON object"),
    (
      #"{"defaultStore": "x"}"#, "defaultStore",
      "the name of a store in `stores`, an absolute path, or one that begins with `~/`"
    ),
    (
      #"{"stores": {"x": "y"}, "defaultStore": "x"}"#, "stores.x",
      "an absolute path, or one that begins with `~/`"
    ),
  ])
  func `settings that cannot be used are an error with their path`(
    content: String, name: String, expected: String
  ) throws {
    try write(content)
    let path = "\(home.path)/.config/keytree/config.json"
    #expect(throws: KeyringError.location(.badSetting(name, mustBe: expected, path: path))) { try open() }
  }

  @Test func `settings that are not JSON are an error with their path`() throws {
    try write("no json")
    do {
      _ = try open()
      Issue.record("the store was opened")
    } catch KeyringError.location(.settingsNotJSON(let path, _)) {
      #expect(path == "\(home.path)/.config/keytree/config.json")
    }
  }

  @Test func `settings may be a link to another place`() throws {
    try write(#"{"defaultStore": "\#(store.path)"}"#)
    let folder = "\(home.path)/.config/keytree"
    try FileManager.default.moveItem(atPath: folder, toPath: "\(home.path)/dotfiles")
    try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: "\(home.path)/dotfiles")
    #expect(try open().find(Query()).items.isEmpty)
  }
}
