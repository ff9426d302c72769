package import KeyringModel
internal import OpenPGP
package import Secrets

/// Items as the store's history has them.
extension Keyring {
  /// Decrypts a message that the history has, with all the checks that an item of the store has to pass.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - record: The item that it has to be, as its line was then.
  ///   - query: The question that found it; see `secret(for:matching:)`.
  /// - Throws: `KeyringError.itemDamaged`, also for a message that nobody has signed who is in the item's group today;
  ///   `.bindingMismatch`, `.engine`.
  package func secret(
    in message: [UInt8], of record: ItemRecord, matching query: Query?
  ) throws(KeyringError) -> SecretBytes {
    let item = try ItemReader(keyring: self).open(message, record, query)
    return item.secret
  }

  /// Seals the secret of a message that the history has for those who are in the item's group today.
  ///
  /// - Parameters:
  ///   - record: The item, which keeps its revision.
  ///   - message: Its message; all checks of an item of the store hold for it.
  /// - Returns: The record with the digest of the new message, and that message; nil when nobody here can decrypt the
  ///   old one, when it has another revision, or when the group is none of the policy.
  /// - Throws: as `secret(in:of:matching:)` and `add`.
  package func sealAgain(
    _ record: ItemRecord, _ message: [UInt8]
  ) throws(KeyringError) -> (record: ItemRecord, message: [UInt8])? {
    do throws(KeyringError) {
      let item = try ItemReader(keyring: self).open(message, record, nil)
      guard item.header.revision == record.revision else { return nil }
      let sealed = try ItemSealer(keyring: self).seal(record, secret: item.secret)
      return (sealed.record, sealed.message)
    } catch {
      switch error {
      case .unknownGroup, .bindingMismatch(_, .revision): return nil
      case .engine(let error, _) where error.isAboutTheItem: return nil
      default: throw error
      }
    }
  }

  /// Puts back an item that was deleted: its id, its line and its message, byte for byte.
  ///
  /// - Parameters:
  ///   - record: Its line as it was, with the digest of the message.
  ///   - message: The message; nothing is decrypted.
  /// - Throws: `KeyringError.itemExists` when an item has its place or its id, `.itemDamaged` when a file stands there
  ///   that the index does not know, or when the message is not the one of the line; `.shardDamaged`,
  ///   `.policyNotTrusted`, `.busy`, or a file error.
  package func bringBack(_ record: ItemRecord, message: [UInt8]) throws(KeyringError) {
    try requireTrust()
    guard ContentDigest(of: message) == record.sealed else {
      throw .itemDamaged(record.reference, .notAsIndexed)
    }
    try transaction(subject: "bring back \(record.path.text)") { changes throws(KeyringError) in
      try changes.bringBack(PreparedItem(record: record, message: message))
    }
  }
}
