package import KeyringModel
internal import OpenPGP
package import Secrets
internal import Synchronization

/// A comparison of secrets with those of items in the store, which decrypts only what cannot be known otherwise.
///
/// It compares keyed digests. Those of the items that earlier imports have compared or stored are kept on this machine,
/// see ``SecretDigests``. A kept digest only shows that two secrets are equal: if it differs, the item is decrypted.
/// An item whose record or file cannot be verified is never equal to anything.
package final class SecretComparison: Sendable {
  private let keyring: Keyring
  private let digests: SecretDigests
  /// The digests of secrets that this process has decrypted.
  private let decrypted = Mutex<[ItemPlace: ContentDigest]>([:])

  /// Prepares a comparison. Nothing is read yet.
  ///
  /// - Parameter keyring: the keyring with the items.
  package init(_ keyring: Keyring) {
    self.keyring = keyring
    digests = SecretDigests(keyring)
  }

  /// Compares items with secrets in advance, on several threads.
  ///
  /// - Parameters:
  ///   - pairs: the items, and the secrets that they will be compared with.
  ///   - progress: called once for each pair, from several threads.
  /// - Throws: the errors of `Keyring.secret(for:matching:)`. After an error no further item is tried.
  package func prepare(
    _ pairs: [(record: ItemRecord, secret: SecretSlice)], progress: @escaping @Sendable () -> Void
  ) throws(KeyringError) {
    guard !pairs.isEmpty else { return }
    let isUnlocked = try digests.open()
    let pool = WorkerPool(workers: keyring.host.workers, startsPrograms: true)
    let unknown = try pool.map(pairs.count) { number throws(KeyringError) -> ItemRecord? in
      let (record, secret) = pairs[number]
      guard try self.isKept(record, secret) else { return record }
      progress()
      return nil
    }
    // Several candidates of one item need only one decryption.
    var seen: Set<ItemPlace> = []
    let records = unknown.compactMap { $0 }
    let distinct = records.filter { seen.insert($0.place).inserted }
    for _ in distinct.count..<records.count { progress() }
    guard let first = distinct.first else { return }
    // Until the key is known to be unlocked, one item is decrypted alone, because it may prompt (threat T36).
    let start = isUnlocked ? 0 : 1
    if !isUnlocked {
      _ = try decryptedDigest(of: first)
      progress()
    }
    _ = try pool.map(distinct.count - start) { number throws(KeyringError) -> Int in
      _ = try self.decryptedDigest(of: distinct[start + number])
      progress()
      return number
    }
  }

  /// Returns true if an item has this secret.
  ///
  /// - Parameters:
  ///   - record: the item.
  ///   - secret: the secret to compare with.
  /// - Throws: the errors of `Keyring.secret(for:matching:)`.
  package func has(_ record: ItemRecord, _ secret: SecretSlice) throws(KeyringError) -> Bool {
    try digests.open()
    if try isKept(record, secret) { return true }
    return try decryptedDigest(of: record) == digests.digest(of: secret.copy())
  }

  /// Keeps the digests of secrets that were stored, for the next import.
  ///
  /// - Parameter stored: the items with their secrets.
  package func keep(_ stored: [(record: ItemRecord, secret: SecretSlice)]) {
    guard digests.canKeep() else { return }
    for (record, secret) in stored { digests.keep(record.sealed, secret.copy()) }
  }

  /// Writes the digests that were added. An error only costs time in the next import, so it is ignored.
  package func finish() { digests.write() }

  /// Returns true if an item has this secret according to the kept digests. The item is verified, but not decrypted.
  private func isKept(_ record: ItemRecord, _ secret: SecretSlice) throws(KeyringError) -> Bool {
    guard let kept = digests.kept(record.sealed), kept == digests.digest(of: secret.copy()) else {
      return false
    }
    return try ItemReader(keyring: keyring).item(for: record).record.sealed == record.sealed
  }

  private func decryptedDigest(of record: ItemRecord) throws(KeyringError) -> ContentDigest {
    if let known = decrypted.withLock({ $0[record.place] }) { return known }
    let secret = try keyring.secret(for: record)
    let digest = digests.digest(of: secret)
    digests.keep(record.sealed, secret)
    decrypted.withLock { $0[record.place] = digest }
    return digest
  }
}
