internal import KeyringModel
internal import OpenPGP
internal import Secrets

/// Compares the files of one item with its index line and the policy. It can be used from any thread.
struct ItemCheck: Sendable {
  let keyring: Keyring
  /// True if the item is decrypted.
  let decrypts: Bool
  /// The index lines.
  let lines: LineTable
  /// The subkeys that the items of each group are encrypted to.
  private let readers: [String: Set<KeyID>]

  init(keyring: Keyring, decrypts: Bool, lines: LineTable) {
    (self.keyring, self.decrypts, self.lines) = (keyring, decrypts, lines)
    let policy = keyring.policy
    readers = Dictionary(
      uniqueKeysWithValues: policy.groups.keys.map { ($0, policy.recipients(of: $0) ?? []) })
  }

  /// The result of checking one item.
  struct Look: Sendable {
    var findings: [Finding] = []
    /// True if the encrypted file was decrypted.
    var wasDecrypted = false
    /// True if the item was decrypted without findings.
    var isSound: Bool { wasDecrypted && findings.isEmpty }
  }

  /// Checks the files of one item.
  ///
  /// - Parameters:
  ///   - item: The files of the item.
  ///   - result: The verified record, or the reason why verification failed; nil if there is no record.
  /// - Throws: A file error, or an error that would occur for other items as well, such as a cancelled prompt.
  func look(
    at item: StoreSurvey.ItemFiles, _ result: Result<VerifiedRecord, RecordProblem>?
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

  /// Checks the encrypted file of a verified record.
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
      // The survey of the store reports the file that is at this path.
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
    if let kind = recipientFinding(recipients, verified.record) {
      look.findings.append(Finding(file, kind))
    }
    let stored = StoredItem(verified: verified, message: message)
    let finding = try contentFinding(stored, file)
    if let finding { look.findings.append(finding) }
    look.wasDecrypted = decrypts && finding == nil
    return look
  }

  /// Returns a finding if the recipients are not the members of the item's group. Reads packet headers only (threat
  /// T8).
  private func recipientFinding(
    _ found: [KeyID], _ record: ItemRecord
  ) -> Finding.Kind? {
    guard let expected = readers[record.group] else { return .unknownGroup(record.group) }
    if expected.areExactly(found) { return nil }
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
