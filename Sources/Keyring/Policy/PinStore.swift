internal import Glibc
internal import KeyringModel
internal import OpenPGP

/// The policy of a keyring that this machine has accepted, kept outside of the store.
///
/// Each keyring has a folder with `lock`, `pin.json`, copies of the policy and of its key files, and `signer`, the
/// fingerprint that this user signs with. The copies allow reading items with the accepted members and keys after the
/// store's files were changed. They are named after their digests, so replacing `pin.json` replaces all of them at
/// once.
struct PinStore {
  private let base: String
  private let keyring: KeyringID
  private let faults: FaultPlan?

  init(base: String, keyring: KeyringID, faults: FaultPlan? = nil) {
    self.base = base
    self.keyring = keyring
    self.faults = faults
  }

  /// An accepted policy.
  struct Accepted: Equatable, Sendable {
    let pin: Pin
    let policy: Policy
    let signer: Fingerprint
  }

  /// Reads the accepted policy; `nil` if none was accepted.
  ///
  /// - Throws: `KeyringError.policyNotTrusted(.pinUnreadable)` if it is damaged, or a file error.
  func read() throws(KeyringError) -> Accepted? {
    guard let tree = try openBase() else { return nil }
    var pin = try readPin(tree)
    while let current = pin {
      do throws(KeyringError) {
        return try accepted(current, in: tree)
      } catch {
        // Another process may have replaced the pin and removed the old copies.
        pin = try readPin(tree)
        if pin == current { throw error }
      }
    }
    return nil
  }

  private func accepted(_ pin: Pin, in tree: FileTree) throws(KeyringError) -> Accepted {
    let limit = StoreLayout.smallFileLimit
    let policyBytes = try files(tree.read(policyFile(pin.digest), limit: limit))
    let signerBytes = try files(tree.read("\(keyring.hex)/signer", limit: limit))
    guard let policyBytes, let signerBytes, ContentDigest(of: policyBytes) == pin.digest,
      let signer = Fingerprint(
        String(decoding: signerBytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)),
      // A copy that was accepted and cannot be parsed now counts as lost.
      let policy = try? Policy.parse(policyBytes), policy.keyring == keyring
    else { throw .policyNotTrusted(.pinUnreadable) }
    return Accepted(pin: pin, policy: policy, signer: signer)
  }

  /// Reads the pin alone, which names the admins even if the rest is damaged.
  ///
  /// - Throws: The errors of `read()`.
  func readPin() throws(KeyringError) -> Pin? {
    guard let tree = try openBase() else { return nil }
    return try readPin(tree)
  }

  private func readPin(_ tree: FileTree) throws(KeyringError) -> Pin? {
    let file = "\(keyring.hex)/pin.json"
    guard let bytes = try files(tree.read(file, limit: StoreLayout.smallFileLimit)) else { return nil }
    do {
      return try Pin.parse(bytes)
    } catch {
      throw .policyNotTrusted(.pinUnreadable)
    }
  }

  /// Reads the accepted copy of a key file; `nil` if it is lost or damaged.
  ///
  /// - Throws: A file error.
  func readKey(_ digest: ContentDigest) throws(KeyringError) -> [UInt8]? {
    guard let tree = try openBase() else { return nil }
    let bytes = try files(tree.read(keyFile(digest), limit: StoreLayout.keyFileLimit))
    guard let bytes, ContentDigest(of: bytes) == digest else { return nil }
    return bytes
  }

  private func policyFile(_ digest: ContentDigest) -> String {
    "\(keyring.hex)/policy-\(digest.base64url).json"
  }

  private func keyFile(_ digest: ContentDigest) -> String { "\(keyring.hex)/key-\(digest.base64url).asc" }

  /// Stores a policy and its key files as accepted, if the pin is still the one on which the decision was based.
  ///
  /// The rename of `pin.json` commits the change. A lock prevents two processes from writing at the same time, so that
  /// neither replaces a pin that it has not read: an older policy never replaces a newer one.
  ///
  /// - Parameters:
  ///   - policy: The policy.
  ///   - bytes: Its exact bytes.
  ///   - keys: The key files of its members.
  ///   - signer: The fingerprint that this user signs with.
  ///   - old: The pin on which the decision was based; nil if there was none, or none that could be read.
  /// - Returns: False if nothing was written because another process has accepted a different policy since.
  /// - Throws: `KeyringError.busy` if another process holds the lock; `.unfinished` if the pin was written, but perhaps
  ///   not flushed to the disk; or a file error.
  func write(
    policy: Policy, bytes: [UInt8], keys: [Fingerprint: [UInt8]], signer: Fingerprint, replacing old: Pin?
  ) throws(KeyringError) -> Bool {
    let tree = try makeBase()
    let lock = try takeLock(tree)
    defer { FileLock.release(lock) }
    let pin = Pin(policy: policy, bytes: bytes, keys: keys)
    let current = try readablePin(tree)
    guard current == old || current == pin else { return false }
    try write(pin, policy: bytes, keys: keys, signer: signer, in: tree)
    return true
  }

  private func takeLock(_ tree: FileTree) throws(KeyringError) -> Int32 {
    let file = "\(keyring.hex)/lock"
    let descriptor = try files(tree.openForLock(file))
    let code = FileLock.take(descriptor, .exclusive, within: Self.patience)
    if code == 0 { return descriptor }
    close(descriptor)
    throw code == EWOULDBLOCK ? .busy(holder: nil) : .file(FileError("lock", file, .system(code)))
  }

  /// The longest time to wait for another process that writes a pin, in seconds.
  private static let patience = 10.0

  private func readablePin(_ tree: FileTree) throws(KeyringError) -> Pin? {
    do throws(KeyringError) {
      return try readPin(tree)
    } catch {
      switch error {
      case .policyNotTrusted(.pinUnreadable): return nil
      // A pin that is not a regular file of normal size is replaced.
      case .file(let file):
        if case .system = file.reason { throw error }
        return nil
      default: throw error
      }
    }
  }

  private func write(
    _ pin: Pin, policy bytes: [UInt8], keys: [Fingerprint: [UInt8]], signer: Fingerprint, in tree: FileTree
  ) throws(KeyringError) {
    let folder = keyring.hex
    let copies =
      [(policyFile(pin.digest), bytes)]
      + keys.sorted { $0.key < $1.key }.map { (keyFile(ContentDigest(of: $0.value)), $0.value) }
    let content = copies + [("\(folder)/signer", Array("\(signer.text)\n".utf8))]
    let temporary = "\(folder)/.new"
    let kept = Set(copies.map(\.0))
    try files { () throws(FileError) in
      try tree.makeDirectory(folder)
      for (file, bytes) in content { try tree.replaceFile(file, with: bytes, temporary: temporary) }
    }
    do {
      try tree.replaceFile("\(folder)/pin.json", with: pin.encode(), temporary: temporary)
    } catch {
      // The folder may not have been flushed after the file was replaced.
      guard try readablePin(tree) == pin else { throw .file(error) }
      throw .unfinished(error)
    }
    try finishing { () throws(FileError) in
      try tree.synchronizeDirectory("")
      for name in try tree.list(folder) where name.hasPrefix("policy-") || name.hasPrefix("key-") {
        let file = "\(folder)/\(name)"
        if !kept.contains(file) { try tree.remove(file) }
      }
    }
  }

  private func openBase() throws(KeyringError) -> FileTree? {
    let tree: FileTree
    do {
      tree = try FileTree(at: base, faults: faults)
    } catch {
      if error.isMissing { return nil }
      throw .file(error)
    }
    try StoreFolder.checkOwner(base, tree)
    return tree
  }

  private func makeBase() throws(KeyringError) -> FileTree {
    // Starts from the root, because parent folders may not exist yet in a new account.
    try StoreFolder.makeFolder(base, faults: faults)
    guard let tree = try openBase() else { throw .file(FileError("open", base, .notARegularFile)) }
    return tree
  }
}
