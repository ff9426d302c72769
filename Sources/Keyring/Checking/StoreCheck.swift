internal import KeyringModel
internal import OpenPGP
internal import Secrets

/// Holds a store's index, items, policy and keys against each other; changes nothing.
///
/// Without the lock a writer may be at work meanwhile: then a finding may be about a state that never was.
struct StoreCheck {
  let keyring: Keyring
  /// Whether every item is decrypted and held against its line.
  let decrypts: Bool
  /// Whether the policy has to be the one that this machine has accepted, and signed by one of its own admins.
  var comparesPolicy = true
  /// Told how many of how many items are done.
  let progress: (Int, Int) -> Void

  /// Looks at everything.
  func run() throws(KeyringError) -> CheckReport {
    var report = CheckReport()
    let survey = try StoreSurvey(of: keyring)
    report.findings += try transactionFindings()
    report.findings += survey.findings
    report.findings += try policyFindings()
    for shard in survey.shards {
      report.findings += shard.shard.problems.map { Finding(shard.file, .shard($0)) }
    }
    let lines = LineTable(survey.shards)
    report.items = survey.items.count
    report.conflictCopies = survey.conflictFiles.count { $0.hasSuffix(StoreLayout.recordExtension) }
    report.findings += lines.missingItems(among: survey.items)
    for look in try looks(at: survey.items, lines) + conflictLooks(survey.conflictFiles) {
      report.findings += look.findings
      if look.wasDecrypted { report.decrypted += 1 }
    }
    report.findings.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    return report
  }

  /// Looks at every item, on several threads.
  ///
  /// A key with a passphrase is unlocked by the first item that can be decrypted. Until then one is tried after
  /// the other: several threads would ask several times, and again after a refusal (threat T36).
  func looks(
    at items: [StoreSurvey.ItemFiles], _ lines: LineTable
  ) throws(KeyringError) -> [ItemCheck.Look] {
    let check = ItemCheck(keyring: keyring, decrypts: decrypts, lines: lines)
    let pool = WorkerPool(workers: keyring.host.workers)
    var looks: [ItemCheck.Look] = []
    var isUnlocked = !decrypts
    let portion = decrypts ? Self.portion : Self.portion * 64
    while looks.count < items.count {
      progress(looks.count, items.count)
      let some = Array(items[looks.count...].prefix(isUnlocked ? portion : 1))
      let results = try results(of: some)
      // In portions, so that the progress shows and is told by one thread.
      looks += try pool.map(some.count) { (number) throws(KeyringError) in
        try check.look(at: some[number], results[number])
      }
      if let last = looks.last, last.isSound { isUnlocked = true }
    }
    progress(items.count, items.count)
    return looks
  }

  /// The records of some items, verified together; nil for an item without one.
  private func results(
    of items: [StoreSurvey.ItemFiles]
  ) throws(KeyringError) -> [Result<VerifiedRecord, RecordFault>?] {
    let keyring = keyring
    let bytes = try WorkerPool(workers: keyring.host.workers).map(items.count) {
      (number) throws(KeyringError) -> [UInt8]? in
      let item = items[number]
      guard item.hasRecord else { return [UInt8]?.none }
      return try ItemReader(keyring: keyring).readableRecord(at: item.path, isLocal: item.isLocal)
    }
    let claims = zip(items, bytes).compactMap { item, bytes in
      bytes.map { RecordClaim($0, path: item.path, isLocal: item.isLocal) }
    }
    var verified = try keyring.verify(claims).makeIterator()
    return bytes.map { $0 == nil ? nil : verified.next() }
  }

  /// Looks at the files of conflict copies: each has two, and the record is one that a member has signed.
  private func conflictLooks(_ files: [String]) throws(KeyringError) -> [ItemCheck.Look] {
    let check = ItemCheck(keyring: keyring, decrypts: decrypts, lines: LineTable([]))
    var rest = Set(files)
    var looks: [ItemCheck.Look] = []
    for copy in try keyring.conflictCopies() {
      rest.subtract(copy.files)
      guard copy.signer != nil else {
        looks.append(ItemCheck.Look(findings: [Finding(copy.files[1], .damaged(.badSignature))]))
        continue
      }
      do throws(KeyringError) {
        looks.append(try check.look(at: copy.files[0], try keyring.storedItem(of: copy).verified, nil))
      } catch {
        guard case .itemDamaged(_, let damage) = error else { throw error }
        looks.append(ItemCheck.Look(findings: [Finding(copy.files[0], .damaged(damage))]))
      }
    }
    // A file without the other one, or under another name than its own.
    looks += rest.sorted().map { ItemCheck.Look(findings: [Finding($0, .damaged(.noRecord))]) }
    return looks
  }

  /// How many items are handed to the threads at once: some tenths of a second of work.
  private static let portion = 64

  /// Changes that were decided and then cut off, or whose record cannot be read. One that was not decided has not
  /// happened; its folder is litter and nothing is wrong.
  private func transactionFindings() throws(KeyringError) -> [Finding] {
    var findings: [Finding] = []
    for folder in try Transaction.pending(in: keyring.tree) {
      do throws(KeyringError) {
        if try Transaction.record(of: folder, in: keyring.tree) != nil {
          findings.append(Finding(folder, .unfinished))
        }
      } catch {
        guard case .transactionDamaged = error else { throw error }
        findings.append(Finding(folder, .transaction))
      }
    }
    return findings
  }

  /// The signature of the policy, the pin, and the people's keys.
  private func policyFindings() throws(KeyringError) -> [Finding] {
    var findings = comparesPolicy ? try trustFindings() : []
    if let finding = try passRecipientsFinding() { findings.append(finding) }
    for (fingerprint, person) in keyring.policy.people.sorted(by: { $0.key < $1.key })
    where person.removed == nil {
      do {
        _ = try keyring.engine.expectedRecipients([fingerprint])
      } catch {
        guard case .unusableKey(let fingerprint, let problem) = error else { throw .engine(error, nil) }
        findings.append(Finding(StoreLayout.keyFile(fingerprint), .key(fingerprint, problem)))
      }
    }
    return findings
  }

  /// Other programs encrypt to whom this file names.
  private func passRecipientsFinding() throws(KeyringError) -> Finding? {
    let path = StoreLayout.passRecipients
    do throws(FileError) {
      let bytes = try keyring.tree.read(path, limit: StoreLayout.smallFileLimit)
      return bytes == keyring.policy.passRecipients ? nil : Finding(path, .passRecipients)
    } catch {
      // The survey of the store reports what stands there instead.
      guard case .system = error.reason else { return nil }
      throw .file(error)
    }
  }

  private func trustFindings() throws(KeyringError) -> [Finding] {
    var findings: [Finding] = []
    if let distrust = keyring.distrust { findings.append(Finding(distrust.file, .policy(distrust))) }
    let signature = try keyring.tree.policySignature()
    let (bytes, _) = try TrustedPolicy.read(in: keyring.tree)
    if let signature {
      do {
        try PolicyVerification(engine: keyring.engine)
          .verify(bytes, signature: signature, admins: keyring.policy.admins)
      } catch {
        guard case .policyNotTrusted(let distrust) = error else { throw error }
        findings.append(Finding(StoreLayout.policySignature, .policy(distrust)))
      }
    } else {
      findings.append(Finding(StoreLayout.policySignature, .policy(.unsigned)))
    }
    return findings
  }
}

extension PolicyDistrust {
  /// The file in the store that it is about.
  fileprivate var file: String {
    switch self {
    case .keyChanged(let fingerprint, _), .keyMissing(let fingerprint): StoreLayout.keyFile(fingerprint)
    default: StoreLayout.policy
    }
  }
}

extension EngineError {
  /// Whether the next item may go better: this one is for other people. A prompt that was cancelled or an
  /// agent that is away would fail for every item (threat T36).
  var isAboutTheItem: Bool {
    if case .notARecipient = self { return true }
    return false
  }
}

/// The lines of all shards, by the file of the item they describe.
struct LineTable: Sendable {
  private var byFile: [String: ItemRecord] = [:]

  /// A double keeps its first line here; the shard's problems tell of it.
  init(_ shards: [StoreSurvey.SurveyedShard]) {
    for shard in shards {
      for case .success(var record) in shard.shard.lines.map(\.content) {
        record.isLocal = shard.isLocal
        let file = StoreLayout.itemFile(record.path, isLocal: shard.isLocal)
        if byFile[file] == nil { byFile[file] = record }
      }
    }
  }

  subscript(file: String) -> ItemRecord? { byFile[file] }

  /// Lines whose items have no file at all.
  func missingItems(among items: [StoreSurvey.ItemFiles]) -> [Finding] {
    let present = Set(items.map(\.file))
    return byFile.keys.filter { !present.contains($0) }.map { Finding($0, .itemMissing) }
  }
}

extension SealingEngine {
  /// Who can decrypt a message, from its packets alone.
  func recipients(of message: [UInt8]) throws(MessageError) -> [KeyID] {
    // `withUnsafeBytes` of an array does not carry typed errors.
    let result: Result<[KeyID], MessageError> = unsafe message.withUnsafeBytes { bytes in
      do throws(MessageError) {
        return .success(try unsafe recipients(of: bytes))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
