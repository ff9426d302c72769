import Foundation
import TestSupport
import Testing

extension Trait where Self == ConditionTrait {
  /// Runs the tests only if the library faketime is installed, with which keys expire without waiting.
  static var needsFaketime: Self {
    .enabled(if: KeyLifeWorld.isPossible, "faketime is not installed (Debian package faketime)")
  }
}

/// A team whose keys change: machines with real GnuPG homes, clones of one store, and the built command, all under a
/// simulated clock.
///
/// The library faketime gives the command, gpg and git the simulated time. Its program of this name is not used: it
/// fails if a process with the same number left a semaphore behind.
final class KeyLifeWorld: @unchecked Sendable {
  // Unchecked, because the time can be changed. The steps of one world run one after another.

  /// The machines. Each is that of another person, with one exception.
  enum Person: String, CaseIterable {
    /// The first admin, whose key changes. The primary key only certifies.
    case owner
    /// The second admin.
    case admin
    /// A member who is not an admin.
    case member
    /// A new machine of the member, which has not accepted any policy.
    case newcomer
    /// A person who is not in the policy.
    case guest
    /// A continuous integration job, without a secret key.
    case job

    /// The user id of the person's key.
    var userID: String { "\(rawValue.capitalized) Example <\(rawValue)@life.example>" }

    /// The people who have a clone of the store.
    static let team: [Person] = [.owner, .admin, .member]
  }

  /// The result of a program.
  struct Answer {
    let code: Int32
    let output: String
    let talk: String
    var all: String { output + talk }
  }

  /// A step of the preparation that failed.
  struct Unexpected: Error, CustomStringConvertible { let description: String }

  /// The library that simulates the clock; nil if it is not installed.
  private static let clock: String? = {
    // Without the folder no library is installed.
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
    return folders.map { "/usr/lib/\($0)/faketime/libfaketime.so.1" }.first(
      where: FileManager.default.fileExists)
  }()
  /// True if the clock can be simulated.
  static let isPossible = clock != nil

  /// The team before any event, of which each test uses a copy.
  static let base = Result { try KeyLifeWorld() }

  private let scratch = ScratchFolder()
  /// The folder with all machines.
  var folder: String { scratch.path }
  /// The simulated time when it was set last, as `yyyy-MM-dd hh:mm:ss` in UTC. It goes on from then.
  var now: String {
    get { start.simulated }
    set { start = (newValue, Date()) }
  }
  private var start = (simulated: "2030-01-01 12:00:00", real: Date())
  /// The fingerprints of the primary keys. A replacement changes them.
  var primary: [Person: String] = [:]
  /// The fingerprint of the person who has created the store, which stays what it is when their key is replaced.
  private(set) var anchor = ""
  /// The commit before the newest version of `owner.example/a`.
  private(set) var oldCommit = ""

  /// Creates a team with a shared store.
  init() throws {
    for person in Person.allCases { try makeMachine(of: person) }
    try makeKeys()
    now = "2030-01-02 12:00:00"
    anchor = try fingerprint(of: .owner)
    oldCommit = try KeyLifeStore(self).make()
    for person in Person.allCases { stopAgent(of: person) }
  }

  /// Creates a copy of a team, with copies of all machines, two months later.
  init(copying other: KeyLifeWorld) throws {
    (now, primary) = ("2030-03-01 12:00:00", other.primary)
    (anchor, oldCommit) = (other.anchor, other.oldCommit)
    for name in Person.allCases.map(\.rawValue) + ["hub.git", "guest.asc"] {
      try GnuPGTool.run("cp", ["-a", "\(other.folder)/\(name)", "\(folder)/\(name)"])
    }
    for person in Person.team {
      try GnuPGTool.run("git", ["-C", store(of: person), "remote", "set-url", "origin", hub])
      // The engine homes of the original redirect to its agents.
      try FileManager.default.removeItem(atPath: "\(folder)/\(person)/run")
      try makeFolder("\(person)/run")
    }
  }

  deinit { for person in Person.allCases { stopAgent(of: person) } }

  /// The shared repository.
  var hub: String { file("hub.git") }
  /// Returns the store of a person.
  func store(of person: Person) -> String { file("\(person)/store") }
  /// Returns the path of a file for exchange between the people.
  func file(_ name: String) -> String { "\(folder)/\(name)" }
  /// Returns the fingerprint of a person's primary key.
  func fingerprint(of person: Person) throws -> String { try #require(primary[person]) }

  // MARK: Programs

  /// Runs a program as a person, at the simulated time.
  @discardableResult
  func run(
    _ person: Person, _ words: [String], input: String = "", more: [String: String] = [:]
  ) throws -> Answer {
    let answer = try runOnce(person, words, input: input, more: more)
    // The library ends a process before the program starts if an earlier process with the same number left shared memory
    // behind. It was removed now.
    guard answer.talk.hasPrefix("libfaketime: In ft_shm_create()") else { return answer }
    return try runOnce(person, words, input: input, more: more)
  }

  private func runOnce(
    _ person: Person, _ words: [String], input: String, more: [String: String]
  ) throws -> Answer {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = words
    process.environment = try variables(of: person).merging(more) { $1 }
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    // Files, because a pipe that a background agent inherits would stay open.
    let (source, output, talk) = (file("in-\(UUID())"), file("out-\(UUID())"), file("talk-\(UUID())"))
    for (path, text) in [(source, input), (output, ""), (talk, "")] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }
    process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: source))
    process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
    process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: talk))
    try process.run()
    process.waitUntilExit()
    let isExit = process.terminationReason == .exit
    let answer = Answer(
      code: isExit ? process.terminationStatus : -process.terminationStatus,
      output: String(decoding: try Data(contentsOf: URL(fileURLWithPath: output)), as: UTF8.self),
      talk: String(decoding: try Data(contentsOf: URL(fileURLWithPath: talk)), as: UTF8.self))
    for path in [source, output, talk] { try FileManager.default.removeItem(atPath: path) }
    // env, which is replaced by the program, does not remove the files of the library. The semaphore goes first, because
    // a background process that finds it makes the shared memory again.
    for name in ["sem.faketime_sem_", "faketime_shm_"] {
      // The library may have made none.
      try? FileManager.default.removeItem(atPath: "/dev/shm/\(name)\(process.processIdentifier)")
    }
    return answer
  }

  /// Runs keytree as a person.
  func keytree(
    _ person: Person, _ words: [String], input: String = "", more: [String: String] = [:]
  ) throws -> Answer {
    try run(person, [ProcessesProgram.path] + words, input: input, more: more)
  }

  /// Runs keytree as a person, and throws an error if it fails.
  @discardableResult
  func succeed(_ person: Person, _ words: String..., input: String = "") throws -> Answer {
    let answer = try keytree(person, words, input: input)
    guard answer.code == 0 else {
      throw Unexpected(description: "\(person) \(words): \(answer.code) \(answer.all)")
    }
    return answer
  }

  /// Runs gpg as a person, and throws an error if it fails.
  @discardableResult
  func gpg(_ person: Person, _ words: [String], input: String = "") throws -> String {
    let options = ["gpg", "--batch", "--quiet", "--no-tty", "--yes", "--pinentry-mode", "loopback"]
    let answer = try run(person, options + ["--passphrase", ""] + words, input: input)
    guard answer.code == 0 else {
      throw Unexpected(description: "gpg \(words): \(answer.code) \(answer.talk)")
    }
    return answer.output
  }

  /// Runs `keytree sync` for everyone, until all have the same. The last one needs to do so only once.
  func syncEverywhere() throws {
    for person in Person.team + [.owner, .admin] { try succeed(person, "sync") }
  }

  /// Stops the agent of a person.
  func stopAgent(of person: Person) {
    // If there is no agent, there is nothing to stop.
    _ = AgentSocket.kill(at: file("\(person)/g/S.gpg-agent"))
  }

  /// The difference of the simulated time to the real one, in seconds.
  private var delay: Int {
    get throws {
      let text = "\(start.simulated.replacing(" ", with: "T"))Z"
      let simulated = try #require(ISO8601DateFormatter().date(from: text))
      return Int(simulated.timeIntervalSince(start.real).rounded(.up))
    }
  }

  private func variables(of person: Person) throws -> [String: String] {
    let own = file(person.rawValue)
    let program = URL(fileURLWithPath: ProcessesProgram.path).deletingLastPathComponent().path
    return [
      "PATH": "\(program):/usr/bin:/bin", "HOME": own, "GNUPGHOME": "\(own)/g",
      "XDG_RUNTIME_DIR": "\(own)/run",
      "XDG_STATE_HOME": "\(own)/state", "XDG_DATA_HOME": "\(own)/data", "KEYTREE_STORE": store(of: person),
      "TZ": "UTC", "LC_ALL": "C.UTF-8",
      // Files keep their real times, and waiting is not simulated.
      "NO_FAKE_STAT": "1", "DONT_FAKE_MONOTONIC": "1",
      "LD_PRELOAD": try #require(Self.clock), "FAKETIME": String(format: "%+d", try delay),
    ]
  }

  // MARK: Preparation

  private func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(
      atPath: file(name), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  private func makeMachine(of person: Person) throws {
    for name in ["", "/g", "/run", "/state", "/data"] { try makeFolder("\(person)\(name)") }
    try Data("s2k-count 65536\nallow-loopback-pinentry\n".utf8)
      .write(to: URL(fileURLWithPath: file("\(person)/g/gpg-agent.conf")))
  }

  private func makeKeys() throws {
    try gpg(.owner, ["--quick-gen-key", Person.owner.userID, "ed25519", "cert", "never"])
    primary[.owner] = try primaries(of: .owner).first
    for (algorithm, use) in [("ed25519", "sign"), ("cv25519", "encr")] {
      try gpg(.owner, ["--quick-add-key", try fingerprint(of: .owner), algorithm, use, "never"])
    }
    for person in [Person.admin, .member, .guest] {
      try gpg(person, ["--quick-gen-key", person.userID, "default", "default", "never"])
      primary[person] = try primaries(of: person).first
    }
    try export(.guest)
    let secret = try gpg(.member, ["--armor", "--export-secret-keys"])
    try gpg(.newcomer, ["--import"], input: secret)
    primary[.newcomer] = primary[.member]
  }
}
