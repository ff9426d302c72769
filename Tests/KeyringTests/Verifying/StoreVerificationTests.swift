import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests the verification of a store without a key and without a pin, with real GnuPG.
@Suite("Verifying a store", .serialized) struct StoreVerificationTests {
  /// Returns a store of two items, with people in its policy.
  private static func store(with others: [GnuPGKey] = []) throws -> (GnuPGStore, PolicyForge) {
    let store = GnuPGStore(try GnuPGHome(secret: [.alice]))
    let keyring = try store.create()
    for number in 1...2 {
      try keyring.add(.login("host\(number).example", "alice"), secret: SecretBytes(copying: [1, 2, 3]))
    }
    let forge = PolicyForge(store.gnupg, store: store.path)
    if !others.isEmpty { try forge.succeed(others.map { PolicyForge.adding($0) }, by: .alice) }
    return (store, forge)
  }

  private static func verify(_ store: GnuPGStore, at time: Timestamp? = nil) throws -> StoreVerification {
    var host = store.host
    if let time { host.clock = { time } }
    // Nothing of the user's own setup is available.
    host.gnupgHome = "/nonexistent"
    host.stateBase = "/nonexistent"
    let room = try VerificationWorkspace(host: host)
    defer { room.remove() }
    return try Keyring.forVerification(at: store.path, in: room).verify(in: room)
  }

  @Test func `a valid store has no findings, and is opened without a pin or a key`() throws {
    let (store, _) = try Self.store(with: [.bob])
    let result = try Self.verify(store)
    #expect(result.findings == [] && result.warnings == [] && result.items == 2)
  }

  @Test func `a keyring that is opened for verification cannot write`() throws {
    let (store, _) = try Self.store()
    let room = try VerificationWorkspace(host: store.host)
    defer { room.remove() }
    let keyring = try Keyring.forVerification(at: store.path, in: room)
    let secret = SecretBytes(copying: [1])
    #expect(throws: KeyringError.policyNotTrusted(.notPinned)) {
      try keyring.add(.login("new.example", "alice"), secret: secret)
    }
    let record = try #require(try keyring.find(Query()).items.first)
    #expect(throws: KeyringError.self) { _ = try keyring.secret(for: record) }
  }

  /// Days before the expiry of a key, and whether it gives a warning.
  @Test("a key that expires within 60 days gives a warning", arguments: [(1, true), (59, true), (61, false)])
  func ends(_ days: Int64, _ isWarned: Bool) throws {
    let (store, _) = try Self.store(with: [.expired])
    let person = GnuPGKey.expired.fingerprint
    let file = StoreLayout.keyFile(person)
    let now = try Self.verify(store)
    // The key has expired today, which makes nothing in the store invalid.
    #expect(now.findings == [])
    guard case .key(person, .expired(let end))? = now.warnings.first?.kind else {
      Issue.record("\(now.warnings)")
      return
    }
    let earlier = Timestamp(microseconds: end.microseconds - days * 86_400 * 1_000_000)
    // GnuPG, whose clock is the real one, reports the key as expired as well.
    let warnings = try Self.verify(store, at: earlier).warnings.filter {
      $0.kind != .key(person, .expired(end))
    }
    #expect(warnings == (isWarned ? [Finding(file, .keyEnds(person, end))] : []))
  }

  @Test func `a key that cannot encrypt is a finding, and a revoked one a warning`() throws {
    for (key, isFinding) in [(GnuPGKey.revoked, false), (.signonly, true)] {
      let (store, _) = try Self.store(with: [key])
      let result = try Self.verify(store)
      let reported = isFinding ? result.findings : result.warnings
      #expect(reported.map(\.path) == [StoreLayout.keyFile(key.fingerprint)], "\(result)")
      guard case .key(key.fingerprint, _)? = reported.first?.kind else {
        Issue.record("\(result)")
        continue
      }
      #expect((isFinding ? result.warnings : result.findings) == [])
    }
  }

  @Test func `an audit of the recipients starts no process`() throws {
    let (store, forge) = try Self.store()
    let room = try VerificationWorkspace(host: store.host)
    defer { room.remove() }
    let keyring = try Keyring.forVerification(at: store.path, in: room)
    try keyring.prepareAudit()
    let before = keyring.engineStatistics.processes
    let right = try keyring.auditRecipients()
    #expect(right.items == 2 && right.findings == [])
    let file = "items/internet-password/host1.example/alice.gpg"
    try store.gnupg.run(["--import"], input: GnuPGKey.carol.publicKey)
    try forge.write(try store.gnupg.encrypt([1], to: [.alice, .carol]), to: file)
    #expect(try keyring.auditRecipients().findings == [Finding(file, .damaged(.notAsRecorded))])
    #expect(keyring.engineStatistics.processes == before)
  }

  @Test func `an item that is not encrypted to exactly the members of its group is a finding`() throws {
    let (store, forge) = try Self.store()
    // As after a merge of a new member with an item that was added on the remote.
    let carol = GnuPGKey.carol
    try forge.succeed(
      [PolicyForge.adding(carol), .join(carol.fingerprint, group: GroupName.default)], by: .alice)
    let findings = try Self.verify(store).findings.filter { $0.path.hasSuffix(".gpg") }
    #expect(findings.count == 2)
    for finding in findings {
      guard case .wrongRecipients(let found, let expected) = finding.kind else {
        Issue.record("\(finding)")
        continue
      }
      #expect(found.count == 1 && expected.count == 2)
    }
  }

  @Test func `files of a killed process are removed after a day`() throws {
    let (store, _) = try Self.store()
    let base = store.host.engineBase
    for name in ["old", "young"] {
      try FileManager.default.createDirectory(
        atPath: "\(base)/.verify-\(name)/gnupg", withIntermediateDirectories: true)
    }
    let past = Date(timeIntervalSinceNow: -100_000)
    try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: "\(base)/.verify-old")
    _ = try Self.verify(store)
    let left = try FileManager.default.contentsOfDirectory(atPath: base).filter { $0.hasPrefix(".verify") }
    #expect(left == [".verify-young"])
  }
}
