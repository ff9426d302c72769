import Foundation
@testable import Keyring
import KeyringModel
import OpenPGP
import Secrets
import Subprocess
import Sync
import Synchronization
import TestSupport
import Testing

/// Tests the commits that a program gets without asking for them when it changes a store with the library.
@Suite("Commits by the library", .serialized, .waits) struct HistoryWriterTests {
  private let world: SyncWorld

  init() throws { world = try SyncWorld.withHistory() }

  /// The context of a program that uses the library.
  private var host: HostContext {
    var host = world.host
    host.searchPath = world.variables["PATH"] ?? ""
    host.environment = world.environment
    return host
  }

  private func open(_ host: HostContext? = nil) throws -> Keyring {
    try Keyring.open(at: world.path, host: host ?? self.host, faults: nil, engine: world.store.engine)
  }

  /// Opens the store like a process that is killed before it commits anything.
  private func openWithoutCommits() throws -> Keyring {
    var host = host
    host.commitsChanges = false
    return try open(host)
  }

  /// Returns the secrets that the history has of an item, the oldest first.
  private func secrets(_ item: ItemRecord) throws -> [String] {
    let path = "items/\(item.path.text).gpg"
    let commits = try world.lines("log", "--reverse", "--format=%H", "--diff-filter=AM", "--", path)
    return try commits.map { commit in
      var run = ProgramRun(
        "/usr/bin/git", ["cat-file", "blob", "\(commit):\(path)"], environment: world.environment)
      run.folder = world.path
      return try world.store.engine.open(try run.run().output, limit: 100).text()
    }
  }

  private func isCommitted(_ subject: String) throws -> Bool { try world.subjects().contains(subject) }

  /// Waits until the history has a commit with a subject.
  private func wait(for subject: String) throws {
    for _ in 0..<600 where try !isCommitted(subject) { usleep(50_000) }
    #expect(try isCommitted(subject))
  }

  @Test func `a program stores a secret twice and removes it: the history has both`() throws {
    let item = try {
      let keyring = try open()
      let item = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "first"))
      let second = try keyring.update(item, secret: SecretBytes(text: "second"))
      try keyring.delete([second])
      return item
    }()
    #expect(try secrets(item) == ["first", "second"])
    #expect(
      try world.subjects() == [
        "remove internet-password/a.example/me", "change internet-password/a.example/me",
        "add internet-password/a.example/me", "make the keyring",
      ])
    let (head, files) = try world.compare()
    #expect(head == files)
  }

  @Test func `a change is committed although the program neither changes anything else nor ends`() throws {
    let keyring = try open()
    try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    try wait(for: "add internet-password/a.example/me")
    withExtendedLifetime(keyring) {}
  }

  @Test func `changes that wait for a commit are committed together`() throws {
    let keyring = try openWithoutCommits()
    for number in 0..<5 { try keyring.add(.login("\(number).example", "me"), secret: SecretBytes(text: "s")) }
    try keyring.commitHistory()
    let message = try world.git(["log", "-1", "--format=%B"])
    #expect(message.hasPrefix("change 5 times\n") && message.contains("add internet-password/4.example/me"))
    #expect(try world.subjects().count == 2)
  }

  /// Changes that replace or remove the version that is at the path of an item.
  private static let replacements: [@Sendable (Keyring, ItemRecord) throws -> Void] = [
    { try $0.update($1, secret: SecretBytes(text: "other")) },
    { try $0.update($1, AttributeChanges(set: [.label: "L"])) },
    { try $0.update($1, AttributeChanges(set: [.account: "carol"])) },
    { try $0.update($1, AttributeChanges(isLocal: true)) },
    { try $0.delete([$1]) },
    { keyring, item in
      try keyring.transaction { changes throws(KeyringError) in
        try changes.delete(item)
        try changes.add(.login("a.example", "me"), secret: SecretBytes(text: "other"))
      }
    },
  ]

  @Test(arguments: replacements.indices)
  func `a version that a killed process has stored is committed before another process replaces it`(
    number: Int
  ) throws {
    let item = try openWithoutCommits().add(.login("a.example", "me"), secret: SecretBytes(text: "first"))
    #expect(try world.subjects() == ["make the keyring"])
    try Self.replacements[number](try openWithoutCommits(), item)
    #expect(try isCommitted("add internet-password/a.example/me"))
    #expect(try secrets(item).first == "first")
  }

  @Test func `a version whose commit was interrupted is committed before it is replaced`() throws {
    let item = try openWithoutCommits().add(.login("a.example", "me"), secret: SecretBytes(text: "first"))
    let identity = try #require(try world.repository()).identity
    for state in ["tried", "forgotten"] {
      let journal = CommitJournal(of: try FileTree(at: world.path))
      try state == "tried" ? journal.begin(in: identity) : journal.forget()
      try openWithoutCommits().update(item, secret: SecretBytes(text: state))
      #expect(try secrets(item).last == (state == "tried" ? "first" : "tried"))
    }
  }

  @Test func `nothing is committed before a version is replaced that is in the history`() throws {
    let item = try world.add("a.example", "me")
    try world.commit()
    try openWithoutCommits().add(.login("b.example", "me"), secret: SecretBytes(text: "s"))
    try openWithoutCommits().update(item, secret: SecretBytes(text: "other"))
    #expect(try world.subjects().count == 2)
  }

  @Test func `a version that git cannot commit is neither replaced nor removed`() throws {
    let item = try openWithoutCommits().add(.login("a.example", "me"), secret: SecretBytes(text: "first"))
    let sign = "\(world.path)/.git/MERGE_HEAD"
    try Data("x\n".utf8).write(to: URL(fileURLWithPath: sign))
    let keyring = try openWithoutCommits()
    let error = KeyringError.history(HistoryError(.inProgress(.merge)))
    #expect(throws: error) { try keyring.update(item, secret: SecretBytes(text: "second")) }
    #expect(throws: error) { try keyring.delete([item]) }
    #expect(try keyring.secret(for: item).text() == "first")
    // Other items can be added.
    try keyring.add(.login("b.example", "me"), secret: SecretBytes(text: "s"))
    try FileManager.default.removeItem(atPath: sign)
    try keyring.update(item, secret: SecretBytes(text: "second"))
    #expect(try secrets(item) == ["first"])
  }

  @Test func `a commit that fails is reported once, and the change is stored`() throws {
    let sign = "\(world.path)/.git/MERGE_HEAD"
    try Data("x\n".utf8).write(to: URL(fileURLWithPath: sign))
    let reported = Mutex<[KeyringError]>([])
    var host = host
    host.historyFailed = { error in reported.withLock { $0.append(error) } }
    try {
      let keyring = try open(host)
      try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    }()
    #expect(reported.withLock { $0 } == [.history(HistoryError(.inProgress(.merge)))])
    try FileManager.default.removeItem(atPath: sign)
    let keyring = try open()
    #expect(try keyring.find(Query()).items.count == 1)
    try keyring.commitHistory()
    #expect(try isCommitted("add internet-password/a.example/me"))
  }

  @Test func `a store without a repository, and one without git, are changed as before`() throws {
    let plain = try SyncWorld()
    var withoutGit = host
    withoutGit.searchPath = "/nonexistent"
    for (world, host) in [(plain, host), (self.world, withoutGit)] {
      let keyring = try Keyring.open(
        at: world.path, host: world === plain ? world.host : host, faults: nil, engine: world.store.engine)
      let item = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "first"))
      try keyring.delete([try keyring.update(item, secret: SecretBytes(text: "second"))])
      try keyring.commitHistory()
    }
    #expect(try world.subjects() == ["make the keyring"])
  }

  @Test func `a repository around the store that does not track it gets no commits`() throws {
    let plain = try SyncWorld()
    let home = plain.store.folder.path
    try plain.git(["init", "-q", "-b", "main"], in: home)
    var host = plain.host
    (host.searchPath, host.environment) = (plain.variables["PATH"] ?? "", plain.environment)
    let keyring = try Keyring.open(at: plain.path, host: host, faults: nil, engine: plain.store.engine)
    let item = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "first"))
    try keyring.delete([try keyring.update(item, secret: SecretBytes(text: "second"))])
    try keyring.commitHistory()
    #expect(try plain.lines("for-each-ref", in: home).isEmpty)
  }

  @Test func `a repository whose configuration can run programs gets no commits`() throws {
    let marker = "\(world.store.folder.path)/ran"
    try world.git(["config", "core.fsmonitor", "touch \(marker)"])
    let reported = Mutex<[KeyringError]>([])
    var host = host
    host.historyFailed = { error in reported.withLock { $0.append(error) } }
    try {
      let keyring = try open(host)
      try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    }()
    #expect(
      reported.withLock { $0 } == [.history(HistoryError(.unsafeConfiguration(keys: ["core.fsmonitor"])))])
    #expect(!FileManager.default.fileExists(atPath: marker))
  }

  @Test func `threads that replace items at the same time lose no version`() throws {
    let keyring = try open()
    let items = try (0..<4).map { number in
      try keyring.add(.login("\(number).example", "me"), secret: SecretBytes(text: "0"))
    }
    let errors = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { number in
      do {
        for round in 1...5 { try keyring.update(items[number], secret: SecretBytes(text: "\(round)")) }
      } catch {
        errors.withLock { $0.append("\(error)") }
      }
    }
    #expect(errors.withLock { $0 }.isEmpty)
    try keyring.commitHistory()
    for item in items { #expect(try secrets(item) == ["0", "1", "2", "3", "4", "5"]) }
  }
}
