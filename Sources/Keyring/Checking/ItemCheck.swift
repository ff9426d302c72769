internal import KeyringModel
internal import OpenPGP
internal import Secrets
internal import Synchronization

/// Compares the files of one item with its line and the policy, from any thread.
struct ItemCheck: Sendable {
  let keyring: Keyring
  /// Whether the item is decrypted.
  let decrypts: Bool
  /// What the index says.
  let lines: LineTable
  /// Who can read the items of each group.
  private let readers = GroupReaders()

  init(keyring: Keyring, decrypts: Bool, lines: LineTable) {
    (self.keyring, self.decrypts, self.lines) = (keyring, decrypts, lines)
  }

  /// What there was to see.
  struct Look: Sendable {
    var findings: [Finding] = []
    /// Whether it was given to GnuPG.
    var wasDecrypted = false
    /// Whether it was read and nothing is wrong.
    var isSound: Bool { wasDecrypted && findings.isEmpty }
  }

  /// Looks at the files of one item.
  ///
  /// - Parameters:
  ///   - item: The place.
  ///   - result: Its record, or why it is not believed; nil when it has none.
  /// - Throws: what would fail for other items as well, such as a prompt that was cancelled; a file error.
  func look(
    at item: StoreSurvey.ItemFiles, _ result: Result<VerifiedRecord, RecordFault>?
  ) throws(KeyringError) -> Look {
    guard let result else { return Look(findings: [Finding(item.file, .notAdopted)]) }
    switch result {
    case .failure(.damage(let damage)): return Look(findings: [Finding(item.recordFile, .damaged(damage))])
    case .failure(.mismatch(let mismatch)):
      return Look(findings: [Finding(item.recordFile, .bindingMismatch(mismatch))])
    case .success(let verified):
      var look = try look(at: item.file, verified, item)
      if let line = lines[item.file] {
        if let name = verified.record.difference(from: line) {
          look.findings.append(Finding(item.recordFile, .bindingMismatch(.index(name))))
        }
      } else {
        look.findings.append(Finding(item.recordFile, .notInIndex))
      }
      return look
    }
  }

  /// Looks at the encrypted file of a verified record.
  func look(
    at file: String, _ verified: VerifiedRecord, _ item: StoreSurvey.ItemFiles?
  ) throws(KeyringError) -> Look {
    var look = Look()
    let message: [UInt8]
    do throws(FileError) {
      guard let bytes = try keyring.tree.read(file, limit: StoreLayout.sealedItemLimit) else {
        return Look(findings: [Finding(file, .fileMissing)])
      }
      message = bytes
    } catch {
      switch error.reason {
      case .tooLarge(let limit): return Look(findings: [Finding(file, .damaged(.tooLarge(limit: limit)))])
      // The survey of the store reports what stands there instead.
      case .notARegularFile, .hasOtherNames: return look
      case .system: throw .file(error)
      }
    }
    guard ContentDigest(of: message) == verified.record.sealed else {
      return Look(findings: [Finding(file, .damaged(.notAsRecorded))])
    }
    let recipients: [KeyID]
    do throws(MessageError) {
      recipients = try keyring.engine.recipients(of: message)
    } catch {
      return Look(findings: [Finding(file, .damaged(.notAMessage(error)))])
    }
    if let kind = try recipientFinding(recipients, verified.record) {
      look.findings.append(Finding(file, kind))
    }
    let stored = StoredItem(verified: verified, message: message)
    if let finding = try contentFinding(stored, file) { look.findings.append(finding) }
    look.wasDecrypted = decrypts
    return look
  }

  /// Recipients that are not the members of the item's group, from packet headers alone (threat T8).
  private func recipientFinding(
    _ found: [KeyID], _ record: ItemRecord
  ) throws(KeyringError) -> Finding.Kind? {
    guard let members = keyring.policy.groups[record.group] else {
      return .recipientsUnknown(.unknownGroup(record.group))
    }
    let expected: Set<KeyID>
    do {
      expected = try readers.expected(record.group, members, keyring.engine)
    } catch {
      guard case .unusableKey(let person, let problem) = error else { throw .engine(error, nil) }
      return .recipientsUnknown(.unusableKey(person, problem))
    }
    guard Set(found) != expected || found.count != expected.count else { return nil }
    return .wrongRecipients(found: found, expected: expected.sorted { $0.text < $1.text })
  }

  private func contentFinding(_ item: StoredItem, _ file: String) throws(KeyringError) -> Finding? {
    let reader = ItemReader(keyring: keyring)
    do throws(KeyringError) {
      if decrypts { _ = try reader.secret(of: item) } else { try reader.requireSignerAmongReaders(of: item) }
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
}

/// The recipients that the items of each group should have, asked for once.
private final class GroupReaders: Sendable {
  private let known = Mutex<[String: Result<Set<KeyID>, EngineError>]>([:])

  func expected(
    _ group: String, _ members: [Fingerprint], _ engine: any SealingEngine
  ) throws(EngineError) -> Set<KeyID> {
    let result = known.withLock { known in
      if let result = known[group] { return result }
      let result: Result<Set<KeyID>, EngineError>
      do throws(EngineError) {
        result = .success(try engine.expectedRecipients(members))
      } catch {
        result = .failure(error)
      }
      known[group] = result
      return result
    }
    return try result.get()
  }
}
