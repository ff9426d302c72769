internal import KeyringModel

/// The policy of a store, held against what this machine has accepted.
struct TrustedPolicy: Sendable {
  /// The policy that reading and writing rely on: always the accepted one.
  let policy: Policy
  /// Who signs what this user writes.
  let signer: Fingerprint
  /// The key files of everybody in the accepted policy, as they were accepted.
  let keys: [Fingerprint: [UInt8]]
  /// Why nothing may be written, if the store's policy or a key file in it is not the accepted one.
  let distrust: PolicyDistrust?
  /// Whether the pin was made before digests of key files were kept, so that those in the store count.
  let isPinWithoutKeys: Bool
  /// The pin of this machine; nil if nothing was accepted.
  let pin: Pin?
  /// A Boolean value that indicates whether this policy is believed, and only to be accepted with a change on top of it:
  /// the pin is that of another one.
  let isReplacing: Bool

  /// Takes what is known already, of a store that was just made or by a chain of signatures.
  ///
  /// - Parameters:
  ///   - policy: The policy.
  ///   - signer: Who signs what this user writes.
  ///   - keys: The key files of its people.
  ///   - replaced: The pin of the policy that this one takes the place of; nil if this one is accepted.
  init(
    policy: Policy, signer: Fingerprint, keys: [Fingerprint: [UInt8]], replacing replaced: Pin? = nil
  ) {
    pin = replaced ?? Pin(policy: policy, bytes: policy.encode(), keys: keys)
    isReplacing = replaced != nil
    self.policy = policy
    self.signer = signer
    self.keys = keys
    distrust = nil
    isPinWithoutKeys = false
  }

  private init(_ other: TrustedPolicy, distrust: PolicyDistrust) {
    (policy, signer, keys) = (other.policy, other.signer, other.keys)
    (pin, isReplacing) = (other.pin, other.isReplacing)
    (self.distrust, isPinWithoutKeys) = (distrust, other.isPinWithoutKeys)
  }

  /// The same, with another reason why nothing may be written.
  func distrusting(_ reason: PolicyDistrust) -> TrustedPolicy { TrustedPolicy(self, distrust: reason) }

  /// Refuses what only a member of the keyring may do.
  ///
  /// - Throws: `KeyringError.policyNotTrusted` when the store's policy is not the accepted one; `.team` with `removed`.
  func requireMembership() throws(KeyringError) {
    if let distrust { throw .policyNotTrusted(distrust) }
    if let removed = policy.people[signer]?.removed { throw .team(.removed(removed)) }
  }

  /// Takes a policy that nobody has accepted, for looking at a store: nothing can be written.
  ///
  /// - Parameters:
  ///   - policy: a valid policy, which has an admin.
  ///   - keys: the key files that are there.
  init(unaccepted policy: Policy, keys: [Fingerprint: [UInt8]]) {
    self.policy = policy
    // Nobody signs anything: writing is refused before.
    signer = policy.admins[0]
    self.keys = keys
    distrust = .notPinned
    isPinWithoutKeys = false
    (pin, isReplacing) = (nil, false)
  }

  /// Reads a store's policy and key files once and compares those bytes with the pin (threats T1 and T2).
  ///
  /// The signature was verified when the pin was made; equal bytes need no second look.
  ///
  /// - Throws: `KeyringError.policyNotTrusted` when there is no readable pin, the policy cannot be read, a key
  ///   file is missing, or one was changed and the copy of the accepted one is lost; or a file error.
  init(in tree: FileTree, stateBase: String) throws(KeyringError) {
    let (bytes, stored) = try Self.read(in: tree)
    let pins = PinStore(base: stateBase, keyring: stored.keyring)
    guard let accepted = try pins.read() else { throw .policyNotTrusted(.notPinned) }
    policy = accepted.policy
    signer = accepted.signer
    (pin, isReplacing) = (accepted.pin, false)
    isPinWithoutKeys = accepted.pin.keys == nil
    var keys = try Self.keys(of: accepted.policy, in: tree)
    let changed = accepted.pin.changedKeys(keys)
    for fingerprint in changed {
      let reason = PolicyDistrust.keyChanged(fingerprint, name: policy.people[fingerprint]?.name ?? "")
      // What a key file says decides which signatures are good, so that reading keeps to the accepted one, too.
      guard let digest = accepted.pin.keys?[fingerprint], let copy = try pins.readKey(digest) else {
        throw .policyNotTrusted(reason)
      }
      keys[fingerprint] = copy
    }
    self.keys = keys
    if ContentDigest(of: bytes) != accepted.pin.digest {
      distrust = .changed(generation: stored.generation, pinned: accepted.pin.generation)
    } else {
      distrust = changed.first.map { .keyChanged($0, name: accepted.policy.people[$0]?.name ?? "") }
    }
  }

  /// Reads them as `init(in:stateBase:)` does, after finishing a change that was cut off where the policy is not the
  /// accepted one: it may be there before its signature and key files are.
  ///
  /// - Throws: as `init(in:stateBase:)`; `KeyringError.busy`, `.transactionUnknown`.
  static func settled(in tree: FileTree, host: HostContext) throws(KeyringError) -> TrustedPolicy {
    for _ in 0..<3 {
      let before = try ReaderSnapshot(of: tree)
      if before.isPending, isPolicyPending(in: tree) { break }
      let trusted = try TrustedPolicy(in: tree, stateBase: host.stateBase)
      // Whoever only looks finishes nothing that is not in the way.
      if trusted.distrust == nil { return trusted }
      // A writer may have been at work between two files.
      if try ReaderSnapshot(of: tree) == before { return trusted }
    }
    do throws(KeyringError) {
      let lock = try StoreLock(tree, timeout: host.lockTimeout)
      try Transaction.recover(in: tree, under: lock)
    } catch {
      switch error {
      // What cannot be finished here stands in the way of writing, which says so; what can be read still is.
      case .transactionDamaged, .transactionOutdated, .file: break
      default: throw error
      }
    }
    return try TrustedPolicy(in: tree, stateBase: host.stateBase)
  }

  /// Whether a change that was decided and cut off puts another policy in place.
  private static func isPolicyPending(in tree: FileTree) -> Bool {
    // What cannot be read is told by whoever has to finish it.
    guard let folders = try? Transaction.pending(in: tree) else { return false }
    return folders.contains { folder in
      (try? Transaction.record(of: folder, in: tree))??.paths.contains(StoreLayout.policy) ?? false
    }
  }

  /// The store's policy: its exact bytes and what they say, trusted or not.
  static func read(in tree: FileTree) throws(KeyringError) -> (bytes: [UInt8], policy: Policy) {
    let bytes = try files(tree.read(StoreLayout.policy, limit: StoreLayout.smallFileLimit))
    guard let bytes else { throw .noStore(path: tree.path) }
    do throws(PolicyError) {
      return (bytes, try Policy.parse(bytes))
    } catch {
      throw .policyNotTrusted(.unreadable(error))
    }
  }

  /// The key files of everybody in a policy who was not removed.
  static func keys(of policy: Policy, in tree: FileTree) throws(KeyringError) -> [Fingerprint: [UInt8]] {
    var reader = KeyFileReader(tree)
    var keys: [Fingerprint: [UInt8]] = [:]
    for (fingerprint, person) in policy.people where person.removed == nil {
      guard let bytes = try files(reader.read(fingerprint)) else {
        throw .policyNotTrusted(.keyMissing(fingerprint))
      }
      keys[fingerprint] = bytes
    }
    return keys
  }

  /// Lets a pin without digests of key files have those of the files that are in the store now, so that they
  /// cannot be changed unnoticed from here on.
  ///
  /// - Throws: a file error.
  func adoptKeys(stateBase: String) throws(KeyringError) {
    guard isPinWithoutKeys, distrust == nil else { return }
    // What another process has accepted since has digests of key files.
    _ = try PinStore(base: stateBase, keyring: policy.keyring).write(
      policy: policy, bytes: policy.encode(), keys: keys, signer: signer, replacing: pin)
  }
}

extension Pin {
  /// The people whose key file is not the one that was accepted, sorted; none when the pin does not know.
  ///
  /// - Parameter files: the key files as they are now. People of whom none was accepted do not count.
  func changedKeys(_ files: [Fingerprint: [UInt8]]) -> [Fingerprint] {
    guard let keys else { return [] }
    return files.filter { file in keys[file.key].map { $0 != ContentDigest(of: file.value) } ?? false }
      .map(\.key).sorted()
  }
}
