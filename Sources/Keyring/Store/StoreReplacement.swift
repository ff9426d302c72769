package import KeyringModel
internal import OpenPGP
internal import Secrets

extension Keyring {
  /// Stands for a message of which it is not known yet what it is.
  static let unknownItem: ItemReference = {
    guard let id = ItemID(hex: String(repeating: "0", count: 32)) else { preconditionFailure("32 digits") }
    return .id(id)
  }()

  /// What a file of the store becomes.
  package enum NewFile: Sendable, Equatable {
    case bytes([UInt8])
    case removed
  }

  /// How many transactions the store has seen; two looks that see the same saw the same store.
  ///
  /// - Throws: a file error.
  package func transactionCount() throws(KeyringError) -> UInt64 { try ReaderSnapshot(of: tree).count }

  /// Replaces files of the store by what a merge came to, all or none.
  ///
  /// Nothing is sealed and nothing is judged: also a policy that nobody here has accepted yet comes in like this, and
  /// then stands in the way of every change until somebody has.
  ///
  /// - Parameters:
  ///   - newFiles: what each file becomes, by its path in the store; files whose history is kept and no others.
  ///   - count: the count of transactions that the merge started from.
  ///   - subject: what is done, for the history; no secret.
  ///   - isExpected: whether a file is what the merge took it for: its path, and its bytes or nil where there is none.
  /// - Returns: the store's count with it; nil, and nothing happens, when the store has changed since.
  /// - Throws: `KeyringError.busy`, `.unsafeFolder`, or a file error.
  package func replace(
    _ newFiles: [String: NewFile], ifCountIs count: UInt64, subject: String,
    isExpected: (String, [UInt8]?) -> Bool
  ) throws(KeyringError) -> UInt64? {
    let lock = try StoreLock(tree, timeout: host.lockTimeout)
    try Transaction.recover(in: tree, under: lock)
    guard try transactionCount() == count else { return nil }
    for path in newFiles.keys {
      let limit = max(StoreLayout.shardLimit, StoreLayout.sealedItemLimit)
      guard isExpected(path, try files(tree.read(path, limit: limit))) else { return nil }
    }
    if newFiles.isEmpty { return count }
    var transaction = Transaction(in: tree)
    do {
      for (path, file) in newFiles.sorted(by: { $0.key < $1.key }) {
        precondition(StoreLayout.isTracked(path), "only what is in the history comes from a merge")
        switch file {
        case .bytes(let bytes): try transaction.place(bytes, at: path)
        case .removed: transaction.remove(path)
        }
      }
    } catch {
      transaction.abandon()
      throw error
    }
    try transaction.commit(under: lock, subject: subject)
    return try transactionCount()
  }

  /// The secret of a message, sealed for a record that says something else than the message does.
  ///
  /// - Parameters:
  ///   - record: what is to be sealed; its revision is that of the message.
  ///   - message: the message of the same item, with another primary key.
  /// - Returns: the record with the digest of the new message, and the new message; nil when this message cannot be
  ///   decrypted here, or is not what it should be.
  /// - Throws: what would fail for other items as well, such as `KeyringError.policyNotTrusted`, or `.engine` for a
  ///   passphrase that was refused.
  package func seal(
    _ record: ItemRecord, secretOf message: [UInt8]
  ) throws(KeyringError) -> (record: ItemRecord, message: [UInt8])? {
    try requireTrust()
    do throws(KeyringError) {
      let item = try ItemReader(keyring: self).unseal(message, reference: record.reference)
      guard item.header.keyring == policy.keyring, item.header.id == record.id,
        item.header.revision == record.revision
      else { return nil }
      let sealed = try ItemSealer(keyring: self).seal(record, secret: item.secret)
      return (sealed.record, sealed.message)
    } catch {
      switch error {
      case .itemDamaged, .unknownGroup, .attributesTooLarge: return nil
      case .engine(let error, _) where error.isAboutTheItem: return nil
      default: throw error
      }
    }
  }

  /// What a message says that it is; nil when it cannot be decrypted here, or is no message of this keyring.
  ///
  /// - Returns: The record as its header has it, with the digest of the message.
  package func version(of message: [UInt8]) throws(KeyringError) -> ItemRecord? {
    do throws(KeyringError) {
      let item = try ItemReader(keyring: self).unseal(message, reference: Self.unknownItem)
      let header = item.header
      return header.keyring == policy.keyring ? header.record(sealed: ContentDigest(of: message)) : nil
    } catch {
      switch error {
      case .itemDamaged, .engine: return nil
      default: throw error
      }
    }
  }

  /// Whether a message is sealed to just the members of a group, from its packets alone.
  package func isSealed(_ message: [UInt8], to group: String) -> Bool {
    // Of a group that is not known, or whose keys cannot be used, no message can be said to be right.
    guard let members = policy.groups[group], let expected = try? engine.expectedRecipients(members),
      let found = try? engine.recipients(of: message)
    else { return false }
    return Set(found) == expected && found.count == expected.count
  }
}
