internal import Keyring
internal import KeyringModel
internal import Secrets

/// The way of an edited secret back into the store; nothing of it may be lost (threat T31).
///
/// While a person edits, others may change the item. Its revision is compared with the one that was edited: if
/// they differ, both versions are kept. If the store cannot be written at all, the person may try again for as
/// long as they like.
struct EditedSecret {
  /// What became of the secret.
  enum Outcome {
    /// It is the secret of the item.
    case replaced(ItemRecord)
    /// The item had been removed, and is there again with this secret.
    case restored(ItemRecord)
    /// The item had been changed; this is another one with the edited secret.
    case kept(ItemRecord)
  }

  private let record: ItemRecord
  private let keyring: Keyring
  private let console: Console

  /// - Parameters:
  ///   - record: the item as it was when it was decrypted.
  ///   - keyring: where it goes.
  ///   - console: has a person in front of it, who has just edited.
  init(of record: ItemRecord, keyring: Keyring, console: Console) {
    self.record = record
    self.keyring = keyring
    self.console = console
  }

  /// Stores the secret.
  ///
  /// - Throws: `keyring` with what kept it from being stored, once the person gives up.
  func store(_ secret: consuming SecretBytes) throws -> Outcome {
    let secret = secret
    while true {
      do {
        return try put(secret)
      } catch {
        for line in ErrorReport(describing: error).lines { console.complain(line) }
        // No, and no answer, give the edited secret up.
        let again = try console.confirm("The edited secret is not stored yet. Try again")
        if !again { throw error }
      }
    }
  }

  private func put(_ secret: borrowing SecretBytes) throws -> Outcome {
    if let replaced = try keyring.replaceSecret(of: record, with: secret) { return .replaced(replaced) }
    let now = try keyring.find(Query(predicates: [.id(record.id)], limit: .one)).items.first
    let item = NewItem(
      itemClass: record.itemClass, attributes: record.attributes, group: record.group,
      isLocal: record.isLocal)
    if now == nil {
      do {
        return .restored(try keyring.add(item, secret: secret))
      } catch {
        // Another item has taken the place.
        guard case .itemExists = error else { throw error }
      }
    }
    // Kept as a merge keeps a version that gives way.
    return .kept(try keyring.keepAsConflictCopy(record, secret: secret))
  }
}
