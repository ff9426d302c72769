internal import FileSystem

/// What tells, without reading it, that a store's policy, or what was accepted of it, may have changed.
package struct TrustStamp: Equatable, Sendable {
  private let stamps: [FileStamp?]
  /// What stands at the path of the store: it may have been moved away, and another one put there.
  private let root: [UInt64]
  /// Whether another stamp that is equal tells that nothing has changed since.
  package let isSettled: Bool

  init(_ stamps: [FileStamp?], root: [UInt64], at now: Int64) {
    self.stamps = stamps
    self.root = root
    isSettled = stamps.allSatisfy { $0?.isFresh(at: now) != true }
  }
}

extension Keyring {
  /// The stamp of the policy, the key files and the pin, for a process that keeps a keyring for long.
  ///
  /// As for a kept index, a file that is overwritten in place can stay unnoticed: key files of another size or time are
  /// told by their folder alone.
  ///
  /// - Throws: `KeyringError.noStore` when the policy is gone, or a file error.
  package func trustStamp() throws(KeyringError) -> TrustStamp {
    // In this order: what changes after the time is known gets a later one.
    let now = host.fileClock.now()
    guard let policy = try files(tree.status(StoreLayout.policy)) else { throw .noStore(path: tree.path) }
    let keys = try files(tree.status(StoreLayout.keys))
    let pin = "\(host.stateBase)/\(trusted.policy.keyring.hex)/pin.json"
    // A pin that is not there, or not to be reached, is told when the store is opened anew.
    let accepted = try? FileStatus(of: pin)
    let root = try files { () throws(FileError) in try FileStatus(of: tree.path) }
    return TrustStamp([policy.stamp, keys?.stamp, accepted?.stamp], root: root.identity, at: now)
  }

  /// Whether another keyring was opened on the same folder with the same policy, key files and signer, and trusts or
  /// distrusts alike.
  package func hasSameTrust(as other: Keyring) -> Bool {
    // A folder that cannot be looked at any more is not the same.
    guard let root = try? tree.rootStatus(), root.identity == (try? other.tree.rootStatus())?.identity else {
      return false
    }
    return trusted.policy == other.trusted.policy && trusted.keys == other.trusted.keys
      && trusted.signer == other.trusted.signer && trusted.distrust == other.trusted.distrust
  }
}
