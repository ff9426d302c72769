import Foundation
import Glibc
import Keyring
import Sync
import TestSupport
import Testing

@Suite("Set-up of clones", .serialized)
struct SetupTests {
  /// The folder of a store in a work tree.
  static let prefixes = ["", "store/", "st [o]*re/", "a\"b/ü/"]

  /// A file of a store, with the drivers that git must use to merge it and to show it.
  static let files = [
    ("index/31.jsonl", "keytree-index", "keytree-index"),
    ("items/internet-password/github.com/alice.gpg", "keytree-item", "keytree-item"),
    ("items/.gitattributes", "binary", "unset"), ("policy.json", "binary", "set"),
    ("keys/A.asc", "binary", "unset"), ("README.md", "set", "set"), (".gitignore", "set", "set"),
  ]

  @Test(arguments: prefixes, files)
  func `pushed attributes never override ours`(prefix: String, file: (String, String, String)) throws {
    let world = try PlainRepository()
    let hostile = "* text eol=crlf ident filter=evil working-tree-encoding=UTF-16 diff=evil merge=union\n"
    for folder in ["", prefix, "\(prefix)index/", "\(prefix)items/internet-password/github.com/"] {
      try world.write(hostile, to: "\(folder).gitattributes")
    }
    try world.write("[attr]keytree-item filter=evil\n" + hostile, to: ".gitattributes")
    try world.setUp(prefix: prefix)
    let path = prefix + file.0
    let fields = try world.git(["check-attr", "-z", "-a", "--", path]).split(separator: "\0")
    var values: [String: String] = [:]
    for start in stride(from: 0, to: fields.count - 2, by: 3) {
      values[String(fields[start + 1])] = String(fields[start + 2])
    }
    for name in ["text", "eol", "ident", "filter", "working-tree-encoding"] {
      #expect(values[name] == "unset", "\(name)")
    }
    #expect(values["merge"] == file.1)
    #expect(values["diff"] == file.2)
  }

  @Test func `lines of the user and of another store are unchanged`() throws {
    let world = try PlainRepository()
    try world.write("*.png lockable\n", to: ".git/info/attributes")
    try world.setUp(prefix: "a/")
    try world.setUp(prefix: "b/")
    let once = try world.read(".git/info/attributes")
    #expect(once.hasPrefix("*.png lockable\n"))
    #expect(once.contains("/a/index/*.jsonl diff=keytree-index") && once.contains("/b/index/*.jsonl"))
    #expect(try world.setUp(prefix: "a/") == true, "the block goes to the end")
    #expect(try world.setUp(prefix: "a/") == false)
    #expect(try world.read(".git/info/attributes").count == once.count)
  }

  @Test func `concurrent writers of the attributes, and files of a killed one, do no harm`()
    throws
  {
    let world = try PlainRepository()
    try world.setUp(prefix: "")
    let once = try world.read(".git/info/attributes")
    // All temporary files of an earlier version had this name. Here it is a folder, which cannot be removed.
    try world.write("", to: ".git/info/attributes.keytree/x")
    for _ in 0..<20 {
      try world.write("", to: ".git/info/attributes")
      try ThreadGroup.run(4) { _ in _ = try world.setUp(prefix: "") }
      #expect(try world.read(".git/info/attributes") == once)
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(world.path)/.git/info")
    #expect(Set(names).isSubset(of: ["attributes", "attributes.keytree", "exclude"]))
  }

  @Test func `changed settings are corrected, and then nothing is done`() throws {
    let world = try PlainRepository()
    #expect(try world.setUp(prefix: ""))
    #expect(try world.setUp(prefix: "") == false)
    let config = try world.git(["config", "--local", "--list"])
    try world.git(["config", "merge.keytree-item.driver", "touch PWNED"])
    try world.git(["config", "--add", "diff.keytree-index.textconv", "touch PWNED"])
    try world.git(["config", "merge.keytree-index.recursive", "ours"])
    #expect(try world.setUp(prefix: ""))
    let lines = { (text: String) in text.split(separator: "\n").sorted() }
    #expect(lines(try world.git(["config", "--local", "--list"])) == lines(config))
  }

  @Test func `a link in place of the attributes is not followed`() throws {
    let world = try PlainRepository()
    try world.write("mine\n", to: "target")
    try FileManager.default.createDirectory(
      atPath: "\(world.path)/.git/info", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: "\(world.path)/.git/info/attributes", withDestinationPath: "../../target")
    #expect(throws: GitError.specialFiles(paths: [".git/info/attributes"])) { try world.setUp(prefix: "") }
    #expect(try world.read("target") == "mine\n")
  }

  @Test func `the program is called by its name if that finds it, else by its quoted path`() throws {
    let world = try PlainRepository()
    let program = "\(world.path)/it's 100%\u{301}/keytree"
    try world.write("", to: "it's 100%\u{301}/keytree")
    _ = unsafe chmod(program, 0o700)
    let repository = try world.repository(prefix: "")
    _ = try RepositorySetup(program: program, searchPath: "/usr/bin").apply(to: repository)
    let driver = try world.git(["config", "merge.keytree-item.driver"])
    #expect(driver == "'\(world.path)/it'\\''s 100%%\u{301}/keytree' merge-driver item %O %A %B %P\n")
    _ = try RepositorySetup(program: program, searchPath: "\(world.path)/it's 100%\u{301}").apply(
      to: repository)
    #expect(
      try world.git(["config", "merge.keytree-item.driver"]) == "keytree merge-driver item %O %A %B %P\n")
  }
}

/// A repository without a store.
final class PlainRepository: Sendable {
  let world: SyncWorld
  let path: String

  init() throws {
    world = try SyncWorld()
    path = "\(world.store.folder.path)/plain"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    try world.git(["init", "-q", "--template=", "-b", "main"], in: path)
  }

  @discardableResult
  func git(_ words: [String]) throws -> String { try world.git(words, in: path) }

  func write(_ text: String, to file: String) throws {
    let url = URL(fileURLWithPath: "\(path)/\(file)")
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: url, atomically: false, encoding: .utf8)
  }

  func read(_ file: String) throws -> String {
    try String(contentsOf: URL(fileURLWithPath: "\(path)/\(file)"), encoding: .utf8)
  }

  func repository(prefix: String) throws -> Repository {
    try FileManager.default.createDirectory(atPath: "\(path)/\(prefix)", withIntermediateDirectories: true)
    let found = try Repository.around(store: "\(path)/\(prefix)", git: world.makeGit)
    guard let found else { throw SyncWorld.GitFailed(words: "no repository") }
    return found
  }

  @discardableResult
  func setUp(prefix: String) throws -> Bool {
    try RepositorySetup(program: "/opt/keytree", searchPath: "/usr/bin")
      .apply(to: repository(prefix: prefix))
  }
}
