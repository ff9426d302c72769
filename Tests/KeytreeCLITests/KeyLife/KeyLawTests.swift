import Encoding
import Foundation
import KeyringModel
import TestSupport
import Testing

/// Tests of the rules that hold for all sequences of events in the lives of keys.
@Suite(.slow, .needsFaketime) struct KeyLawTests {
  private let world: KeyLifeWorld

  init() throws { world = try KeyLifeWorld(copying: KeyLifeWorld.base.get()) }

  /// Imports the owner's key, confirmed, and brings it to everyone.
  private func refresh() throws {
    try world.succeed(.owner, "group", "refresh", "--fingerprint", try world.fingerprint(of: .owner))
  }

  /// Expects that every member can read every item, and that the store has no findings.
  private func expectAllReadable(_ what: String) throws {
    let items = try world.succeed(.owner, "find").output.split(separator: "\n").count
    for person in KeyLifeWorld.Person.team {
      let answer = try world.keytree(person, ["check", "--decrypt"])
      #expect(answer.code == 0, "after \(what): \(person): \(answer.all)")
      #expect(answer.talk.contains("\(items) items"), "after \(what): \(person): \(answer.all)")
    }
    let own = try world.succeed(.admin, "get", "owner.example/a").output
    #expect(own.contains("two"), "after \(what)")
  }

  /// Changes of the owner's key, after each of which all of its parts can be used.
  private static let changes: [(name: String, make: @Sendable (KeyLifeWorld) throws -> Void)] = [
    ("a new signing subkey", { try $0.addSubkey("sign") }),
    ("a new encryption subkey", { try $0.addSubkey("encr") }),
    (
      "the first signing subkey superseded",
      { world in
        try world.addSubkey("sign")
        try world.revoke(1, .superseded)
      }
    ),
    (
      "the first encryption subkey compromised",
      { world in
        try world.addSubkey("encr")
        try world.revoke(2, .compromised)
      }
    ),
    ("an end of the primary key", { try $0.setEnd("20400101T000000", of: []) }),
    ("an end of the subkeys", { try $0.setEnd("20390101T000000", of: ["*"]) }),
    ("no end of the primary key", { try $0.setEnd("never", of: []) }),
    (
      "a new name",
      { world in
        let key = try world.fingerprint(of: .owner)
        try world.gpg(.owner, ["--quick-add-uid", key, "Olivia <olivia@life.example>"])
        try world.gpg(.owner, ["--quick-set-primary-uid", key, "Olivia <olivia@life.example>"])
      }
    ),
  ]

  /// Orders of the changes. The first two have each change once.
  private static let orders = [
    [0, 3, 2, 7], [1, 5, 4, 6], [0, 2, 3, 1, 4], [3, 7, 2, 5, 0], [1, 5, 6, 3, 2],
  ]

  @Test(arguments: KeyLifeTests.isComplete ? KeyLawTests.orders : Array(KeyLawTests.orders.prefix(2)))
  func `no sequence of changes and imports makes an item unreadable`(order: [Int]) throws {
    for (step, number) in order.enumerated() {
      world.now = "203\(step)-06-01 12:00:00"
      let (name, make) = Self.changes[number]
      try world.succeed(.owner, "add", "step.example/\(step)", input: "before \(name)")
      try make(world)
      try refresh()
      try world.succeed(.owner, "set", "step.example/\(step)", "--secret", input: "after \(name)")
      for person in [KeyLifeWorld.Person.owner, .member] { try world.succeed(person, "sync") }
      try world.succeed(.member, "add", "step.example/member-\(step)", input: "of the member")
      for person in [KeyLifeWorld.Person.member, .owner, .admin] { try world.succeed(person, "sync") }
      try expectAllReadable("\(step): \(name)")
    }
  }

  @Test func `the time alone adds no findings but unusable keys`() throws {
    try world.setEnd("20310101T000000", of: [])
    try refresh()
    try world.syncEverywhere()
    for now in ["2030-12-31 12:00:00", "2031-02-01 12:00:00", "2040-01-01 12:00:00"] {
      world.now = now
      for person in KeyLifeWorld.Person.team {
        let isExpired = now > "2031"
        let checked = try world.keytree(person, ["check"])
        #expect(checked.code == (isExpired ? 13 : 0), "\(now) \(person): \(checked.all)")
        let findings = checked.output.split(separator: "\n")
        #expect(findings.count == (isExpired ? 1 : 0), "\(now) \(person): \(checked.all)")
        #expect(findings.allSatisfy { $0.contains("it has expired (2031-01-01)") }, "\(checked.all)")
        try world.succeed(person, "verify")
        let synchronized = try world.succeed(person, "sync")
        #expect(!synchronized.talk.contains("Re-encrypted"), "\(synchronized.talk)")
      }
    }
    world.now = "2030-12-31 12:00:00"
    try world.succeed(.owner, "check")
  }

  @Test func `a second import changes nothing`() throws {
    try world.addSubkey("sign")
    try world.addSubkey("encr")
    try refresh()
    let head = try GnuPGTool.run("git", ["-C", world.store(of: .owner), "rev-parse", "HEAD"])
    let words = ["group", "refresh", "--fingerprint", try world.fingerprint(of: .owner)]
    let again = try world.keytree(.owner, words)
    #expect(again.code == 0 && again.talk.contains("No key has changed."), "\(again.all)")
    #expect(try GnuPGTool.run("git", ["-C", world.store(of: .owner), "rev-parse", "HEAD"]) == head)
    for person in [KeyLifeWorld.Person.owner, .admin] { try world.succeed(person, "sync") }
    try world.export(.owner, to: "FILE")
    let file = try world.keytree(.admin, ["group", "refresh", world.file("FILE")])
    #expect(file.code == 0 && file.talk.contains("No key has changed."), "\(file.all)")
  }

  @Test func `the order of two imports does not matter`() throws {
    try world.addSubkey("sign")
    try world.export(.owner, to: "first")
    try world.addSubkey("encr")
    try world.revoke(1, .superseded)
    try world.export(.owner, to: "second")
    try world.addSubkey("sign", to: .member)
    try world.export(.member, to: "third")
    var results: Set<[String]> = []
    for order in [
      ["first", "second", "third"], ["third", "second", "first"], ["second", "first", "third"],
    ] {
      let copy = try KeyLifeWorld(copying: world)
      copy.now = "2030-06-01 12:00:00"
      for name in order {
        let words = [
          "group", "refresh", world.file(name), "--fingerprint", try world.fingerprint(of: .owner),
        ]
        let answer = try copy.keytree(.admin, words)
        #expect(answer.code == 0, "\(order) \(name): \(answer.all)")
      }
      try copy.syncEverywhere()
      results.insert(try Self.keys(of: copy))
      try copy.succeed(.owner, "add", "new.example/a", input: "new")
    }
    #expect(results.count == 1, "\(results)")
  }

  /// Returns what the key files of a store contain, as gpg lists it.
  private static func keys(of world: KeyLifeWorld) throws -> [String] {
    let folder = "\(world.store(of: .admin))/keys"
    let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    return try files.map { file in
      let listing = try world.gpg(.job, ["--with-colons", "--show-keys", "\(folder)/\(file)"])
      return listing.split(separator: "\n").sorted().joined(separator: "\n")
    } + [try world.succeed(.admin, "who", "owner.example/a").output]
  }

  // MARK: Thieves

  /// Changes and additions of a thief who has copied the owner's machine, and pushes with git.
  private func push(_ name: String, asOf time: String, _ words: [String]) throws {
    let now = world.now
    world.now = time
    defer { world.now = now }
    let answer = try world.keytree(.owner, words, input: "stolen")
    try #require(answer.code == 0, "\(name): \(answer.all)")
    let store = world.store(of: .owner)
    for words in [
      ["fetch", "-q"], ["merge", "-q", "--no-edit", "origin/main"], ["push", "-q", "origin", "HEAD:main"],
    ] {
      let person = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
      let done = try world.run(.owner, ["git", "-C", store] + person + words)
      try #require(done.code == 0, "\(name): \(words): \(done.all)")
    }
  }

  /// Prepares a revocation of the owner's signing subkey that the other members know, and that the owner's machine, which
  /// a thief has copied, does not.
  ///
  /// - Returns: The copy of the thief.
  @discardableResult
  private func revokeElsewhere(_ reason: KeyLifeWorld.Reason) throws -> KeyLifeWorld {
    let thief = try KeyLifeWorld(copying: world)
    try world.addSubkey("sign")
    try world.revoke(1, reason)
    try world.export(.owner, to: "FILE")
    let words = ["group", "refresh", world.file("FILE"), "--fingerprint", try world.fingerprint(of: .owner)]
    let answer = try world.keytree(.admin, words)
    try #require(answer.code == 0, "\(answer.all)")
    for person in [KeyLifeWorld.Person.admin, .member] { try world.succeed(person, "sync") }
    try handOver(to: thief)
    return thief
  }

  /// Replaces the owner's machine by that of a thief.
  private func handOver(to thief: KeyLifeWorld) throws {
    world.stopAgent(of: .owner)
    for name in ["g", "run", "state", "store"] {
      try FileManager.default.removeItem(atPath: world.file("owner/\(name)"))
      try GnuPGTool.run("cp", ["-a", thief.file("owner/\(name)"), world.file("owner/\(name)")])
    }
    try GnuPGTool.run("git", ["-C", world.store(of: .owner), "remote", "set-url", "origin", world.hub])
  }

  private func expectRefused(_ item: String) throws {
    for person in [KeyLifeWorld.Person.member, .admin] {
      let synchronized = try world.keytree(person, ["sync"])
      let read = try world.keytree(person, ["get", item])
      #expect(read.code != 0, "\(person) reads it after \(synchronized.all)")
      #expect(!read.output.contains("stolen"), "\(person): \(read.all)")
    }
  }

  @Test(arguments: ["2030-01-15 12:00:00", "2030-05-01 12:00:00"])
  func `a record by a compromised subkey is refused, backdated or not`(time: String) throws {
    try revokeElsewhere(.compromised)
    try push("a record", asOf: time, ["add", "thief.example/a"])
    world.now = "2030-06-01 12:00:00"
    let hook = try world.pushIsAccepted()
    #expect(hook.code == 13 && hook.all.contains("revoked"), "\(hook.code) \(hook.all)")
    try expectRefused("thief.example/a")
    #expect(try world.succeed(.admin, "get", "owner.example/a").output.contains("two"))
  }

  /// Commits a policy that follows the newest one, and pushes it. It makes the member an admin, and is signed with the
  /// owner's first signing subkey.
  private func pushPolicy(asOf time: String) throws {
    let now = world.now
    world.now = time
    defer { world.now = now }
    let store = world.store(of: .owner)
    let person = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    func git(_ words: String...) throws {
      let done = try world.run(.owner, ["git", "-C", store] + person + words)
      try #require(done.code == 0, "\(words): \(done.all)")
    }
    try git("fetch", "-q")
    try git("reset", "-q", "--hard", "origin/main")
    let file = "\(store)/policy.json"
    let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: file)))
    let member = try #require(Fingerprint(try world.fingerprint(of: .member)))
    let next = try Policy.parse(bytes).successor(
      by: [.role(member, .admin)], previous: ContentDigest(of: bytes), at: Timestamp(microseconds: 1))
    try Data(next.encode()).write(to: URL(fileURLWithPath: file))
    try world.gpg(
      .owner,
      [
        "--local-user", "\(try world.signingSubkey)!", "--armor", "--output", "\(file).asc", "--detach-sign",
        file,
      ])
    try git("commit", "-q", "-a", "-m", "x")
    try git("push", "-q", "origin", "HEAD:main")
  }

  /// Returns true if the policy that a person has accepted makes the member an admin.
  private func acceptsMemberAsAdmin(_ person: KeyLifeWorld.Person) throws -> Bool {
    let key = try world.fingerprint(of: .member)
    let lines = try world.succeed(person, "group", "show", "default").output.split(separator: "\n")
    return try #require(lines.first { $0.contains(key) }).contains("admin")
  }

  @Test(arguments: ["2030-01-15 12:00:00", "2030-05-01 12:00:00"])
  func `a policy by a compromised subkey is refused, backdated or not`(time: String) throws {
    try revokeElsewhere(.compromised)
    try pushPolicy(asOf: time)
    world.now = "2030-06-01 12:00:00"
    let hook = try world.pushIsAccepted()
    #expect(hook.code == 9 && hook.all.contains("revoked"), "\(hook.code) \(hook.all)")
    for person in [KeyLifeWorld.Person.member, .admin] {
      let synchronized = try world.keytree(person, ["sync"])
      #expect(
        synchronized.code == 9 && synchronized.all.contains("is not signed by an admin"),
        "\(synchronized.code) \(synchronized.all)")
      #expect(try !acceptsMemberAsAdmin(person))
    }
  }

  @Test func `a policy by a subkey that is not revoked is accepted`() throws {
    try pushPolicy(asOf: "2030-05-01 12:00:00")
    world.now = "2030-06-01 12:00:00"
    let hook = try world.pushIsAccepted()
    #expect(hook.code == 0, "\(hook.all)")
    for person in [KeyLifeWorld.Person.member, .admin] {
      try world.succeed(person, "sync")
      #expect(try acceptsMemberAsAdmin(person))
    }
  }

  @Test func `a record dated after a soft revocation is refused, and one dated before it is not`() throws {
    let thief = try revokeElsewhere(.superseded)
    try push("a late record", asOf: "2030-05-01 12:00:00", ["add", "thief.example/a"])
    world.now = "2030-06-01 12:00:00"
    try expectRefused("thief.example/a")
    // The first push has brought the revocation to the owner's machine.
    try handOver(to: thief)
    try push("an early record", asOf: "2030-02-01 12:00:00", ["add", "early.example/a"])
    try world.succeed(.admin, "sync")
    #expect(try world.succeed(.admin, "get", "early.example/a").output.contains("stolen"))
  }

  @Test func `a record dated after the end of a subkey is refused`() throws {
    let thief = try KeyLifeWorld(copying: world)
    try world.setEnd("20300401T000000", of: [try world.signingSubkey])
    try refresh()
    try world.syncEverywhere()
    try handOver(to: thief)
    try push("a late record", asOf: "2030-05-01 12:00:00", ["add", "thief.example/a"])
    world.now = "2030-06-01 12:00:00"
    try expectRefused("thief.example/a")
  }
}

extension KeyLifeWorld {
  /// Returns the answer of the server's check of the last push, before which the branch has its previous commit.
  fileprivate func pushIsAccepted() throws -> Answer {
    let commits = try GnuPGTool.run("git", ["-C", hub, "rev-parse", "main~1", "main"])
    let names = String(decoding: commits, as: UTF8.self).split(separator: "\n").map(String.init)
    try GnuPGTool.run("git", ["-C", hub, "update-ref", "refs/heads/main", names[0]])
    let answer = try keytree(
      .job, ["verify", "--pre-receive"], input: "\(names[0]) \(names[1]) refs/heads/main\n",
      more: ["GIT_DIR": hub, "KEYTREE_STORE": ""])
    try GnuPGTool.run("git", ["-C", hub, "update-ref", "refs/heads/main", names[1]])
    return answer
  }
}
