import Foundation
import TestSupport
import Testing

/// Git over real HTTP with basic authentication, with keytree as its credential helper.
@Suite(.enabled(if: GitHTTPServer.backend != nil, "git has no http-backend here"), .serialized, .slow)
struct GitHTTPTests {
  private static let password = "p w\"'$\\=%é&+/?#"

  /// A user, a server with two repositories, and a work tree with a commit to push.
  private struct World {
    let person: GitUser
    let server: GitHTTPServer
    var folder: String { "\(person.home.folder)/work" }

    init(_ passwords: [String: String]) throws {
      person = try GitUser()
      let repositories = "\(person.home.folder)/srv"
      server = try GitHTTPServer(repositories, passwords)
      for name in ["one", "two"] {
        try person.home.succeed(["git", "init", "--quiet", "--bare", "\(repositories)/\(name).git"])
      }
      try person.home.succeed(["git", "init", "--quiet", "work"])
      try commit()
    }

    func commit() throws {
      try person.home.succeed(["git", "-C", "work", "commit", "--quiet", "--allow-empty", "--message", "x"])
    }

    func push(_ name: String = "one.git", user: String? = nil) throws -> ProcessesProgram.Outcome {
      try person.git(["-C", "work", "push", "--quiet", server.url(name, user: user), "main"])
    }
  }

  @Test func `the first push asks the user, and later ones get the credential from keytree`() throws {
    let world = try World(["alice": Self.password])
    try world.person.answer(("alice", Self.password))
    let first = try world.push()
    #expect(first.status == 0 && first.errors == "", "\(first.errors)")
    #expect(
      world.person.questions() == [
        "Username for 'http://\(world.server.host)': ", "Password for 'http://alice@\(world.server.host)': ",
      ])
    let item = "internet-password/127.0.0.1/alice+http+\(world.server.host.split(separator: ":")[1])"
    #expect(try world.person.home.program.succeed(["read", "keytree://\(item)"]) == Self.password)
    #expect(try world.person.history() == ["add \(item)", "make the keyring"])
    // From here on the user answers no question.
    try world.person.answer(nil)
    try world.commit()
    let second = try world.push()
    #expect(second.status == 0 && second.errors == "" && second.text == "", "\(second.errors)")
    let clone = try world.person.git(["clone", "--quiet", world.server.url("one.git"), "copy"])
    #expect(clone.status == 0 && clone.errors == "", "\(clone.errors)")
    #expect(try world.push("two.git").status == 0)
    #expect(world.person.questions() == [])
    // Git stores the credential that has just worked, but it already exists, so there is no commit.
    #expect(try world.person.history().count == 2)
    #expect(world.server.logins == ["alice:\(Self.password)"])
  }

  @Test func `a password that the server rejects is removed with a commit`() throws {
    let world = try World(["alice": "old"])
    try world.person.answer(("alice", "old"))
    #expect(try world.push().status == 0)
    _ = world.person.questions()
    world.server.accounts.set("alice", to: "new")
    try world.person.answer(nil)
    let refused = try world.push()
    #expect(refused.status == 128)
    #expect(
      refused.errors.contains("Authentication failed") && !refused.errors.contains("keytree"),
      "\(refused.errors)")
    #expect(try world.person.fill("protocol=http\nhost=\(world.server.host)\n") == nil)
    _ = world.person.questions()
    #expect(
      try world.person.history().first?.hasPrefix("remove internet-password/127.0.0.1/alice+http+") == true)
    // Git asks again, and the new password is stored.
    try world.person.answer(("alice", "new"))
    #expect(try world.push().status == 0)
    #expect(world.person.questions().count == 2)
    #expect(world.server.logins == ["alice:old", "alice:new"])
  }

  @Test func `a late rejection of the old password does not remove the new one`() throws {
    let person = try GitUser()
    let place = "protocol=https\nhost=late.example\nusername=alice\n"
    #expect(try person.git(["credential", "approve"], input: place + "password=new\n").status == 0)
    #expect(try person.git(["credential", "reject"], input: place + "password=old\n").status == 0)
    #expect(try person.fill(place) == "username=alice\npassword=new")
  }

  @Test func `of two accounts on a host, the last one that worked is used`() throws {
    let world = try World(["alice": "a", "bob": "b"])
    for user in ["bob", "alice"] {
      try world.person.answer((user, String(user.prefix(1))))
      #expect(try world.push(user: user).status == 0)
    }
    try world.person.answer(nil)
    _ = world.person.questions()
    for user in [nil, "bob", nil, "alice", nil] { #expect(try world.push(user: user).status == 0) }
    #expect(world.person.questions() == [])
    // With a user in the URL, libcurl first tries without a password.
    let logins = world.server.logins.filter { !$0.hasSuffix(":") }
    #expect(logins == ["bob:b", "alice:a", "bob:b", "alice:a"])
    #expect(try world.person.history().count == 3)
  }

  @Test func `sync authenticates with a password in the store itself`() throws {
    let world = try World(["alice": Self.password])
    try world.person.answer(("alice", Self.password))
    #expect(try world.push().status == 0)
    let home = world.person.home
    try home.succeed(["git", "init", "--quiet", "--bare", "srv/keys.git"])
    try home.succeed(["keytree", "git", "remote", "add", "origin", world.server.url("keys.git")])
    let sync = try home.run(["keytree", "--no-input", "sync"])
    #expect(sync.status == 0, "\(sync.errors)")
    #expect(try home.run(["git", "-C", "srv/keys.git", "log", "--format=%s", "main"]).text.hasPrefix("add "))
    // A password that the server rejects is removed, as it is for other repositories.
    world.server.accounts.set("alice", to: "new")
    #expect(try home.run(["keytree", "--no-input", "sync"]).status == 11)
    #expect(try world.person.history().first?.hasPrefix("remove ") == true)
  }

  /// A question of git, and a Boolean value that indicates whether the password of `https://mixed.example` answers it.
  static let places: [(question: String, isAnswered: Bool)] = [
    ("protocol=https\nhost=mixed.example\n", true),
    ("protocol=https\nhost=mixed.example\nusername=alice\n", true),
    ("protocol=http\nhost=mixed.example\n", false),
    ("protocol=https\nhost=mixed.example:8443\n", false),
    ("protocol=https\nhost=mixed.example\nusername=bob\n", false),
    ("protocol=https\nhost=other.example\n", false),
    ("protocol=https\nhost=mixed.example.evil.example\n", false),
    ("url=https://mixed.example/team/project.git\n", true),
    ("url=http://mixed.example/team/project.git\n", false),
  ]

  @Test func `git gets nothing for another protocol, port, host or user`() throws {
    let person = try GitUser()
    let stored = "protocol=https\nhost=mixed.example\nusername=alice\npassword=secret\n"
    #expect(try person.git(["credential", "approve"], input: stored).status == 0)
    for (question, isAnswered) in Self.places {
      let answer = try person.fill(question)
      #expect(answer == (isAnswered ? "username=alice\npassword=secret" : nil), "\(question)")
    }
  }

  /// User names and passwords that git's protocol can carry.
  static let logins: [(user: String, password: String)] = [
    ("a b", " leading and trailing "), (ProgramsHome.oddName, "-p"), ("é=ü", "=="),
    ("mail@example.org", "@:/"),
    ("a/b", "\t"), ("<token>", "\u{7f}"), ("", ""), ("long", String(repeating: "x", count: 65_536)),
  ]

  @Test("git gets back exactly what it stored", arguments: logins)
  func roundTrip(_ user: String, _ password: String) throws {
    let person = try GitUser()
    let login = "username=\(user)\npassword=\(password)"
    let place = "protocol=https\nhost=odd.example\n"
    let approved = try person.git(["credential", "approve"], input: place + login + "\n")
    #expect(approved.status == 0 && approved.errors == "", "\(approved.errors)")
    let filled = try person.git(["credential", "fill"], input: place)
    #expect(filled.text == place + login + "\n" && filled.errors == "", "\(filled.errors)")
    #expect(person.questions() == [])
    #expect(try person.git(["credential", "reject"], input: place + login + "\n").errors == "")
    #expect(try person.fill(place) == nil)
  }

  @Test func `the path is part of the credential if credential.useHttpPath is set`() throws {
    let person = try GitUser()
    try person.home.succeed(["git", "config", "--global", "credential.useHttpPath", "true"])
    for name in ["one", "two"] {
      let text = "url=https://paths.example/\(name).git\nusername=\(name)\npassword=\(name)\n"
      #expect(try person.git(["credential", "approve"], input: text).status == 0)
    }
    #expect(try person.fill("url=https://paths.example/one.git\n") == "username=one\npassword=one")
    #expect(try person.fill("url=https://paths.example/two.git\n") == "username=two\npassword=two")
    #expect(try person.fill("url=https://paths.example/three.git\n") == nil)
  }

  @Test func `the helper reports a damaged item, and git asks the user`() throws {
    let person = try GitUser()
    let place = "protocol=https\nhost=damaged.example\n"
    let stored = place + "username=alice\npassword=secret\n"
    #expect(try person.git(["credential", "approve"], input: stored).status == 0)
    try Data("rubbish".utf8).write(
      to: URL(
        fileURLWithPath:
          "\(person.home.program.store)/items/internet-password/damaged.example/alice+https.gpg"))
    try person.answer(("typed", "by hand"))
    let outcome = try person.git(["credential", "fill"], input: place)
    #expect(outcome.status == 0 && outcome.text.contains("username=typed\npassword=by hand\n"))
    #expect(outcome.errors.contains("keytree: ") && !outcome.text.contains("keytree"))
  }
}
