internal import KeyringModel
internal import OpenPGP
internal import Secrets

/// Compares a store's index, items, policy and keys with each other; changes nothing.
///
/// Without the lock another process may write concurrently. A finding may then describe a state that never existed.
struct StoreCheck {
  let keyring: Keyring
  /// True if every item is decrypted.
  let decrypts: Bool
  /// True if the policy must be the one that this machine has accepted, signed by one of its admins.
  var comparesPolicy = true
  /// Receives the number of finished items and of all items.
  let progress: (Int, Int) -> Void

  /// Runs all checks.
  func run() throws(KeyringError) -> CheckReport {
    var report = CheckReport()
    let survey = try StoreSurvey(of: keyring)
    report.findings += try transactionFindings()
    report.findings += survey.findings
    report.findings += try policyFindings()
    let shards = survey.shards
    report.findings += WorkerPool(workers: keyring.host.workers).map(shards.count) { number in
      shards[number].shard.problems.map { Finding(shards[number].file, .shard($0)) }
    }.joined()
    let lines = LineTable(survey.shards)
    report.items = survey.items.count
    report.conflictCopies = survey.conflictFiles.count { $0.hasSuffix(StoreLayout.recordExtension) }
    report.findings += lines.missingItems(among: survey.items)
    report.findings += survey.foreignFiles.map { Finding($0, .notAdopted) }
    for look in try looks(at: survey.items, lines) + conflictLooks(survey.conflictFiles) {
      report.findings += look.findings
      if look.wasDecrypted { report.decrypted += 1 }
    }
    report.findings.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    return report
  }

  /// Checks every item, on several threads.
  ///
  /// A key with a passphrase is unlocked by the first item that can be decrypted. Until then items are decrypted one at
  /// a time: several threads would show several prompts, and more after the user cancels one (threat T36).
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
      // The items are checked in batches, so that one thread can report progress.
      looks += try pool.map(some.count) { (number) throws(KeyringError) in
        try check.look(at: some[number], results[number])
      }
      if let last = looks.last, last.isSound { isUnlocked = true }
    }
    progress(items.count, items.count)
    return looks
  }

  /// Verifies the records of some items together. The result is nil for an item without a record.
  private func results(
    of items: [StoreSurvey.ItemFiles]
  ) throws(KeyringError) -> [Result<VerifiedRecord, RecordProblem>?] {
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

  /// Checks the files of conflict copies: each copy must have two files and a record that a member has signed.
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
    // A file without its counterpart, or with a name that does not match its content.
    looks += rest.sorted().map { ItemCheck.Look(findings: [Finding($0, .damaged(.noRecord))]) }
    return looks
  }

  /// The number of items in a batch: a few tenths of a second of work.
  private static let portion = 64

  /// Returns findings for transactions that were committed but not applied, or whose record cannot be read. A
  /// transaction without a commit record never took effect. Its folder is garbage and not a finding.
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

  /// Checks the signature of the policy, the pin, and the keys of the people.
  private func policyFindings() throws(KeyringError) -> [Finding] {
    var findings = comparesPolicy ? try trustFindings() : []
    if let finding = try passRecipientsFinding() { findings.append(finding) }
    var isClockBehind = false
    func note(_ person: Fingerprint, _ problem: KeyProblem) {
      if case .fromFuture = problem {
        // The clock is one problem, however many keys show it.
        if isClockBehind { return }
        isClockBehind = true
      }
      findings.append(Finding(StoreLayout.keyFile(person), .key(person, problem)))
    }
    let keys = Dictionary(try keyring.publicKeys().map { ($0.fingerprint, $0) }) { first, _ in first }
    for (fingerprint, person) in keyring.policy.people.sorted(by: { $0.key < $1.key })
    where person.removed == nil {
      do {
        try keyring.engine.checkRecipients([keyring.policy.recipient(fingerprint)])
        if let problem = keys[fingerprint]?.signingProblem(at: keyring.host.clock()) {
          note(fingerprint, problem)
        }
      } catch {
        guard case .unusableKey(let fingerprint, let problem) = error else {
          throw keyring.policy.error(error)
        }
        note(fingerprint, problem)
      }
    }
    return findings
  }

  /// Checks the file with the recipients that other programs encrypt to.
  private func passRecipientsFinding() throws(KeyringError) -> Finding? {
    let path = StoreLayout.passRecipients
    do throws(FileError) {
      let bytes = try keyring.tree.read(path, limit: StoreLayout.smallFileLimit)
      return bytes == keyring.policy.passRecipients ? nil : Finding(path, .passRecipients)
    } catch {
      // The survey of the store reports the file that is at this path.
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
        try PolicyVerification(engine: keyring.engine, people: keyring.policy)
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
  /// The affected file in the store.
  fileprivate var file: String {
    switch self {
    case .keyChanged(let fingerprint, _), .keyMissing(let fingerprint): StoreLayout.keyFile(fingerprint)
    default: StoreLayout.policy
    }
  }
}

extension EngineError {
  /// True if the error concerns this item only, because it is encrypted to other people. A cancelled prompt or a
  /// missing agent would fail for every item (threat T36).
  var isAboutTheItem: Bool {
    if case .notARecipient = self { return true }
    return false
  }
}

/// The lines of all shards, by the encrypted file of the item.
struct LineTable: Sendable {
  private var byFile: [String: ItemRecord] = [:]

  /// Keeps the first of duplicate lines. The shard's problems report the others.
  init(_ shards: [StoreSurvey.SurveyedShard]) {
    for shard in shards {
      for line in shard.shard.lines {
        guard var record = line.record, let path = line.path else { continue }
        record.isLocal = shard.isLocal
        let file = StoreLayout.itemFile(path, isLocal: shard.isLocal)
        if byFile[file] == nil { byFile[file] = record }
      }
    }
  }

  subscript(file: String) -> ItemRecord? { byFile[file] }

  /// The digests of all encrypted files, according to the lines.
  var digests: Set<ContentDigest> { Set(byFile.values.map(\.sealed)) }

  /// Returns findings for lines whose items have no file.
  func missingItems(among items: [StoreSurvey.ItemFiles]) -> [Finding] {
    let present = Set(items.map(\.file))
    return byFile.keys.filter { !present.contains($0) }.map { Finding($0, .itemMissing) }
  }
}

extension OpenPGPEngine {
  /// Reads the ids of the keys that can decrypt a message, from its packets alone.
  func recipients(of message: [UInt8]) throws(MessageError) -> [KeyID] {
    // `Array.withUnsafeBytes` does not preserve the type of the error.
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
