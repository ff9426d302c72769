import Foundation
import TestSupport

extension KeyMatrix.Operation {
  /// All operations, in the order in which they run.
  static let all: [Self] = reading + writing + administration + receiving

  /// Creates an operation that is one command; `%` in its words is a name of the phase and the person.
  private init(
    _ words: String..., input: String = "", by people: [KeyLifeWorld.Person] = KeyLifeWorld.Person.team,
    need: KeyMatrix.Need, prints: String? = nil, changesPolicy: Bool = false
  ) {
    self.init(
      name: words.joined(separator: " "), people: people, need: need, prints: prints,
      changesPolicy: changesPolicy, phase: nil
    ) { matrix, person in try matrix.keytree(person, words, input: input) }
  }

  private static let admins: [KeyLifeWorld.Person] = [.owner, .admin]

  private static let reading: [Self] = [
    Self("get", "owner.example/a", need: .reading, prints: "two"),
    Self("get", "admin.example/a", need: .reading, prints: "of admin"),
    Self(name: "get --at", need: .readingOldVersion, prints: "one") { matrix, person in
      try matrix.keytree(person, ["get", "owner.example/a", "--at", matrix.world.oldCommit])
    },
    Self("find", "owner", need: .nothing, prints: "owner.example"),
    Self("show", "owner.example/a", need: .nothing, prints: "owner.example"),
    Self("history", "owner.example/a", need: .nothing, prints: "new secret"),
    Self("group", "show", "default", need: .nothing, prints: "@life.example"),
    Self("rotate", "status", need: .nothing),
    Self("status", need: .nothing, prints: "accepted"),
    Self("check", need: .usableKeys),
    Self("verify", need: .clock, prints: "policies"),
    Self("verify", "--strict", need: .usableKeys),
  ]

  private static let writing: [Self] = [
    Self("add", "new.example/%", input: "new", need: .encrypting),
    Self("set", "label.example/%", "--label", "changed", need: .signing),
    Self("set", "secret.example/%", "--secret", input: "changed", need: .encrypting),
    Self("rm", "spare.example/%", need: .nothing),
    Self("undelete", "gone.example/%", need: .restoring),
    Self("sync", need: .nothing),
  ]

  private static let administration: [Self] = [
    Self("group", "create", "new-%", by: admins, need: .signing, changesPolicy: true),
    Self("group", "reseal", by: admins, need: .nothing),
    Self(name: "group add", people: admins, need: .signing, changesPolicy: true) { matrix, person in
      let words = ["group", "add", "%", matrix.world.file("guest.asc"), "--fingerprint"]
      return try matrix.keytree(person, words + [try matrix.world.fingerprint(of: .guest)])
    },
    Self(name: "group remove", people: admins, need: .signing, changesPolicy: true) { matrix, person in
      try matrix.keytree(person, ["group", "remove", "%", try matrix.world.fingerprint(of: .member)])
    },
    Self(
      name: "group refresh", people: admins, need: .refreshing, prints: "No key has changed.", phase: .after
    ) { matrix, person in try matrix.keytree(person, ["group", "refresh"]) },
  ]

  private static let receiving: [Self] = [
    Self(name: "clone and trust", people: [.newcomer], need: .nothing, prints: "accepted") { matrix, person in
      try matrix.joinOnNewMachine(person)
    },
    Self(name: "verify of a job", people: [.job], need: .clock, prints: "policies") { matrix, person in
      let store = matrix.world.file("job/\(UUID())")
      try GnuPGTool.run("git", ["clone", "-q", matrix.world.hub, store])
      let anchor = matrix.world.anchor
      return try matrix.keytree(person, ["--store", store, "verify", "--fingerprint", anchor])
    },
    Self(name: "verify --pre-receive", people: [.job], need: .clock, prints: "main: ") { matrix, person in
      let world = matrix.world
      let tip = try GnuPGTool.run("git", ["-C", world.hub, "rev-parse", "main"])
      let change = "\(world.oldCommit) \(String(decoding: tip.dropLast(), as: UTF8.self)) refs/heads/main\n"
      return try world.keytree(
        person, ["verify", "--pre-receive"], input: change, more: ["GIT_DIR": world.hub, "KEYTREE_STORE": ""])
    },
  ]
}

extension KeyMatrix {
  /// Clones the store on a new machine, and accepts its policy by the fingerprint of its signer.
  fileprivate func joinOnNewMachine(_ person: KeyLifeWorld.Person) throws -> KeyLifeWorld.Answer {
    let store = world.file("newcomer/\(UUID())")
    let state = ["XDG_STATE_HOME": "\(store)-state"]
    let cloned = try world.keytree(person, ["--no-input", "clone", world.hub, store], more: state)
    let line = cloned.all.split(separator: "\n").first { $0.hasPrefix("signed by") } ?? ""
    guard let signer = line.split(separator: " ").first(where: { $0.count == 40 }) else { return cloned }
    let words = ["--store", store, "trust", "--fingerprint", String(signer)]
    return try world.keytree(person, words, more: state)
  }
}
