package import Keyring
package import KeyringModel
package import Secrets
package import Terminal

/// The storage of an edited secret without losing any edit (threat T31).
///
/// The item may change while the user edits it. If its revision differs from the one that was edited, both versions
/// are kept. If the store cannot be written, the user may retry any number of times.
package struct EditedSecret {
  /// The result of storing the secret.
  package enum Outcome {
    /// The secret of the item was replaced.
    case replaced(ItemRecord)
    /// The item had been removed and was added again with this secret.
    case restored(ItemRecord)
    /// The item had been changed. The edited secret was kept as a conflict copy.
    case kept(ItemRecord)
  }

  private let record: ItemRecord
  private let keyring: Keyring
  private let console: Console

  /// Prepares the storage of the edited secret of an item.
  ///
  /// - Parameters:
  ///   - record: the item as it was when it was decrypted.
  ///   - keyring: the store.
  ///   - console: a console with a terminal.
  package init(of record: ItemRecord, keyring: Keyring, console: Console) {
    self.record = record
    self.keyring = keyring
    self.console = console
  }

  /// Stores the secret.
  ///
  /// - Throws: `KeyringError` if the secret cannot be stored and the user does not retry.
  package func store(_ secret: consuming SecretBytes) throws -> Outcome {
    let secret = secret
    while true {
      do {
        return try put(secret)
      } catch {
        for line in ErrorReport(describing: error).lines { console.complain(line) }
        // Without the answer yes, the edited secret is discarded.
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
        // Another item now has this path.
        guard case .itemExists = error else { throw error }
      }
    }
    // Kept as a conflict copy, like the losing version of a merge.
    return .kept(try keyring.keepAsConflictCopy(record, secret: secret))
  }
}
