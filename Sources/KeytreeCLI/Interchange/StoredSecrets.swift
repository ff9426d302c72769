internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Synchronization
internal import Terminal

/// A comparison of secrets with those of stored items, which decrypts each item at most once.
///
/// It remembers a digest over a random prefix and the secret. A digest takes 32 bytes regardless of the secret's size,
/// and does not disclose the secret if it is later found in memory.
final class StoredSecrets: Sendable {
  private let keyring: Keyring
  private let prefix: [UInt8]
  private let digests = Mutex<[ItemPlace: ContentDigest]>([:])

  init(_ keyring: Keyring) {
    self.keyring = keyring
    var generator = SystemRandomNumberGenerator()
    prefix = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  /// Decrypts items in advance, on several threads.
  ///
  /// - Throws: the reason why one of them cannot be decrypted. After an error no further item is tried.
  func learn(_ records: [ItemRecord], workers: Int, console: Console) throws {
    guard let first = records.first else { return }
    let progress = WorkProgress("compare", total: records.count, console: console)
    defer { progress.finish() }
    // The first item is decrypted alone, because it may prompt for a passphrase (threat T36).
    _ = try digest(of: first)
    progress.step()
    _ = try WorkerPool(workers: workers).map(records.count - 1) { number -> Int in
      _ = try self.digest(of: records[number + 1])
      progress.step()
      return number
    }
  }

  /// Returns true if an item has this secret.
  ///
  /// - Throws: the reason why the item cannot be decrypted.
  func has(_ record: ItemRecord, _ secret: SecretSlice) throws -> Bool {
    try digest(of: record) == digest(of: secret.copy())
  }

  private func digest(of record: ItemRecord) throws -> ContentDigest {
    if let known = digests.withLock({ $0[record.place] }) { return known }
    let digest = digest(of: try keyring.secret(for: record))
    digests.withLock { $0[record.place] = digest }
    return digest
  }

  private func digest(of secret: borrowing SecretBytes) -> ContentDigest {
    var salted = SecretBytes(capacity: prefix.count + secret.count)
    unsafe prefix.withUnsafeBytes { unsafe salted.append(contentsOf: $0) }
    salted.append(secret)
    return unsafe salted.withBytes { unsafe ContentDigest(of: $0) }
  }
}
