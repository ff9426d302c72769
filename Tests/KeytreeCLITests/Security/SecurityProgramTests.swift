import Arguments
import CommandSupport
import Foundation
import KeyringModel
import TestSupport
import Testing
@testable import KeytreeCLI
@testable import Personalities

@Suite("The program under the name security", .serialized, .slow)
struct SecurityProgramTests {
  @Test(
    "the name of the program selects the personality security",
    arguments: [
      ("security", true), ("/usr/bin/security", true), ("./security", true), ("security2", false),
      ("/security/x", false),
    ])
  func name(path: String, isSecurity: Bool) {
    #expect((ProgramName(path: path.utf8) == .security) == isSecurity)
  }

  @Test("security -i runs the lines of standard input, and exits with the status of the last one")
  func lines() throws {
    let world = try SecurityFixture()
    let result = world.script(
      """
      add-generic-password -s "my service" -a 'it''s' -w "a \\"b\\""

      add-generic-password -s 'my service' -a me -w 'TOP SECRET'
         find-generic-password -a me -w
      nonsense
      find-generic-password -s none
      add-generic-password -s
      find-generic-password -s 'my service' -w
      """)
    #expect(result.status == 0)
    #expect(result.text == "TOP SECRET\nTOP SECRET\n")
    #expect(!result.talk.contains("warning"), "other users cannot see standard input")
    #expect(
      result.talk.contains("security: unknown command \"nonsense\"\nnonsense: returned 1\n"))
    #expect(result.talk.contains(SecurityFixture.notFound + "find-generic-password: returned -25300\n"))
    #expect(result.talk.contains("add-generic-password: returned 2\n"))
    #expect(world.script("find-generic-password -s none\n").status == 44)
    let quiet = world.script("find-generic-password -s none", "-q")
    #expect(quiet.talk == SecurityFixture.notFound)
    #expect(world.script("").status == 0)
    #expect(world.run(["-p", "> "], input: Array("find-gen -wa me".utf8)).text == "TOP SECRET\n")
  }

  @Test("a usage of several lines is printed line by line")
  func usage() throws {
    let world = try SecurityFixture()
    let help = world.run(["help", "add-generic-password", "add-internet-password"])
    #expect(help.status == 0 && help.text.hasPrefix("Usage: add-generic-password -a account"))
    let wrong = world.run(["add-generic-password", "-s"])
    #expect(wrong.status == 2 && wrong.talk.contains("Usage: add-generic-password -a account"))
    for text in [help.text, wrong.talk] {
      #expect(!text.contains("\\n") && text.split(separator: "\n").count > 3)
    }
  }

  @Test("a prompt is shown on a terminal only")
  func prompts() throws {
    let world = try SecurityFixture()
    let line = Array("find-generic-password -s none\n".utf8)
    let person = world.run(["-i", "-q"], input: line, isTerminal: true)
    #expect(person.talk == "security> " + SecurityFixture.notFound + "security> ")
    #expect(world.run(["-p", "me: ", "-q"], input: [], isTerminal: true).talk == "me: ")
    #expect(world.run(["-i"], input: []).talk == "")
  }

  @Test("-w at the end asks twice, and at most three times", arguments: [true, false])
  func asks(isTerminal: Bool) throws {
    let world = try SecurityFixture()
    let (first, second) = ("password data for new item: ", "retype password for new item: ")
    func add(_ service: String, _ answers: String) -> SecurityFixture.Result {
      world.security(
        "add-generic-password", "-a", "me", "-s", service, "-w", input: Array(answers.utf8),
        isTerminal: isTerminal)
    }
    let once = add("once", "pä\npä\n")
    #expect(once.status == 0)
    #expect(once.talk == first + second)
    #expect(world.security("find-generic-password", "-s", "once", "-w").text == "70c3a4\n")
    let again = add("again", "a\nb\nc\nc\n")
    #expect(again.status == 0)
    #expect(again.talk == first + second + "passwords don't match\n" + first + second)
    #expect(world.security("find-generic-password", "-s", "again", "-w").text == "c\n")
    #expect(add("never", "a\nb\na\nb\na\nb\na\na\n").status == 1)
    #expect(add("ended", "a\n").status != 0)
    #expect(world.security("find-generic-password", "-s", "never").status == 44)
    #expect(world.security("find-generic-password", "-s", "ended").status == 44)
    let taken = add("once", "")
    #expect(taken.status == 45)
    #expect(!taken.talk.contains(first), "a password that cannot be stored is not asked for")
    #expect(add("empty", "\n\n").status == 0)
    #expect(world.security("find-generic-password", "-s", "empty", "-w").text == "\n")
  }

  @Test("the largest secret is accepted in hexadecimal, and no larger one")
  func large() throws {
    let world = try SecurityFixture()
    let secret = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 * 7) }
    let digits = SecurityText.hexadecimal(secret)
    #expect(world.script("add-generic-password -s big -a me -X \(digits)\n").status == 0)
    #expect(world.security("find-generic-password", "-s", "big", "-w").text == digits.lowercased() + "\n")
    let tooLarge = world.script("add-generic-password -s more -a me -X \(digits)00\n")
    #expect(tooLarge.status == 42)
    #expect(world.security("find-generic-password", "-s", "more").status == 44)
  }

  @Test("control characters of attributes are escaped", arguments: [false, true])
  func escapes(isTerminal: Bool) throws {
    let world = try SecurityFixture()
    let evil = "e\u{1B}]52;c;x\u{7}\u{9B}2J\u{202E}\r\n\"q\\"
    let words = [
      "-s", evil, "-a", evil, "-l", evil, "-j", evil, "-D", evil,
    ]
    let more = ["-p", evil, "-d", evil, "-r", "\u{1B}[2J", "-t", "\u{1B}[2J", "-c", "\u{1B}[2J"]
    func run(_ words: [String]) -> SecurityFixture.Result {
      world.run(words.map { Word($0) }, isTerminal: isTerminal)
    }
    #expect(run(["add-generic-password"] + words + ["-G", evil, "-X", "1b5d"]).status == 0)
    #expect(run(["add-internet-password"] + words + more).status == 0)
    let results = [
      run(["find-generic-password", "-g"]), run(["find-generic-password", "-w"]),
      run(["find-internet-password", "-g"]),
      run(["dump-keychain"]), run(["add-generic-password"] + words), run([evil]), run(["help", evil]),
      run(["find-internet-password", "-r", evil]), run(["find-internet-password", "-r", "\u{1B}[2"]),
      run(["delete-certificate", "-c", evil]), run(["delete-generic-password"] + words),
    ]
    for result in results {
      #expect(!result.text.isEmpty || !result.talk.isEmpty)
      let isPlain = { (scalar: Unicode.Scalar) in scalar == "\n" || (0x20...0x7E).contains(scalar.value) }
      #expect(result.text.unicodeScalars.allSatisfy(isPlain), "\(result.text)")
      #expect(result.talk.unicodeScalars.allSatisfy(isPlain), "\(result.talk)")
    }
  }

  private static let secretive: [[String]] = [
    ["add-generic-password", "-s", "x", "-w", "MARKER"],
    ["add-generic-password", "-s", "x", "-a", "y", "-X", "MARKER"],
    ["add-generic-password", "-s", "x", "-a", "y", "-wMARKER", "-c", "abc"],
    ["add-generic-password", "-s", "x", "-a", "y", "-w", "MARKER", "-Q"],
    ["add-generic-password", "-p", "MARKER", "-w", "MARKER", "-a", "y", "-s", "x", "k", "k"],
    ["add-internet-password", "-s", "x", "-a", "y", "-w", "MARKER", "-P", "x"],
    ["-v", "add-generic-password", "-s", "x", "-a", "y", "-w", "MARKER"],
    ["unlock-keychain", "-p", "MARKER", "k"],
    ["create-keychain", "-p", "MARKER", "k"], ["set-keychain-password", "-o", "MARKER", "-p", "MARKER"],
    ["import", "file", "-k", "x", "-P", "MARKER"],
    ["set-generic-password-partition-list", "-k", "MARKER", "-s", "x"],
    ["set-key-partition-list", "-S", "apple:", "-s", "-k", "MARKER"],
  ]

  @Test("a secret from the command line is never printed, however the command ends")
  func silence() throws {
    let world = try SecurityFixture()
    for (words, store) in Self.secretive.flatMap({ words in
      [(words, world.world.store), (words, "/nonexistent")]
    }) {
      let result = world.run(words.map { Word($0) }, more: ["KEYTREE_STORE": store])
      #expect(!(result.text + result.talk).contains("MARKER"), "\(words)")
      #expect(!(result.text + result.talk).isEmpty, "\(words)")
    }
  }

  @Test("simple questions about the keychain are answered truthfully")
  func keychain() throws {
    let world = try SecurityFixture()
    let place = "    \"\(world.world.store)\"\n"
    for words in [
      ["list-keychains"], ["list-keychains", "-d", "user"], ["default-keychain"], ["login-keychain"],
    ] {
      let result = world.run(words.map { Word($0) })
      #expect(result.text == place)
      #expect(result.status == 0)
    }
    #expect(world.security("list-keychains", "-s", "x").status == 252)
    #expect(world.security("show-keychain-info").talk == "Keychain \"\(world.world.store)\" no-timeout\n")
    #expect(world.security("unlock-keychain", "-u").status == 0)
    #expect(world.security("lock-keychain", "-a").status == 252)
    let identities = world.security("find-identity", "-p", "codesigning")
    #expect(identities.text.contains("     0 identities found\n"))
    #expect(world.security("find-identity", "-v").text == "     0 valid identities found\n")
    #expect(world.security("version").text == "keytree \(ProgramVersion.number)\n")
    for words in [["dump-keychain", "-d"], ["dump-keychain", "-r"], ["dump-keychain", "-ad"]] {
      let result = world.run(words.map { Word($0) })
      #expect(result.status == 206)
      #expect(result.text == "")
    }
    let nowhere = ["KEYTREE_STORE": world.world.folder.path + "/none"]
    #expect(world.security("list-keychains", more: nowhere).text == "")
    #expect(world.security("default-keychain", more: nowhere).status == 37)
    #expect(world.security("find-generic-password", "-s", "x", more: nowhere).status == 50)
    #expect(world.security("add-generic-password", "-s", "x", "-a", "y", more: nowhere).status == 50)
  }

  @Test("help lists every command, and an unknown command is reported")
  func help() throws {
    let world = try SecurityFixture()
    for words in [["help"], ["-h"]] as [[Word]] {
      let result = world.run(words)
      #expect(result.status == 0)
      for command in SecurityCommands.all { #expect(result.text.contains("    \(command.name) ")) }
    }
    #expect(world.security("help", "find-gen").text.hasPrefix("Usage: find-generic-password [-a account]"))
    #expect(world.security("-h", "nope").status == 1)
    let none = world.run([])
    #expect(none.status == 2)
    #expect(none.text.hasPrefix("Usage: security [-h] [-i] [-l] [-p prompt] [-q] [-v] [command]"))
    #expect(world.security("-Z").status == 2)
    let unknown = world.security("find-genetic-password")
    #expect(unknown.status == 1)
    #expect(unknown.talk == "security: unknown command \"find-genetic-password\"\n")
  }

  @Test("nothing is decrypted, and no process is started, unless a password or a certificate is printed")
  func reading() throws {
    let world = try SecurityFixture()
    #expect(world.world.run("add", "generic:svc/me", input: [0x31]).code == .done)
    #expect(world.world.run("add", "host/me", input: [0x31]).code == .done)
    let nothing = world.world.folder.path + "/nothing"
    let bare = ["PATH": nothing, "GNUPGHOME": nothing, "XDG_STATE_HOME": nothing]
    for words in [
      ["find-generic-password", "-s", "svc"], ["find-internet-password", "-s", "host"], ["dump-keychain"],
      ["set-generic-password-partition-list", "-s", "svc"],
    ] {
      let result = world.run(words.map { Word($0) }, more: bare)
      #expect(result.status == 0, "\(words)")
      #expect(result.text.contains("\"acct\"<blob>=\"me\""), "\(words)")
    }
    #expect(world.security("find-certificate", "-a", more: bare).status == 0)
    #expect(world.security("find-generic-password", "-s", "svc", "-w", more: bare).status != 0)
  }

  @Test("a change that git fails to commit is stored, reported, and committed by the next command")
  func gitFails() throws {
    let world = try SecurityFixture()
    let lock = world.world.store + "/.git/index.lock"
    #expect(FileManager.default.createFile(atPath: lock, contents: nil))
    let before = world.commits
    let result = world.security("add-generic-password", "-s", "svc", "-a", "me")
    #expect(result.status == 1)
    #expect(result.talk.hasPrefix("keytree: "))
    #expect(world.security("find-generic-password", "-s", "svc", "-w").text == "\n")
    try FileManager.default.removeItem(atPath: lock)
    #expect(world.commits == before)
    #expect(world.security("delete-generic-password", "-s", "none").status == 44)
    #expect(world.commits == before + 1)
  }

  @Test(
    "a secret that is damaged, cannot be decrypted or is not trusted has a status, and a reason from keytree")
  func trouble() throws {
    let world = try SecurityFixture()
    #expect(world.world.run("add", "generic:svc/me", input: [0x31]).code == .done)
    #expect(world.world.run("add", "generic:svc/you", input: [0x32]).code == .done)
    let items = world.world.store + "/items/generic-password/svc"
    let (mine, yours) = (items + "/me.gpg", items + "/you.gpg")
    // The file is replaced with that of another item.
    let original = try Data(contentsOf: URL(fileURLWithPath: mine))
    try Data(contentsOf: URL(fileURLWithPath: yours)).write(to: URL(fileURLWithPath: mine))
    let swapped = world.security("find-generic-password", "-a", "me", "-w")
    #expect(swapped.status == 93)
    #expect(swapped.text == "")
    #expect(
      swapped.talk.hasPrefix(
        "security: SecKeychainItemCopyContent: The data of the item cannot be read.\nkeytree: "))
    #expect(swapped.talk.contains("\nhint: "))
    #expect(
      world.security("find-generic-password", "-a", "me").status == 0, "attributes do not require the file")
    try original.write(to: URL(fileURLWithPath: mine))
    // This user does not have the key.
    let stranger = try GnuPGHome(secret: [.bob])
    defer { stranger.close() }
    let locked = world.security("find-generic-password", "-a", "me", "-w", more: ["GNUPGHOME": stranger.home])
    #expect(locked.status != 0)
    #expect(locked.text == "")
    #expect(locked.talk.contains("keytree: "))
    // The policy was changed.
    let policy = URL(fileURLWithPath: world.world.store + "/policy.json")
    let text = try String(contentsOf: policy, encoding: .utf8)
    try Data(text.replacing("Alice", with: "Alicf").utf8).write(to: policy)
    let distrusted = world.security("add-generic-password", "-s", "new", "-a", "me")
    #expect(distrusted.status == 53)
    #expect(distrusted.talk.contains("not trusted"))
  }
}
