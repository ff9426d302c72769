internal import KeyringModel

/// The key files of a store that are missing or damaged: they are not those that the accepted policy names.
///
/// A policy that this machine has not accepted restores nothing.
package struct LostKeyFiles {
  /// The digests of the files that belong in the store.
  package private(set) var digests: [Fingerprint: ContentDigest] = [:]
  /// The copies of them that this machine has kept.
  private var copies: [ContentDigest: [UInt8]] = [:]
  private let tree: FileTree
  private let host: HostContext

  /// Compares the key files with the accepted policy.
  ///
  /// - Parameters:
  ///   - tree: The folder of the store.
  ///   - host: The facts about this machine.
  /// - Throws: `KeyringError.policyNotTrusted` when the policy cannot be read; `.noStore`, or a file error.
  package init(in tree: FileTree, host: HostContext) throws(KeyringError) {
    (self.tree, self.host) = (tree, host)
    let (bytes, policy) = try TrustedPolicy.read(in: tree)
    let pins = PinStore(base: host.stateBase, keyring: policy.keyring)
    guard let accepted = try pins.read(), accepted.pin.digest == ContentDigest(of: bytes) else { return }
    for (person, facts) in policy.people {
      guard let digest = accepted.pin.keys?[person] ?? facts.key, try isLost(person, digest) else { continue }
      digests[person] = digest
      copies[digest] = try pins.readKey(digest)
    }
  }

  /// The digests of the files of which this machine has no copy.
  package var missing: Set<ContentDigest> { Set(digests.values).subtracting(copies.keys) }

  /// Writes the files in one transaction, and moves the damaged ones to a quarantine folder.
  ///
  /// - Parameter found: The contents that were found in the history, by digest.
  /// - Returns: The repairs, sorted by path. A file that was not found stays as it is.
  /// - Throws: `KeyringError.busy`, `.unsafeFolder`, or a file error.
  package func restore(with found: [ContentDigest: [UInt8]] = [:]) throws(KeyringError) -> [Repair] {
    let known = copies.merging(found) { copy, _ in copy }
    let lock = try StoreLock(tree, timeout: host.lockTimeout)
    try Transaction.recover(in: tree, under: lock)
    let quarantine = Quarantine.newFolder(at: host.clock())
    var transaction = Transaction(in: tree)
    var repairs: [Repair] = []
    do {
      for (person, digest) in digests.sorted(by: { $0.key < $1.key }) {
        // Another process may have restored the file.
        guard let bytes = known[digest], ContentDigest(of: bytes) == digest, try isLost(person, digest) else {
          continue
        }
        let path = StoreLayout.keyFile(person)
        if try Keyring.isThere(path, in: tree) {
          transaction.move(path, to: "\(quarantine)/\(path)")
          repairs.append(.quarantined(path: path, to: "\(quarantine)/\(path)"))
        }
        try transaction.place(bytes, at: path)
        repairs.append(.restoredKeyFile(path))
      }
    } catch {
      transaction.abandon()
      throw error
    }
    if repairs.isEmpty {
      transaction.abandon()
      return []
    }
    try transaction.commit(under: lock, subject: "restore key files")
    return repairs
  }

  private func isLost(_ person: Fingerprint, _ digest: ContentDigest) throws(KeyringError) -> Bool {
    do throws(FileError) {
      let bytes = try tree.read(StoreLayout.keyFile(person), limit: StoreLayout.keyFileLimit)
      return bytes.map { ContentDigest(of: $0) != digest } ?? true
    } catch {
      // The survey of the store reports a path that is not a file, and `check --repair` quarantines it.
      if case .system = error.reason { throw .file(error) }
      return error.reason == .tooLarge(limit: StoreLayout.keyFileLimit)
    }
  }
}
