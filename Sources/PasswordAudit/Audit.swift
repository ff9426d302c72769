internal import CommandSupport
internal import Encoding
package import Keyring
package import KeyringModel
internal import OpenPGP
internal import Secrets
package import Terminal

/// An examination of the passwords of a store. It decrypts them, and keeps nothing but what it has found.
package struct Audit: Sendable {
  let keyring: Keyring
  let host: HostContext
  /// The estimator of strength; nil if it is not installed.
  let estimator: StrengthEstimator?
  /// The list of breached passwords; nil without one.
  let breaches: BreachedPasswords?
  /// The number of days after which an unchanged password is reported; nil to report none.
  let days: Int?

  /// Creates an examination.
  ///
  /// - Parameters:
  ///   - keyring: The store.
  ///   - host: The facts about this machine.
  ///   - estimator: The estimator of strength; nil if it is not installed.
  ///   - breaches: The list of breached passwords; nil without one.
  ///   - days: The number of days after which an unchanged password is reported; nil to report none.
  package init(
    keyring: Keyring, host: HostContext, estimator: StrengthEstimator?, breaches: BreachedPasswords?,
    days: Int?
  ) {
    (self.keyring, self.host) = (keyring, host)
    (self.estimator, self.breaches, self.days) = (estimator, breaches, days)
  }

  /// The result for one password.
  private struct Examination: Sendable {
    /// The position in the comparison; nil for an empty password, which is not compared.
    var place: RepeatedSecrets.Place?
    var weakness: Weakness?
    var breach: BreachedPasswords.Breach?
  }

  /// Examines items.
  ///
  /// - Parameters:
  ///   - records: The items, in the order of the report.
  ///   - console: The console on which the progress is drawn.
  /// - Returns: The findings.
  /// - Throws: The reason why an item cannot be decrypted, unless it concerns this item alone; `BreachListError`.
  package func run(_ records: [ItemRecord], console: Console) throws -> AuditReport {
    let groups = keyring.policy.groups.filter { $0.value.contains(keyring.ownFingerprint) }
    let own = records.filter { groups[$0.group] != nil }
    var report = AuditReport(items: records.count)
    report.unexamined = records.filter { groups[$0.group] == nil }.map { UnexaminedItem($0, .otherGroup) }
    let examined = try examineAll(own, console: console)
    report.unexamined += examined.unreadable
    report.examined = examined.items.count
    report.knowsStrength = estimator != nil
    let found = try findings(from: examined) + keyFindings(own)
    report.findings = found.enumerated()
      .sorted { ($0.element.kind, $0.offset) < ($1.element.kind, $1.offset) }.map(\.element)
    return report
  }

  /// The results for all items.
  private struct ExaminedItems {
    /// The items that were decrypted, with the results, in the order of the report.
    var items: [(record: ItemRecord, examination: Examination)] = []
    /// The items that could not be decrypted.
    var unreadable: [UnexaminedItem] = []
    /// The positions of equal passwords in the comparison.
    var repeated: [[RepeatedSecrets.Place]] = []
  }

  /// Decrypts and examines all items.
  private func examineAll(_ records: [ItemRecord], console: Console) throws -> ExaminedItems {
    let comparison = RepeatedSecrets(capacity: records.count)
    let results = try examine(records, comparison, console: console)
    var examined = ExaminedItems()
    for (record, result) in zip(records, results) {
      switch result {
      case .failure(let error): examined.unreadable.append(UnexaminedItem(record, .unreadable(error)))
      case .success(let examination): examined.items.append((record, examination))
      }
    }
    examined.repeated = comparison.repeated
    return examined
  }

  /// Returns the findings about the examined items, each kind in the order of the items.
  private func findings(from examined: ExaminedItems) -> [AuditFinding] {
    var findings: [AuditFinding] = []
    var numbers: [RepeatedSecrets.Place: Int] = [:]
    for (number, (record, examination)) in examined.items.enumerated() {
      if let place = examination.place { numbers[place] = number }
      if let weakness = examination.weakness { findings.append(.weak(record, weakness)) }
      if let breach = examination.breach { findings.append(.breached(record, breach)) }
    }
    let sets = examined.repeated.map { set in set.compactMap { numbers[$0] }.sorted() }
    findings += sets.sorted { $0.lexicographicallyPrecedes($1) }.map { set in
      .reused(set.map { examined.items[$0].record })
    }
    return findings + attributeFindings(examined.items.map(\.record))
  }

  /// Returns the findings about keys of people who can read the items.
  private func keyFindings(_ records: [ItemRecord]) throws -> [AuditFinding] {
    try keyring.unusableKeys(ofMembersOf: Set(records.map(\.group))).map { key in
      .key(key, name: keyring.policy.people[key.person]?.name ?? "")
    }
  }

  /// Returns the findings that follow from the attributes of items.
  private func attributeFindings(_ records: [ItemRecord]) -> [AuditFinding] {
    let now = host.clock().microseconds
    return records.flatMap { record in
      var findings: [AuditFinding] = []
      if let days, now - record.secretModified.microseconds >= Int64(days) * Self.day {
        findings.append(.old(record))
      }
      if let name = UnencryptedProtocol(of: record) { findings.append(.unencrypted(record, name)) }
      return findings
    }
  }

  /// The microseconds of a day.
  private static let day: Int64 = 86_400_000_000

  /// Decrypts and examines items, on several threads.
  ///
  /// Until one item has been decrypted, items are decrypted one at a time: several threads would show several passphrase
  /// prompts, and more after the user cancels one (threat T36).
  private func examine(
    _ records: [ItemRecord], _ comparison: RepeatedSecrets, console: Console
  ) throws -> [Result<Examination, KeyringError>] {
    let progress = WorkProgress("audit", total: records.count, console: console)
    defer { progress.finish() }
    @Sendable func result(_ number: Int) throws -> Result<Examination, KeyringError> {
      defer { progress.step() }
      return try examine(records[number], comparison)
    }
    var results: [Result<Examination, KeyringError>] = []
    while results.count < records.count {
      results.append(try result(results.count))
      if case .success? = results.last { break }
    }
    let count = results.count
    return results
      + (try WorkerPool(workers: host.workers).map(records.count - count) { number in
        try result(count + number)
      })
  }

  /// Decrypts and examines one item.
  ///
  /// - Returns: The result, or the error if it concerns this item alone.
  /// - Throws: Any other error.
  private func examine(
    _ record: ItemRecord, _ comparison: RepeatedSecrets
  ) throws -> Result<Examination, KeyringError> {
    let secret: SecretSlice
    do throws(KeyringError) {
      secret = SecretSlice(try keyring.secret(for: record))
    } catch {
      guard error.isAboutOneItem else { throw error }
      return .failure(error)
    }
    // The libraries leave copies on the stack.
    var result: Result<Examination, any Error>?
    WipedStack.run { result = Result { try judge(secret, of: record, comparison) } }
    return .success(try result?.get() ?? Examination())
  }

  private func judge(
    _ secret: SecretSlice, of record: ItemRecord, _ comparison: RepeatedSecrets
  ) throws -> Examination {
    let password = ExaminedPassword(secret)
    var examination = Examination()
    guard !password.bytes.isEmpty else {
      examination.weakness = .veryWeak
      return examination
    }
    do throws(KeyedDigest.Failure) {
      examination.place = try comparison.add(password.bytes)
    } catch {
      throw CommandError(error)
    }
    guard password.isText else { return examination }
    examination.weakness = estimator?.weakness(of: password.bytes, GuessableWords(of: record))
    examination.breach = try breaches?.breach(of: password.bytes)
    return examination
  }
}

/// The part of a secret that is examined as a password: all of it except one line end at its end, which `echo` adds.
private struct ExaminedPassword: ~Copyable {
  /// The password.
  let bytes: SecretBytes
  /// False for a secret with several lines or with a NUL, such as a private key: it is compared with others, but its
  /// strength is not that of a password.
  let isText: Bool

  init(_ secret: SecretSlice) {
    var end = secret.count
    let isText = unsafe secret.withBytes { bytes in
      if unsafe bytes.last == UInt8(ascii: "\n") { end -= 1 }
      if end < bytes.count, end > 0, unsafe bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
      return unsafe !bytes[..<end].contains { $0 == 0 || $0 == UInt8(ascii: "\n") }
    }
    bytes = secret.part(0..<end).copy()
    self.isText = isText
  }
}

extension KeyringError {
  /// True if the error concerns the files of one item, so that the next item can be decrypted nevertheless.
  fileprivate var isAboutOneItem: Bool {
    switch self {
    case .itemDamaged, .bindingMismatch, .itemNotFound, .engine(.notARecipient, _): true
    default: false
    }
  }
}
