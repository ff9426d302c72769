import Foundation
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing
@testable import Keyring
@testable import PasswordAudit
@testable import Terminal

@Suite("Audit of a store", .serialized)
struct AuditTests {
  private let store = StandInStore()
  private let keyring: Keyring

  init() throws { keyring = try store.create() }

  private func add(_ account: String, _ secret: String, group: String = GroupName.default) throws
    -> ItemRecord
  {
    var item = NewItem.login("bank.example", account)
    item.group = group
    return try store.open().add(item, secret: SecretBytes(text: secret))
  }

  /// Audits all items, some days after they were added.
  private func audit(days: Int? = nil, after passed: Int = 0) throws -> AuditReport {
    var host = store.host
    let now = host.clock().microseconds + Int64(passed) * 86_400_000_000
    host.clock = { Timestamp(microseconds: now) }
    let keyring = try store.open()
    let talk = MemoryOutput()
    let console = Console(input: MemoryInput(screen: talk), output: MemoryOutput(), talk: talk)
    let audit = Audit(keyring: keyring, host: host, estimator: nil, breaches: nil, days: days)
    return try audit.run(try keyring.find(Query()).items, console: console)
  }

  private func accounts(_ report: AuditReport, _ kind: AuditFinding.Kind) -> [String] {
    report.findings.filter { $0.kind == kind }.flatMap { finding -> [ItemRecord] in
      switch finding {
      case .reused(let records): records
      case .weak(let record, _), .breached(let record, _), .old(let record), .unencrypted(let record, _):
        [record]
      case .key: []
      }
    }.compactMap { $0.attributes[.account]?.contentBytes.map { String(decoding: $0, as: UTF8.self) } }
  }

  @Test("a secret is old after the given number of days, and a change of attributes does not renew it")
  func old() throws {
    let record = try add("a", "secret")
    _ = try add("b", "another")
    var label = Attributes()
    label[.label] = "new"
    try keyring.update(record, AttributeChanges(set: label))
    #expect(accounts(try audit(after: 1000), .old).isEmpty, "age is reported on request")
    #expect(accounts(try audit(days: 365, after: 364), .old).isEmpty)
    #expect(accounts(try audit(days: 365, after: 366), .old) == ["a", "b"])
  }

  @Test("items of groups that the user is not a member of are not examined, and are named")
  func otherGroups() throws {
    let other = EngineDouble.fingerprint(2)
    try store.join(other, "ops")
    _ = try add("mine", "same")
    let theirs = try add("theirs", "same", group: "ops")
    try store.changePolicy { $0.groups["ops"] = [other] }
    let before = store.engine.statistics.decryptions
    let report = try audit()
    #expect(store.engine.statistics.decryptions == before + 1)
    #expect(report.items == 2 && report.examined == 1)
    #expect(report.findings.isEmpty)
    #expect(report.unexamined.map(\.record.id) == [theirs.id])
    #expect(!report.hasUnreadableItem)
  }

  @Test("a damaged item is reported, and the others are examined")
  func damaged() throws {
    let records = try ["a", "b", "c", "d"].map { try add($0, "same") }
    // The first item is damaged too, so that the search for one that can be decrypted continues.
    for record in [records[0], records[2]] {
      try store.tree().replaceFile(
        StoreLayout.itemFile(record.path, isLocal: false), with: [1, 2, 3], temporary: "tmp")
    }
    let report = try audit()
    #expect(accounts(report, .reused) == ["b", "d"])
    #expect(report.examined == 2)
    #expect(report.hasUnreadableItem)
    #expect(Set(report.unexamined.map(\.record.id)) == [records[0].id, records[2].id])
  }

  @Test("a cancelled prompt ends the audit after one attempt")
  func cancelled() throws {
    let records = try ["a", "b", "c", "d"].map { try add($0, "secret") }
    // An item that is not even decrypted does not show that a prompt was answered.
    try store.tree().replaceFile(
      StoreLayout.itemFile(records[0].path, isLocal: false), with: [1, 2, 3], temporary: "tmp")
    store.engine.refusal = .cancelled
    let before = store.engine.statistics.decryptions
    #expect(throws: KeyringError.self) { try audit() }
    #expect(store.engine.statistics.decryptions == before + 1)
  }

  @Test("the key of a member that has expired is found once, with the groups whose items were examined")
  func keys() throws {
    let other = EngineDouble.fingerprint(2)
    let third = EngineDouble.fingerprint(3)
    try store.join(other, GroupName.default, "ops")
    try store.join(third, "unused")
    _ = try add("a", "secret")
    _ = try add("b", "other secret", group: "ops")
    let end = Timestamp(microseconds: 1_600_000_000_000_000)
    for person in [other, third] { store.engine.makeUnusable(person, .expired(end)) }
    let report = try audit()
    #expect(report.findings.count == 1)
    guard case .key(let key, _) = report.findings.first else { return }
    #expect(key == UnusableKey(person: other, problem: .expired(end), groups: [GroupName.default, "ops"]))
    #expect(report.findings[0].kind == .expiredKey)
    store.engine.makeUnusable(other, .revoked)
    #expect(try audit().findings.map(\.kind) == [.unusableKey])
  }

  @Test("an empty secret is very weak, also without libzxcvbn, and is not called reused")
  func empty() throws {
    for (account, secret) in [("a", ""), ("b", "\n"), ("c", "secret")] { _ = try add(account, secret) }
    let report = try audit()
    #expect(report.findings.count == 2)
    #expect(accounts(report, .weak) == ["a", "b"])
  }

  @Test("many items are examined on several threads, each once")
  func many() throws {
    let items = (0..<60).map { NewItem.login("host\($0).example", "x") }
    _ = try keyring.addAll(items, secret: { SecretBytes(text: "secret \($0 % 20)") })
    let report = try audit()
    #expect(report.examined == 60)
    #expect(report.findings.count == 20)
    for case .reused(let records) in report.findings { #expect(records.count == 3) }
  }
}
