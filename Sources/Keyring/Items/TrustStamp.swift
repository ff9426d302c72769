internal import FileSystem

/// Metadata that shows, without reading the files, that a store's policy or its pin may have changed.
package struct TrustStamp: Equatable, Sendable {
  private let stamps: [FileStamp?]
  /// The identity of the folder at the store's path, which may have been replaced by another folder.
  private let root: [UInt64]
  /// True if an equal stamp proves that nothing has changed since.
  package let isSettled: Bool

  init(_ stamps: [FileStamp?], root: [UInt64], at now: Int64) {
    self.stamps = stamps
    self.root = root
    isSettled = stamps.allSatisfy { $0?.isFresh(at: now) != true }
  }
}

extension Keyring {
  /// Returns the stamp of the policy, the key files and the pin, for a process that keeps a keyring open.
  ///
  /// As with a cached index, a file that is overwritten in place can go unnoticed, because for key files only the stamp
  /// of their folder is compared.
  ///
  /// - Throws: `KeyringError.noStore` if the policy no longer exists, or a file error.
  package func trustStamp() throws(KeyringError) -> TrustStamp {
    // The time is read first, so that any later change gets a later stamp.
    let now = host.fileClock.now()
    guard let policy = try files(tree.status(StoreLayout.policy)) else { throw .noStore(path: tree.path) }
    let keys = try files(tree.status(StoreLayout.keys))
    let pin = "\(host.stateBase)/\(trusted.policy.keyring.hex)/pin.json"
    // A pin that is missing or inaccessible is reported when the store is opened again.
    let accepted = try? FileStatus(of: pin)
    let root = try files { () throws(FileError) in try FileStatus(of: tree.path) }
    return TrustStamp([policy.stamp, keys?.stamp, accepted?.stamp], root: root.identity, at: now)
  }

  /// Returns true if another keyring was opened on the same folder with the same policy, key files, signer and
  /// distrust.
  package func hasSameTrust(as other: Keyring) -> Bool {
    // A folder that is no longer accessible does not count as the same.
    guard let root = try? tree.rootStatus(), root.identity == (try? other.tree.rootStatus())?.identity else {
      return false
    }
    return trusted.policy == other.trusted.policy && trusted.keys == other.trusted.keys
      && trusted.signer == other.trusted.signer && trusted.distrust == other.trusted.distrust
  }
}
