import Arguments
import CommandSupport
import Foundation
import KeyringModel
import TestSupport
import Testing
@testable import KeytreeCLI

@Suite("Passwords under the name security", .serialized)
struct SecurityCommandTests {
  /// A command line, its output, its diagnostics and its status. `<TIME>` and `<STORE>` represent text that varies.
  private struct Row {
    let words: [String]
    let output: String
    let talk: String
    let status: Int32

    init(_ words: [String], _ output: String = "", talk: String = "", status: Int32 = 0) {
      self.words = words
      self.output = output
      self.talk = talk
      self.status = status
    }
  }

  @Test func `an item with the same name in several groups is ambiguous`() throws {
    let world = try SecurityFixture.withoutGnuPG()
    for words in [["group", "create", "ops"], ["add", "generic:mailer/bot"]] + [
      ["add", "generic:mailer/bot", "--group", "ops"]
    ] {
      let result = world.world.run(words.map { Word($0) }, input: Array("secret".utf8))
      try #require(result.code == .done, "\(result.diagnosticsText)")
    }
    let find = ["-s", "mailer", "-a", "bot"]
    for words in [
      ["find-generic-password", "-w"] + find, ["find-generic-password"] + find,
      ["add-generic-password", "-U", "-w", "new"] + find, ["delete-generic-password"] + find,
    ] {
      let result = world.run(words.map { Word($0) })
      #expect(result.status == 1 && result.text.isEmpty, "\(words)")
      #expect(result.talk.contains("2 items match"), "\(result.talk)")
    }
    #expect(world.security("find-generic-password", "-s", "mailer").status == 1)
    #expect(world.run((["add-generic-password", "-w", "new"] + find).map { Word($0) }).status == 45)
    for group in ["default", "ops"] {
      let result = world.world.run(["get", "generic:mailer/bot", "--group", Word(group)])
      #expect(result.text == "secret")
    }
  }

  @Test func `security replaces an item in its group, and removes none that others use`() throws {
    let world = try SecurityFixture.withoutGnuPG()
    let standIn = try #require(world.world.standIn)
    try standIn.join(EngineDouble.fingerprint(2), "default", "ops")
    for words in [["generic:mailer/bot"], ["mail.example/bot"]] {
      let result = world.world.run(
        (["add"] + words + ["-g", "ops"]).map { Word($0) }, input: Array("old".utf8))
      try #require(result.code == .done, "\(result.diagnosticsText)")
    }
    let removal = world.security("delete-generic-password", "-s", "mailer")
    #expect(
      removal.status == 30 && removal.talk.contains("other members of group \"ops\""), "\(removal.talk)")
    let add = world.security("add-generic-password", "-U", "-s", "mailer", "-a", "bot", "-w", "new")
    #expect(add.status == 0, "\(add.talk)")
    #expect(world.world.run("get", "generic:mailer/bot", "-g", "ops").text == "new")
    // The protocol makes it another item, with the same name.
    let second = world.security(
      "add-internet-password", "-U", "-s", "mail.example", "-a", "bot", "-r", "imap", "-w", "x")
    #expect(second.status == 45 && second.talk.contains("is in group \"ops\""), "\(second.talk)")
    #expect(world.world.run("find", "--json").text.split(separator: "\n").count == 2)
  }

  private func follow(_ rows: [Row], in world: SecurityFixture) {
    for row in rows {
      let result = world.run(row.words.map { Word($0) })
      let output = result.text
        .replacing(/0x[0-9A-F]{32}  "[0-9]{14}Z\\000"/, with: "<TIME>")
        .replacing("\"\(world.world.store)\"", with: "<STORE>")
      #expect(output == row.output, "\(row.words)")
      #expect(result.talk.replacing(world.world.store, with: "<STORE>") == row.talk, "\(row.words)")
      #expect(result.status == row.status, "\(row.words)")
    }
  }

  /// The printed block of an item, with the attributes that exist.
  private func block(_ itemClass: String, _ values: [String: String]) -> String {
    let generic = [
      "0x00000007 <blob>", "0x00000008 <blob>", "\"acct\"<blob>", "\"cdat\"<timedate>", "\"crtr\"<uint32>",
      "\"cusi\"<sint32>", "\"desc\"<blob>", "\"gena\"<blob>", "\"icmt\"<blob>", "\"invi\"<sint32>",
      "\"mdat\"<timedate>", "\"nega\"<sint32>", "\"prot\"<blob>", "\"scrp\"<sint32>", "\"svce\"<blob>",
      "\"type\"<uint32>",
    ]
    let internet = [
      "0x00000007 <blob>", "0x00000008 <blob>", "\"acct\"<blob>", "\"atyp\"<blob>", "\"cdat\"<timedate>",
      "\"crtr\"<uint32>", "\"cusi\"<sint32>", "\"desc\"<blob>", "\"icmt\"<blob>", "\"invi\"<sint32>",
      "\"mdat\"<timedate>", "\"nega\"<sint32>", "\"path\"<blob>", "\"port\"<uint32>", "\"prot\"<blob>",
      "\"ptcl\"<uint32>", "\"scrp\"<sint32>", "\"sdmn\"<blob>", "\"srvr\"<blob>", "\"type\"<uint32>",
    ]
    var text = "keychain: <STORE>\nversion: 512\nclass: \"\(itemClass)\"\nattributes:\n"
    for row in itemClass == "genp" ? generic : internet {
      let tag = row.split(separator: "<")[0].filter { $0 != "\"" && $0 != " " }
      let isTime = tag == "cdat" || tag == "mdat"
      text += "    \(row)=\(values[tag] ?? (isTime ? "<TIME>" : "<NULL>"))\n"
    }
    return text
  }

  private let label = "0x00000007"

  @Test("generic passwords are added, found, printed and deleted as on macOS")
  func generic() throws {
    let world = try SecurityFixture()
    let plain = block("genp", [label: "\"mailer\"", "acct": "\"bot\"", "svce": "\"mailer\""])
    let full = block(
      "genp",
      [
        label: "\"The Label\"", "acct": "0x6AC3B6  \"j\\303\\266\"", "svce": "\"backslash\"",
        "desc": "\"kind\"", "icmt": "0x615C62  \"a\\134b\"", "gena": "\"value\"", "crtr": "\"aapl\"",
        "type": "\"note\"",
      ])
    let duplicate =
      "security: SecKeychainItemCreateFromContent (<default>): The specified item already exists in the keychain.\n"
      + "keytree: keytree://generic-password/mailer/bot already exists\nhint: use -U to update it\n"
    follow(
      [
        Row(
          ["add-generic-password", "-s", "mailer", "-a", "bot", "-w", "pass word"],
          talk: SecurityFixture.warning),
        Row(["find-generic-password", "-s", "mailer", "-a", "bot"], plain),
        Row(["find-generic-password", "-ws", "mailer"], "pass word\n"),
        Row(["find-generic-password", "-wl", "mailer"], "pass word\n"),
        Row(["find-generic-password", "-s", "mailer", "-w", "/a/login.keychain", "-g"], "pass word\n"),
        Row(["find-generic-password", "-ga", "bot"], plain, talk: "password: \"pass word\"\n"),
        Row(["find-gen", "-w"], "pass word\n"),
        Row(
          ["add-generic-password", "-s", "mailer", "-a", "bot", "-w", "x"],
          talk: SecurityFixture.warning + duplicate,
          status: 45),
        Row(
          [
            "add-generic-password", "-s", "backslash", "-a", "jö", "-l", "The Label", "-D", "kind", "-j",
            "a\\b",
            "-G", "value", "-c", "aapl", "-C", "note", "-A", "-T", "/usr/bin/x", "-T", "", "-X", "70C3A42",
            "k.keychain",
          ], talk: SecurityFixture.warning),
        Row(["find-generic-password", "-c", "aapl", "-C", "note", "-G", "value"], full),
        Row(["find-generic-password", "-j", "a\\b", "-D", "kind", "-w"], "070c3a42\n"),
        Row(
          ["find-generic-password", "-c", "aaple"],
          talk: "security: -c takes a code of exactly four characters\n", status: 1),
        Row(["find-generic-password", "-s", "Mailer"], talk: SecurityFixture.notFound, status: 44),
        Row(["find-generic-password", "-s", "mailer", "-a", ""], talk: SecurityFixture.notFound, status: 44),
        Row(["find-generic-password", "-s", "nope", "-w"], talk: SecurityFixture.notFound, status: 44),
        Row(["add-generic-password", "-s", "none", "-a", "me"]),
        Row(["find-generic-password", "-s", "none", "-w"], "\n"),
        Row(
          ["find-generic-password", "-s", "none", "-g"],
          block("genp", [label: "\"none\"", "acct": "\"me\"", "svce": "\"none\""]), talk: "password: \n"),
        Row(
          ["add-generic-password", "-s", "old", "-a", "me", "-p", "legacy"], talk: SecurityFixture.warning),
        Row(["find-generic-password", "-s", "old", "-w"], "legacy\n"),
        Row(
          ["set-generic-password-partition-list", "-S", "apple:", "-k", "login", "-s", "mailer"], plain,
          talk: SecurityFixture.warning
            + "security: partition lists are not supported; nothing was changed\n"),
        Row(["delete-generic-password", "-s", "mailer"], plain, talk: "password has been deleted.\n"),
        Row(["delete-generic-password", "-s", "mailer"], talk: SecurityFixture.notFound, status: 44),
      ], in: world)
    #expect(world.commits == 6, "the store, four additions and a deletion make one commit each")
  }

  @Test("internet passwords are added, found, printed and deleted as on macOS")
  func internet() throws {
    let world = try SecurityFixture.withoutGnuPG()
    let plain = block(
      "inet",
      [
        label: "\"host.example\"", "acct": "\"al\"", "atyp": "\"dflt\"", "port": "0x00000000 ",
        "ptcl": "0x00000000 ",
        "srvr": "\"host.example\"",
      ])
    let full = block(
      "inet",
      [
        label: "\"L\"", "acct": "\"al\"", "atyp": "\"form\"", "path": "\"/x\"", "port": "0x000001BB ",
        "ptcl": "\"htps\"", "sdmn": "\"realm\"", "srvr": "\"host.example\"",
      ])
    let share = block(
      "inet",
      [
        label: "\"nas\"", "acct": "\"al\"", "atyp": "\"dflt\"", "port": "0x00000000 ", "ptcl": "\"smb \"",
        "srvr": "\"nas\"",
      ])
    let code = "security: -r takes a code of exactly four characters\n(Try \"smb \" instead of \"smb\")\n"
    follow(
      [
        Row(
          ["add-internet-password", "-s", "host.example", "-a", "al", "-w", "one"],
          talk: SecurityFixture.warning),
        Row(
          [
            "add-internet-password", "-s", "host.example", "-a", "al", "-l", "L", "-r", "htps", "-t", "form",
            "-P", "443",
            "-p", "/x", "-d", "realm", "-w", "two",
          ], talk: SecurityFixture.warning),
        Row(
          ["add-internet-password", "-s", "nas", "-a", "al", "-r", "smb", "-w", "x"],
          talk: SecurityFixture.warning + code, status: 1),
        Row(
          ["add-internet-password", "-s", "nas", "-a", "al", "-r", "smb ", "-w", "three"],
          talk: SecurityFixture.warning),
        Row(["find-internet-password", "-s", "host.example"], plain),
        Row(["find-internet-password", "-gs", "host.example"], plain, talk: "password: \"one\"\n"),
        Row(["find-internet-password", "-s", "host.example", "-r", "htps"], full),
        Row(["find-internet-password", "-P", "443", "-w"], "two\n"),
        Row(["find-internet-password", "-P", "0", "-w"], "one\n"),
        Row(["find-internet-password", "-t", "form", "-p", "/x", "-d", "realm", "-w"], "two\n"),
        Row(["find-internet-password", "-t", "dflt", "-w"], "one\n"),
        Row(["find-internet-password", "-r", "smb "], share),
        Row(["find-internet-password", "-r", "ssh "], talk: SecurityFixture.notFound, status: 44),
        Row(
          ["delete-internet-password", "-s", "host.example", "-r", "htps"], full,
          talk: "password has been deleted.\n"),
        Row(["delete-internet-password", "-s", "host.example"], plain, talk: "password has been deleted.\n"),
        Row(["delete-internet-password", "-s", "host.example"], talk: SecurityFixture.notFound, status: 44),
      ], in: world)
    // The record has the same values as for any other program.
    #expect(try world.record(account: "al")?.attributes[.protocol] == "smb")
    #expect(try world.record(account: "al")?.attributes[.authenticationType] == "default")
  }

  @Test(
    "items that keytree has stored are found, tokens only on request, and fields never")
  func fromKeytree() throws {
    let world = try SecurityFixture.withoutGnuPG()
    let (token, note, secret) = (Array("token".utf8), Array("note".utf8), Array("secret".utf8))
    let stored = world.world.run(
      "add", "h.example/al", "-t", "oauth-refresh-token", "-r", "https", input: token)
    #expect(stored.code == .done)
    #expect(world.world.run("add", "h.example/al", "-r", "https", input: secret).code == .done)
    #expect(world.world.run("add", "generic:h.example/al", "--field", "note", input: note).code == .done)
    #expect(world.world.run("add", "generic:h.example/al", "--field", "otp", input: note).code == .done)
    let login: Word = "keytree://internet-password/h.example/al+https"
    #expect(world.world.run("add", login, "--field", "otp", input: note).code == .done)
    #expect(world.security("find-internet-password", "-s", "h.example", "-w").text == "secret\n")
    #expect(world.security("find-internet-password", "-r", "htps", "-w").text == "secret\n")
    #expect(world.security("find-generic-password", "-s", "h.example", "-w").status == 44)
    #expect(world.security("dump-keychain").text.contains("\"field\"") == false)
    #expect(world.security("delete-internet-password", "-s", "h.example").value("\"ptcl\"") == "\"htps\"")
    // The field still exists, and it is not a password.
    #expect(world.security("find-internet-password", "-s", "h.example", "-w").status == 44)
    #expect(world.world.run("get", login, "--field", "otp").text == "note")
  }

  @Test("deleting until nothing is found leaves fields and tokens")
  func deleteUntilNothing() throws {
    let world = try SecurityFixture.withoutGnuPG()
    let types = ["oauth-refresh-token", "http-token:Bearer"]
    for type in types + ["", "default", "html-form"] {
      try world.add(
        .internetPassword, ["server": "h", "account": "me", "authenticationType": .string(type)], [0x31])
    }
    try world.add(.internetPassword, ["server": "h", "account": "me", "field": "otp"], [0x31])
    try world.add(.genericPassword, ["service": "h", "account": "me", "field": "note"], [0x31])
    try world.add(.genericPassword, ["service": "h", "account": "you"], [0x31])
    // An item with a type that only `security` has a code for is a password.
    #expect(world.security("add-internet-password", "-s", "h", "-a", "me", "-t", "abcd").status == 0)
    for (command, count) in [("delete-internet-password", 4), ("delete-generic-password", 1)] {
      var statuses: [Int32] = []
      while statuses.count < 12, statuses.last ?? 0 == 0 {
        statuses.append(world.security(command, "-s", "h").status)
      }
      #expect(statuses == Array(repeating: 0, count: count) + [44])
    }
    for words in [["find-internet-password"], ["find-generic-password"]] as [[Word]] {
      #expect(world.run(words + ["-s", "h", "-w"]).status == 44)
      #expect(world.run(words + ["-s", "h"]).text == "")
    }
    #expect(world.security("set-generic-password-partition-list", "-s", "h").status == 44)
    // Two tokens and two fields without a login are left.
    #expect(world.world.run("find").text.split(separator: "\n").count == 4)
  }

  @Test("-U replaces no field with a password")
  func updateOfField() throws {
    let world = try SecurityFixture.withoutGnuPG()
    try world.add(.genericPassword, ["service": "h", "account": "me", "field": "note"], Array("note".utf8))
    let add: [Word] = ["add-generic-password", "-U", "-s", "h", "-a", "me", "-w", "x"]
    #expect(world.run(add).status == 0)
    #expect(world.run(["find-generic-password", "-s", "h", "-w"]).text == "x\n")
    #expect(world.world.run("get", "generic:h/me", "--field", "note").text == "note")
  }

  @Test(
    "-U changes the item with the same account and service, whatever its label, and adds a missing one")
  func update() throws {
    let world = try SecurityFixture()
    let first = ["add-generic-password", "-U", "-s", "svc", "-a", "me"]
    func run(_ more: String...) -> SecurityFixture.Result { world.run((first + more).map { Word($0) }) }
    #expect(run("-w", "1").status == 0)
    #expect(run("-l", "Other", "-j", "said", "-w", "2").status == 0)
    #expect(world.security("find-generic-password", "-l", "Other", "-w").text == "2\n")
    #expect(run("-w", "3").status == 0)
    let found = world.security("find-generic-password", "-gs", "svc")
    #expect(found.value(label) == "\"Other\"", "without -l the label is kept")
    #expect(found.value("\"icmt\"") == "\"said\"")
    #expect(found.talk == "password: \"3\"\n")
    let before = world.commits
    #expect(run("-j", "").status == 0, "without -w the password is kept")
    #expect(world.commits == before + 1)
    let cleared = world.security("find-generic-password", "-gs", "svc")
    #expect(cleared.value("\"icmt\"") == "<NULL>")
    #expect(cleared.talk == "password: \"3\"\n")
    #expect(run().status == 0)
    #expect(world.commits == before + 1, "no change makes no commit")

    let server = ["add-internet-password", "-U", "-s", "h", "-a", "me"]
    func runServer(_ more: String...) -> Int32 { world.run((server + more).map { Word($0) }).status }
    // Keytree stores this item without an authentication type.
    #expect(world.world.run("add", "h/me", "-r", "https", "-P", "8443", input: [0x30]).code == .done)
    #expect(runServer("-w", "1") == 0, "missing options are not compared")
    #expect(runServer("-r", "ftp ", "-w", "2") == 0, "an item with another protocol is a different one")
    #expect(world.security("find-internet-password", "-r", "htps", "-w").text == "1\n")
    #expect(world.security("find-internet-password", "-r", "ftp ", "-w").text == "2\n")
  }

  @Test("an item without an authentication type conflicts with one of the default type")
  func sameItem() throws {
    let world = try SecurityFixture.withoutGnuPG()
    #expect(world.world.run("add", "h/me", input: [0x30]).code == .done)
    #expect(world.security("add-internet-password", "-s", "h", "-a", "me").status == 45)
    #expect(world.security("add-internet-password", "-s", "h", "-a", "me", "-t", "form").status == 0)
    #expect(world.security("add-internet-password", "-s", "h", "-a", "me", "-p", "/x").status == 0)
    #expect(world.security("add-internet-password", "-s", "h", "-a", "me", "-p", "/x").status == 45)
  }

  private static let wrong: [[String]] = [
    ["add-generic-password"], ["add-generic-password", "-s", "x"],
    ["add-generic-password", "-a", "x", "-w", "p"],
    ["add-generic-password", "-s", "x", "-a", "y", "one", "two"],
    ["add-generic-password", "-s", "x", "-a", "y", ""],
    ["add-generic-password", "-s", "x", "-a"], ["add-generic-password", "-h"],
    ["add-generic-password", "-Q"],
    ["add-generic-password", "-s", "x", "-a", "y", "-P", "1"],
    ["add-generic-password", "-s", "x", "-a", "y", "-X", "0g"],
    ["add-internet-password", "-s", "x"], ["add-internet-password", "-s", "x", "-a", "y", "-P", "70000"],
    ["add-internet-password", "-s", "x", "-a", "y", "-P", "http"],
    ["add-internet-password", "-s", "x", "-a", "y", "-p"],
    ["add-internet-password", "-s", "x", "-a", "y", "-G", "z"], ["delete-generic-password"],
    ["delete-generic-password", "-w"], ["delete-internet-password"], ["delete-internet-password", "-h"],
    ["find-generic-password", "-h"], ["find-generic-password", "-r", "http"],
    ["find-internet-password", "-G", "x"],
    ["find-generic-password", "-s"], ["delete-certificate"], ["find-key", "-t", "other"],
    ["dump-keychain", "-x"],
  ]

  @Test("a wrong command line prints the usage and stores nothing")
  func misuse() throws {
    let world = try SecurityFixture.withoutGnuPG()
    for words in Self.wrong {
      let result = world.run(words.map { Word($0) })
      #expect(result.status == 2, "\(words)")
      #expect(result.text == "", "\(words)")
      #expect(result.talk.contains("Usage: \(words[0]) "), "\(words)")
    }
    #expect(world.security("dump-keychain").text == "")
  }
}
