import Foundation
import Glibc
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests the private home that gpg works in.
@Suite(.serialized) struct EngineHomeTests {
  private let home: GnuPGHome

  init() throws { home = try GnuPGHome() }

  private var names: [String] {
    get throws { try home.engineHomes }
  }

  private func folder() throws -> String {
    home.locations.runtimeBase + "/" + (try #require(try names.first))
  }

  private func make(_ people: [GnuPGKey] = [.alice], keyringID: String = "test") throws(EngineError) {
    try Engine(home, people: people, keyringID: keyringID)
      .checkRecipients([Recipient(GnuPGKey.alice.fingerprint)])
  }

  @Test func `the second listing that a revoked key needs is counted`() throws {
    let home = try GnuPGHome()
    let sets: [[GnuPGKey]] = [[.alice], [.alice], [.alice, .revoked]]
    let counts = try sets.enumerated().map { number, people in
      let engine = Engine(home, people: people, keyringID: "\(number)")
      _ = try engine.publicKeys()
      return engine.statistics.processes
    }
    #expect(counts[2] == counts[1] + 1)
  }

  @Test func `every set of keys, every keyring and every user's home has its own folder`() throws {
    try make()
    try make()
    #expect(try names.count == 1)
    try make([.alice, .bob])
    try make(keyringID: "other")
    var locations = home.locations
    locations.userHome = home.folder
    let engine = Engine(
      locations: locations, keyringID: "test", keys: GnuPGKey.files([.alice]), interaction: .never)
    try engine.checkRecipients([Recipient(GnuPGKey.alice.fingerprint)])
    #expect(try names.count == 4)
    #expect(try names.allSatisfy { $0.count == 16 && KeyID($0) != nil })
  }

  @Test func `the folder is private and contains no secret`() throws {
    try make()
    let attributes = try FileManager.default.attributesOfItem(atPath: try folder())
    #expect(attributes[.posixPermissions] as? Int == 0o700)
    #expect(!(try FileManager.default.fileExists(atPath: folder() + "/private-keys-v1.d")))
    #expect(!(try FileManager.default.fileExists(atPath: folder() + "/trustdb.gpg")))
  }

  @Test func `a base that others can write to is refused`() throws {
    try make()
    let base = home.locations.runtimeBase
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: base)
    #expect(throws: EngineError.unsafeEngine(path: base, reason: "others can write to it")) { try make() }
  }

  @Test(arguments: ["relative", "", "/", "/tmp/../tmp/x", "/tmp/./x"])
  func `a base that is not a plain absolute path is refused`(base: String) throws {
    var locations = home.locations
    locations.runtimeBase = base
    let engine = Engine(locations: locations, keyringID: "test", keys: [:], interaction: .never)
    #expect(throws: EngineError.self) { try engine.checkRecipients([]) }
    #expect(engine.statistics.processes == 0)
  }

  @Test func `damaged key files cost few processes, regardless of their number`() throws {
    var files = GnuPGKey.files([.alice, .bob])
    for number in 10..<50 {
      let person = try #require(Fingerprint(String(repeating: "0", count: 38) + String(number)))
      // Truncated, so that gpg reads no file after it.
      files[person] = Array(GnuPGKey.carol.publicKey.prefix(300)) + Array("=AAAA\n".utf8)
    }
    let engine = Engine(locations: home.locations, keyringID: "test", keys: files, interaction: .never)
    #expect(
      Set(try engine.publicKeys().map(\.fingerprint)) == [
        GnuPGKey.alice.fingerprint, GnuPGKey.bob.fingerprint,
      ])
    #expect(engine.statistics.processes <= 7)
  }

  @Test func `other people's keys in a key file cost few processes and are not imported`() throws {
    let others: [GnuPGKey] = [.bob, .carol, .rsa, .several, .expired, .revoked, .signonly]
    var file = GnuPGKey.alice.publicKey
    for other in others { file += [10] + other.publicKey }
    let engine = Engine(
      locations: home.locations, keyringID: "test", keys: [GnuPGKey.alice.fingerprint: file],
      interaction: .never)
    #expect(try engine.publicKeys().map(\.fingerprint) == [GnuPGKey.alice.fingerprint])
    let listed = try GnuPGTool.run(
      "gpg",
      ["--homedir", home.locations.runtimeBase + "/" + names[0], "--batch", "--with-colons", "--list-keys"])
    #expect(
      String(decoding: listed, as: UTF8.self).split(separator: "\n").count { $0.hasPrefix("pub:") } == 1)
    #expect(engine.statistics.processes <= 7)
  }

  @Test func `a home that a power cut has damaged is created again`() throws {
    try make()
    // The machine was restarted since, and the people's keys were not on disk yet.
    let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
      .trimmingCharacters(in: .newlines)
    let stamp = URL(fileURLWithPath: try folder() + "/ready")
    let text = try String(contentsOf: stamp, encoding: .utf8)
    try Data(text.replacingOccurrences(of: boot, with: "another").utf8).write(to: stamp)
    try Data().write(to: URL(fileURLWithPath: try folder() + "/pubring.kbx"))
    let engine = Engine(home, people: [.alice], keyringID: "test")
    #expect(try engine.sealed(to: [.alice]).count > 0)
  }

  @Test func `one of eight concurrent engines creates the home`() async throws {
    let processes = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        group.addTask {
          let engine = Engine(home, people: [.alice, .bob])
          try engine.checkRecipients([Recipient(GnuPGKey.alice.fingerprint)])
          return engine.statistics.processes
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(processes.filter { $0 > 0 }.count == 1)
    #expect(try names.count == 1)
  }

  @Test func `homes that were not used for a week are removed, and others are not`() throws {
    try make([.alice])
    let old = try folder()
    let inUse = Engine(home, people: [.alice, .carol])
    try inUse.checkRecipients([Recipient(GnuPGKey.alice.fingerprint)])
    let used = try #require(names.map { home.locations.runtimeBase + "/" + $0 }.first { $0 != old })
    try make([.alice, .rsa])
    let recent = try #require(
      names.map { home.locations.runtimeBase + "/" + $0 }.first { $0 != old && $0 != used })
    let foreign = home.locations.runtimeBase + "/something-else"
    try FileManager.default.createDirectory(atPath: foreign, withIntermediateDirectories: false)
    for path in [old, used, foreign] {
      let stamp = path == foreign ? path : path + "/ready"
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -8 * 86_400)], ofItemAtPath: stamp)
    }
    try make([.alice, .several])
    #expect(!FileManager.default.fileExists(atPath: old))
    for path in [used, recent, foreign] { #expect(FileManager.default.fileExists(atPath: path)) }
    // The engine that was in use still works.
    #expect(try inUse.sealed(to: [.carol]).count > 0)
  }

  @Test func `using a home updates its time stamp`() throws {
    try make()
    let stamp = try folder() + "/ready"
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -8 * 86_400)], ofItemAtPath: stamp)
    try make()
    let date = try FileManager.default.attributesOfItem(atPath: stamp)[.modificationDate] as? Date
    #expect(try #require(date).timeIntervalSinceNow > -3600)
  }
}
