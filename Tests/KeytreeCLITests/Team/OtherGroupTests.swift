import Arguments
import CommandSupport
import KeyringModel
import Testing

/// Tests items that have the same name in several groups.
@Suite(.serialized) struct OtherGroupTests {
  private let fixture: CommandFixture

  init() throws {
    fixture = try CommandFixture.withoutGnuPG()
    #expect(fixture.run("group", "create", "ops").code == .done)
    #expect(fixture.run("add", "prod.example/root", "-g", "ops", input: Array("old".utf8)).code == .done)
  }

  private func groups() -> [String] {
    fixture.run("find", "prod.example", "--json").text.split(separator: "\n")
      .map { $0.contains("\"group\":\"ops\"") ? "ops" : "default" }.sorted()
  }

  /// Command lines without a group, and the exit code when the item is only in `ops`.
  static let unclear: [([Word], ExitCode)] = [
    (["add", "prod.example/root"], .alreadyExists),
    (["add", "prod.example/root", "--update"], .ambiguous),
    (["add", "prod.example/root", "--generate"], .alreadyExists),
    (["add", "internet:prod.example/root", "-l", "Root", "--update"], .ambiguous),
    (["generate", "prod.example/root"], .alreadyExists),
    (["generate", "prod.example/root", "20", "--update"], .ambiguous),
    (["add", "prod.example/root", "-r", "https"], .alreadyExists),
    (["add", "prod.example/root", "-P", "443", "--update"], .ambiguous),
    (["add", "prod.example:8443/root", "--update"], .ambiguous),
    (["add", "https://root@prod.example/login", "--update"], .ambiguous),
  ]

  @Test(arguments: unclear)
  func `an item that exists in another group needs a group`(words: [Word], code: ExitCode) {
    let result = fixture.run(words, input: Array("new".utf8))
    #expect(result.code == code, "\(result.diagnosticsText)")
    #expect(result.diagnosticsText.contains("in group \"ops\""), "\(result.diagnosticsText)")
    for group in ["-g ops`", "-g default`"] { #expect(result.diagnosticsText.contains(group)) }
    #expect(groups() == ["ops"])
    #expect(fixture.run("get", "prod.example/root").text == "old")
  }

  @Test func `the group decides which item is changed or added`() {
    #expect(
      fixture.run("add", "prod.example/root", "--update", "-g", "ops", input: Array("new".utf8)).code == .done
    )
    #expect(groups() == ["ops"] && fixture.run("get", "prod.example/root").text == "new")
    #expect(fixture.run("add", "prod.example/root", "-g", "default", input: Array("two".utf8)).code == .done)
    #expect(groups() == ["default", "ops"])
    // Now both exist.
    let result = fixture.run("add", "prod.example/root", "--update", input: Array("x".utf8))
    #expect(
      result.code == .ambiguous && result.diagnosticsText.contains("`-g ops`"), "\(result.diagnosticsText)")
    #expect(fixture.run("add", "prod.example/root", input: Array("x".utf8)).code == .alreadyExists)
    #expect(
      fixture.run("add", "prod.example/root", "--update", "-g", "default", input: Array("three".utf8)).code
        == .done)
    #expect(fixture.run("get", "prod.example/root", "-g", "default").text == "three")
    #expect(fixture.run("get", "prod.example/root", "-g", "ops").text == "new")
  }

  /// Items that differ from those in `ops` in their name, their class, or an attribute that both have.
  @Test(
    arguments: [
      ["prod.example/other"], ["other.example/root"], ["generic:prod.example/root"],
      ["ports.example/root", "-r", "ssh"], ["ports.example:22/root"], ["prod.example"],
    ] as [[Word]])
  func `an item with another name needs no group`(words: [Word]) {
    let ports: [Word] = ["add", "ports.example/root", "-r", "https", "-P", "443", "-g", "ops"]
    #expect(fixture.run(ports, input: Array("x".utf8)).code == .done)
    let result = fixture.run(["add"] + words, input: Array("x".utf8))
    #expect(result.code == .done, "\(result.diagnosticsText)")
  }

  /// Names, items of `default` that they mean, and items that a member of `ops` adds so that a preferred way to read the
  /// name finds them.
  static let takeovers: [(name: Word, item: [Word], other: [Word])] = [
    ("web/bank/alice", ["--service", "web/bank", "-a", "alice"], ["generic:web/bank/alice"]),
    ("https://bob@host.example", ["host.example/bob"], ["https://bob@host.example"]),
    ("host.example:443/bob", ["--server", "host.example:443", "-a", "bob"], ["host.example:443/bob"]),
    (
      "upper.example/x", ["--attribute", "server=Upper.Example", "-a", "x", "--class", "internet"],
      ["upper.example/x"]
    ),
  ]

  @Test(arguments: takeovers.indices)
  func `a member of another group cannot take over a name`(index: Int) {
    let (name, item, other) = Self.takeovers[index]
    #expect(fixture.run(["add"] + item, input: Array("mine".utf8)).code == .done)
    #expect(fixture.run("get", name).text == "mine")
    #expect(fixture.run(["add"] + other + ["-g", "ops"], input: Array("theirs".utf8)).code == .done)
    let commands: [[Word]] = [
      ["get", name], ["read", name], ["run", "--env", Word("X=\(name.approximateText)"), "--", "true"],
      ["rm", name],
      ["set", name, "--secret"], ["set", name, "-l", "x"], ["add", name, "--field", "note"],
    ]
    for words in commands {
      let result = fixture.run(words, input: Array("new".utf8))
      #expect(result.code == .ambiguous && result.text == "", "\(words): \(result.diagnosticsText)")
    }
    #expect(fixture.run("get", name, "-g", "default").text == "mine")
    #expect(fixture.run("get", name, "-g", "ops").text == "theirs")
  }

  @Test func `a label takes over neither the name of an item nor the label of another one`() {
    #expect(fixture.run("add", "work/jira", "-l", "Jira", input: Array("mine".utf8)).code == .done)
    #expect(fixture.run("get", "jira").text == "mine")
    let planted = ["evil/x", "-l", "work/jira", "-g", "ops"] as [Word]
    #expect(fixture.run(["add"] + planted, input: Array("theirs".utf8)).code == .done)
    #expect(fixture.run("get", "work/jira").text == "mine", "a name goes before a label")
    #expect(
      fixture.run("add", "evil/y", "-l", "JIRA", "-g", "ops", input: Array("theirs".utf8)).code == .done)
    for words in [["get", "jira"], ["set", "jira", "-j", "x"], ["rm", "jira"]] as [[Word]] {
      let result = fixture.run(words)
      #expect(result.code == .notFound && result.text == "", "\(words): \(result.diagnosticsText)")
    }
    #expect(fixture.run("get", "jira", "-g", "default").text == "mine")
  }

  @Test func `a field is stored in the group of its login`() {
    #expect(fixture.run("add", "prod.example/root", "--field", "pin", input: Array("1".utf8)).code == .done)
    #expect(fixture.run("get", "prod.example/root", "--field", "pin", "-g", "ops").text == "1")
  }
}
