import TestSupport

/// The store of a team before its keys change: items that the operations of the matrix read, change and remove.
struct KeyLifeStore {
  private let world: KeyLifeWorld

  init(_ world: KeyLifeWorld) { self.world = world }

  /// Returns the name that a person uses in a phase, so that no operation of the matrix depends on another one.
  static func name(_ phase: KeyMatrix.Phase, _ person: KeyLifeWorld.Person) -> String { "\(phase)-\(person)" }

  /// Creates the store, and clones it for the other members.
  ///
  /// - Returns: The commit before the newest version of `owner.example/a`.
  func make() throws -> String {
    try GnuPGTool.run("git", ["init", "-q", "--bare", "-b", "main", world.hub])
    try GnuPGTool.run("git", ["-C", world.hub, "config", "receive.fsckObjects", "true"])
    try world.succeed(.owner, "init")
    try world.succeed(.owner, "git", "remote", "add", "origin", world.hub)
    try add(.admin, to: "default", "--admin")
    try add(.member, to: "default")
    try makeGroups()
    let oldCommit = try makeItems()
    try world.succeed(.owner, "sync")
    for person in [KeyLifeWorld.Person.admin, .member] {
      try world.succeed(person, "clone", world.hub, "--fingerprint", try world.fingerprint(of: .owner))
      try world.succeed(person, "add", "\(person).example/a", input: "of \(person)")
      try world.succeed(person, "sync")
    }
    try world.succeed(.owner, "sync")
    try world.succeed(.admin, "sync")
    return oldCommit
  }

  private func add(_ person: KeyLifeWorld.Person, to group: String, _ more: String...) throws {
    let words = ["group", "add", group, try world.export(person), "--fingerprint"]
    let answer = try world.keytree(.owner, words + [try world.fingerprint(of: person)] + more)
    guard answer.code == 0 else { throw KeyLifeWorld.Unexpected(description: answer.all) }
  }

  /// Creates a group of the member for each admin and phase, from which the admin removes the member.
  private func makeGroups() throws {
    try world.succeed(.owner, "group", "create", "ops")
    try world.succeed(.owner, "group", "add", "ops", try world.fingerprint(of: .admin))
    let member = try world.fingerprint(of: .member)
    for phase in KeyMatrix.Phase.allCases {
      for person in [KeyLifeWorld.Person.owner, .admin] {
        try world.succeed(.owner, "group", "create", Self.name(phase, person))
        try world.succeed(.owner, "group", "add", Self.name(phase, person), member)
      }
    }
  }

  private func makeItems() throws -> String {
    try world.succeed(.owner, "add", "owner.example/a", input: "one")
    let commit = try GnuPGTool.run("git", ["-C", world.store(of: .owner), "rev-parse", "HEAD"])
    try world.succeed(.owner, "set", "owner.example/a", "--secret", input: "two")
    for phase in KeyMatrix.Phase.allCases {
      for person in KeyLifeWorld.Person.team {
        for (name, isKept) in [("spare", true), ("label", true), ("secret", true), ("gone", false)] {
          let item = "\(name).example/\(Self.name(phase, person))"
          try world.succeed(.owner, "add", item, input: name)
          if !isKept { try world.succeed(.owner, "rm", item) }
        }
      }
    }
    return String(decoding: commit.dropLast(), as: UTF8.self)
  }
}
