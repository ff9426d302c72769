internal import KeyringModel
internal import OpenPGP
internal import Secrets

/// Holds a store's index, items, policy and keys against each other; changes nothing.
struct StoreCheck {
  let keyring: Keyring
  /// Whether every item is decrypted and held against its line.
  let decrypts: Bool
  /// Told how many of how many items are done.
  let progress: (Int, Int) -> Void

  /// Runs the check. The caller holds the lock, and nothing is pending.
  func run(_ survey: StoreSurvey) throws(KeyringError) -> CheckReport {
    var report = CheckReport()
    report.findings += survey.strays
    report.findings += try policyFindings()
    for shard in survey.shards {
      report.findings += shard.shard.problems.map { Finding(shard.file, .shard($0)) }
    }
    let lines = LineTable(survey.shards)
    report.items = lines.count
    report.findings += lines.missingFiles(among: survey.itemFiles)
    for (number, item) in survey.itemFiles.enumerated() {
      progress(number, survey.itemFiles.count)
      report.findings += try findings(for: item, lines, &report)
    }
    progress(survey.itemFiles.count, survey.itemFiles.count)
    report.findings.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    return report
  }

  private func findings(
    for item: StoreSurvey.ItemFile, _ lines: LineTable, _ report: inout CheckReport
  ) throws(KeyringError) -> [Finding] {
    let message: [UInt8]
    do {
      guard let bytes = try keyring.tree.read(item.file, limit: StoreLayout.sealedItemLimit) else {
        return []
      }
      message = bytes
    } catch {
      guard case .tooLarge(let limit) = error.reason else { throw .file(error) }
      return [Finding(item.file, .damaged(.tooLarge(limit: limit)))]
    }
    var findings: [Finding] = []
    let record = lines[item.file]
    if let record {
      if ContentDigest(of: message) != record.sealed { findings.append(Finding(item.file, .notAsIndexed)) }
    } else {
      findings.append(Finding(item.file, .notInIndex))
    }
    do throws(MessageError) {
      let found = try keyring.engine.recipients(of: message)
      if let record, let finding = recipientFinding(found, record, item.file) { findings.append(finding) }
    } catch {
      return findings + [Finding(item.file, .damaged(.notAMessage(error)))]
    }
    if decrypts {
      report.decrypted += 1
      if let finding = try contentFinding(message, record, item.path, item.file) { findings.append(finding) }
    }
    return findings
  }

  /// Recipients that are not the members of the item's group, from packet headers alone (threat T8).
  private func recipientFinding(_ found: [KeyID], _ record: ItemRecord, _ file: String) -> Finding? {
    guard let members = keyring.policy.groups[record.group],
      // A member whose key is unusable has a finding of her own.
      let expected = try? keyring.engine.expectedRecipients(members)
    else { return nil }
    guard Set(found) != expected || found.count != expected.count else { return nil }
    return Finding(file, .wrongRecipients(found: found, expected: expected.sorted { $0.text < $1.text }))
  }

  private func contentFinding(
    _ message: [UInt8], _ record: ItemRecord?, _ path: ItemPath, _ file: String
  ) throws(KeyringError) -> Finding? {
    let reader = ItemReader(keyring: keyring)
    do {
      if let record {
        _ = try reader.open(message, record, nil)
      } else {
        _ = try reader.unseal(message, reference: .path(path))
      }
      return nil
    } catch {
      switch error {
      case .itemDamaged(_, let damage): return Finding(file, .damaged(damage))
      case .bindingMismatch(_, let mismatch): return Finding(file, .bindingMismatch(mismatch))
      case .engine(let error, _) where error.isAboutTheItem: return Finding(file, .undecryptable(error))
      default: throw error
      }
    }
  }

  /// The signature of the policy, the pin, and the people's keys.
  private func policyFindings() throws(KeyringError) -> [Finding] {
    var findings: [Finding] = []
    if let distrust = keyring.distrust { findings.append(Finding(StoreLayout.policy, .policy(distrust))) }
    let signature = try files { () throws(FileError) in
      try keyring.tree.read(StoreLayout.policySignature, limit: StoreLayout.smallFileLimit)
    }
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
struct LineTable {
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

  var count: Int { byFile.count }

  subscript(file: String) -> ItemRecord? { byFile[file] }

  func missingFiles(among files: [StoreSurvey.ItemFile]) -> [Finding] {
    let present = Set(files.map(\.file))
    return byFile.keys.filter { !present.contains($0) }.map { Finding($0, .fileMissing) }
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
