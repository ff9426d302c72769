internal import KeyringModel
internal import OpenPGP
internal import Secrets
internal import Synchronization

/// Holds the file of one item against its line and the policy, from any thread.
struct ItemCheck: Sendable {
  let keyring: Keyring
  /// Whether the item is decrypted and held against its line.
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

  /// Looks at one file.
  ///
  /// - Throws: what would fail for other items as well, such as a prompt that was cancelled; a file error.
  func look(at item: StoreSurvey.ItemFile) throws(KeyringError) -> Look {
    let message: [UInt8]
    do {
      guard let bytes = try keyring.tree.read(item.file, limit: StoreLayout.sealedItemLimit) else {
        return Look()
      }
      message = bytes
    } catch {
      guard case .tooLarge(let limit) = error.reason else { throw .file(error) }
      return Look(findings: [Finding(item.file, .damaged(.tooLarge(limit: limit)))])
    }
    var look = Look()
    let record = lines[item.file]
    if let record {
      if ContentDigest(of: message) != record.sealed {
        look.findings.append(Finding(item.file, .notAsIndexed))
      }
    } else {
      look.findings.append(Finding(item.file, .notInIndex))
    }
    let recipients: [KeyID]
    do throws(MessageError) {
      recipients = try keyring.engine.recipients(of: message)
    } catch {
      look.findings.append(Finding(item.file, .damaged(.notAMessage(error))))
      return look
    }
    if let record, let kind = try recipientFinding(recipients, record) {
      look.findings.append(Finding(item.file, kind))
    }
    if decrypts {
      look.wasDecrypted = true
      if let finding = try contentFinding(message, record, item.path, item.file) {
        look.findings.append(finding)
      }
    }
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
