import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

@testable import Keyring

/// Tests the records that a process remembers after it has verified them. `RecordMatrixTests` tries forged records.
@Suite(.serialized) struct RememberedRecordsTests {
  private let store = StandInStore()

  private func open() throws -> Keyring {
    var host = store.host
    host.secretLifetime = .seconds(60)
    return try Keyring.open(at: store.path, host: host, faults: nil, engine: store.engine)
  }

  private func claim(of record: ItemRecord) throws -> RecordClaim {
    RecordClaim(try #require(try store.bytes(store.recordFile(record))), path: record.path)
  }

  @Test func `a record is remembered only by a process that keeps secrets`() throws {
    try store.create()
    let item = try store.open().add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    #expect(try store.open().rememberedRecords == nil)
    let keyring = try open()
    let records = try #require(keyring.rememberedRecords)
    for _ in 0..<2 {
      _ = try keyring.secret(for: item)
      #expect(records.count == 1)
    }
    let file = try #require(records.record(of: try claim(of: item)))
    #expect(file.file.record == item && file.signer == store.owner)
  }

  @Test func `a changed record is verified again and replaces the old one`() throws {
    try store.create()
    let item = try store.open().add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    let keyring = try open()
    _ = try keyring.secret(for: item)
    let changed = try store.open().update(item, .set(.label, "new"), secret: SecretBytes(text: "t"))
    let records = try #require(keyring.rememberedRecords)
    #expect(records.record(of: try claim(of: changed)) == nil)
    #expect(try keyring.text(of: changed) == "t")
    #expect(records.record(of: try claim(of: changed))?.file.record == changed)
    #expect(records.count == 1)
  }

  @Test func `the same bytes at another path are not the remembered record`() throws {
    try store.create()
    let item = try store.open().add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    let other = try store.open().add(.login("b.example", "me"), secret: SecretBytes(text: "s"))
    let keyring = try open()
    _ = try keyring.secret(for: item)
    let moved = RecordClaim(try claim(of: item).bytes, path: other.path)
    guard case .failure(.mismatch(.place)) = try keyring.verifier.verify(moved) else {
      Issue.record("the record is accepted at another path")
      return
    }
  }

  @Test func `a signer who is no longer a member is refused although the record is remembered`() throws {
    try store.create()
    let item = try store.open().add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    let keyring = try open()
    _ = try keyring.secret(for: item)
    var policy = keyring.policy
    policy.groups["default"] = [EngineDouble.fingerprint(2)]
    let verifier = RecordVerifier(
      policy: policy, engine: store.engine, roots: keyring.roots, remembered: keyring.rememberedRecords,
      workers: 1)
    guard case .failure(.damage(.badSignature)) = try verifier.verify(try claim(of: item)) else {
      Issue.record("the record is accepted")
      return
    }
  }

  @Test func `the number of records is limited`() throws {
    try store.create()
    let keyring = try store.open()
    let item = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "s"))
    let claim = try claim(of: item)
    guard case .success(let verified) = try keyring.verifier.verify(claim) else {
      Issue.record("the record is refused")
      return
    }
    let records = RememberedRecords()
    for number in 0..<RememberedRecords.countLimit + 5 {
      let path = try #require(ItemPath(validating: "internet-password/host\(number).example/me"))
      records.remember(verified, of: RecordClaim(claim.bytes, path: path))
    }
    #expect(records.count == RememberedRecords.countLimit)
    // The newest one is there in any case.
    let last = ItemPath(validating: "internet-password/host\(RememberedRecords.countLimit + 4).example/me")
    #expect(records.record(of: RecordClaim(claim.bytes, path: last)) != nil)
    let large = RecordClaim([UInt8](repeating: 0x20, count: RememberedRecords.sizeLimit + 1), path: item.path)
    records.remember(verified, of: large)
    #expect(records.record(of: large) == nil)
  }
}
