import Arguments
import Credentials
import TestSupport
import Testing
@testable import CommandSupport
@testable import KeytreeCLI
@testable import Personalities
@testable import Terminal

@Suite("The program called by others", .serialized)
struct OtherProgramsTests {
  // The tests share one store; each test creates the items that it needs.
  let world: CommandFixture

  init() throws { world = try CommandFixture.withoutGnuPG() }

  @Test("the program speaks docker's protocol, with errors on standard output in docker's wording")
  func docker() throws {
    func docker(_ words: String..., input: String = "") -> ProgramResult {
      world.run(as: .dockerCredential, words, input: input)
    }
    let usage = "Usage: docker-credential-keytree <store|get|erase|list|version>\n"
    let entry = #"{"ServerURL":"https://r.example/v1/","Username":"bob","Secret":"s\n"}"#
    for (result, status, text) in [
      (docker("store", input: entry), 0, ""),
      (docker("get", input: " https://r.example/v1/\r\n"), 0, entry + "\n"),
      (docker("list", input: "unused"), 0, #"{"https://r.example/v1/":"bob"}"# + "\n"),
      (docker("get", input: "other.example"), 1, "credentials not found in native keychain\n"),
      (docker("erase", input: "other.example\n"), 1, "credentials not found in native keychain\n"),
      (docker("get", input: "\n"), 1, "no credentials server URL\n"),
      (docker("erase"), 1, "no credentials server URL\n"),
      (docker("store", input: #"{"Username":"u","Secret":"s"}"#), 1, "no credentials server URL\n"),
      (docker("store", input: #"{"ServerURL":"r","Secret":"s"}"#), 1, "no credentials username\n"),
      (docker("erase", input: "r.example/v1/"), 0, ""), (docker("list"), 0, "{}\n"), (docker(), 1, usage),
      (docker("get", "x"), 1, usage), (docker("--help"), 0, usage), (docker("-h"), 0, usage),
      (docker("push"), 1, "docker-credential-keytree: unknown action: push\n"),
      (docker("version"), 0, "docker-credential-keytree (keytree) \(ProgramVersion.number)\n"),
      (docker("-v"), 0, "docker-credential-keytree (keytree) \(ProgramVersion.number)\n"),
    ] {
      #expect(result.status == Int32(status) && result.text == text && result.talk.isEmpty)
    }
  }

  @Test("an invalid message of docker stores nothing and is not shown")
  func dockerBadInput() throws {
    for message in [
      "", "{", "hunter2", #"{"ServerURL":"h","Username":"u","Secret":"hunter2""#, "\u{FF}\u{FE}{\"hunter2\"}",
      #"{"ServerURL":["hunter2"],"Username":"u","Secret":"s"}"#,
      #"{"ServerURL":"h","Username":"u","Secret":"hunter2"#,
      #"{"ServerURL":"a b","Username":"u","Secret":"hunter2"}"#,
      #"{"ServerURL":"h","Username":"u","Secret":"hunter2"# + String(repeating: "x", count: 1 << 20) + "\"}",
      #"{"ServerURL":"h","Username":""# + String(repeating: "x", count: 1 << 20) + #"","Secret":"hunter2"}"#,
    ] {
      let result = world.run(as: .dockerCredential, ["store"], input: message)
      #expect(result.status == 1 && !result.text.isEmpty && !result.text.contains("hunter2"))
    }
    // An empty store is not an error: `find` prints nothing on standard output.
    let found = world.run("find")
    #expect(found.code == .done && found.text.isEmpty)
  }

  @Test("the program speaks cargo's protocol, line by line")
  func cargo() throws {
    func request(_ kind: String, _ more: String = "") -> String {
      #"{"v":1,"kind":"\#(kind)","registry":{"index-url":"sparse+https://r/","name":"r"},"args":[]\#(more)}"#
        + "\n"
    }
    let result = world.run(
      as: .cargoCredential, ["--cargo-plugin"],
      input: request("get") + request("login", #","token":"hunter2""#) + request("get") + "hunter2\n"
        + request("later")
        + request("logout") + request("logout") + request("get"))
    let lines = result.text.split(separator: "\n").map(String.init)
    #expect(result.status == 0 && lines.count == 9)
    #expect(lines[0] == #"{"v":[1]}"#)
    #expect(lines[1] == #"{"Err":{"kind":"not-found"}}"#)
    #expect(lines[2] == #"{"Ok":{"kind":"login"}}"#)
    #expect(
      lines[3] == #"{"Ok":{"kind":"get","token":"hunter2","cache":"session","operation_independent":true}}"#)
    #expect(lines[4].hasPrefix(#"{"Err":{"caused-by":["#) && !lines[4].contains("hunter2"))
    #expect(lines[5] == #"{"Err":{"kind":"operation-not-supported"}}"#)
    #expect(lines[6] == #"{"Ok":{"kind":"logout"}}"#)
    #expect(lines[7...] == [#"{"Err":{"kind":"not-found"}}"#, #"{"Err":{"kind":"not-found"}}"#])
    let alone = world.run(as: .cargoCredential, [])
    #expect(alone.status == 2)
    #expect(
      alone.talk.contains(
        "`global-credential-providers = [\"cargo-credential-keytree\"]` in the section `[registry]`"))
  }

  @Test("the program answers like Python's keyring")
  func keyring() throws {
    func keyring(_ words: String..., input: String = "") -> ProgramResult {
      world.run(as: .keyring, words, input: input)
    }
    #expect(keyring("set", "s", "-a b", input: "p w\n\n").status == 0)
    for (result, status, text) in [
      (keyring("get", "s", "-a b"), 0, "p w\n\n"), (keyring("get", "--", "s", "-a b"), 0, "p w\n\n"),
      (keyring("--mode", "creds", "get", "s"), 0, "-a b\np w\n\n"),
      (
        keyring("--mode=creds", "--output=json", "get", "s"), 0,
        #"{"password":"p w\n","username":"-a b"}"# + "\n"
      ),
      (keyring("--output", "json", "get", "s", "-a b"), 0, #"{"password":"p w\n"}"# + "\n"),
      (keyring("get", "s", "other"), 1, ""), (keyring("get", "s"), 2, ""), (keyring(), 2, ""),
      (keyring("list"), 2, ""), (keyring("--mode", "x", "get", "s", "a"), 2, ""),
      (keyring("del", "s", "-a b"), 0, ""),
      (keyring("del", "s", "-a b"), 1, ""), (keyring("get", "s", "-a b"), 1, ""),
      (keyring("set", "s", "a"), 1, ""),
    ] {
      #expect(result.status == Int32(status) && result.text == text)
    }
  }

  @Test("the program answers ssh's questions only")
  func askPass() throws {
    func ask(_ question: String, more: [String: String] = [:]) -> ProgramResult {
      let (output, talk) = (MemoryOutput(), MemoryOutput())
      let console = Console(
        input: BytesInput([], isTerminal: false, screen: talk), output: output, talk: talk)
      let call = CommandCall(
        withoutOptionsIn: Environment(world.variables.merging(more) { $1 }), console, engine: world.engine)
      let status = AskPassProgram(call, caller: { _ in .keyProgram(key: nil) }).status(of: [Word(question)])
      return ProgramResult(status: status, output: output.bytes, talk: talk.text)
    }
    _ = world.run("add", "generic:ssh/-k x'\"$", input: Array("pass phrase".utf8))
    _ = world.run("add", "generic:ssh/two", input: Array("two\nlines".utf8))
    let known = "Enter passphrase for /home/u/-k x'\"$: "
    #expect(ask(known).status == 0 && ask(known).text == "pass phrase\n")
    for (question, more) in [
      (known, ["SSH_ASKPASS_PROMPT": "confirm"]), ("Bad passphrase, try again for /home/u/-k x'\"$: ", [:]),
      ("Enter passphrase for /other: ", [:]), ("Continue connecting (yes/no)? ", [:]),
      ("Enter passphrase for /two: ", [:]), ("", [:]),
    ] {
      let result = ask(question, more: more)
      #expect(result.status == 1 && result.output.isEmpty && result.talk.hasPrefix("keytree: "))
    }
  }

  @Test("the help explains all exit codes of git's helper")
  func gitExitCodes() {
    let text = String(decoding: world.run("help", "credential", "git").output, as: UTF8.self)
    for code in [3, 4, 7, 8, 9, 10, 11, 12] { #expect(text.contains("\n  \(code) "), "\(code)") }
  }

  @Test("the help of keytree-askpass shows how ssh calls it", arguments: ["--help", "-h"])
  func askPassHelp(word: String) {
    let result = world.run(as: .askPass, [word])
    #expect(result.status == 0 && result.talk.isEmpty)
    #expect(result.text == "Usage: SSH_ASKPASS=keytree-askpass SSH_ASKPASS_REQUIRE=force ssh HOST\n")
  }

  @Test(
    "any other name means keytree itself",
    arguments: ["keytree", "/usr/bin/Security", "", "x/keytree-2"])
  func names(path: String) {
    #expect(ProgramName(path: Array(path.utf8)) == .keytree)
  }

  @Test("the last component of the path determines the program", arguments: ProgramName.allCases)
  func lastPart(name: ProgramName) {
    for path in ["/usr/local/bin/", "./", "", "a/b/"] {
      #expect(ProgramName(path: Array((path + name.rawValue).utf8)) == name)
    }
  }
}
