internal import KeyringModel
internal import OpenPGP

/// The accepted policy of a store, and the result of comparing it with the store's policy.
struct TrustedPolicy: Sendable {
  /// The policy for reading and writing. Always the accepted one, unless ``isReplacing``.
  let policy: Policy
  /// The fingerprint of the key with which this user signs.
  let signer: Fingerprint
  /// The key files of the members of the accepted policy, as they were accepted.
  let keys: [Fingerprint: [UInt8]]
  /// The reason why nothing may be written: the store's policy or a key file differs from the accepted one. Otherwise
  /// nil.
  let distrust: PolicyDistrust?
  /// True if the pin has no digests of key files because an older version of Keytree created it. The key files in the
  /// store are used then.
  let isPinWithoutKeys: Bool
  /// The pin of this machine; nil if no policy was accepted.
  let pin: Pin?
  /// A Boolean value that indicates whether this policy is trusted but will be accepted only together with a change
  /// that follows it. ``pin`` then belongs to the policy that is replaced.
  let isReplacing: Bool
  /// The accepted policy that is replaced, under which records of this machine were signed; nil unless
  /// ``isReplacing``.
  let replaced: Policy?

  /// Creates a trusted policy for a new store, or for a policy that a chain of signatures verifies.
  ///
  /// - Parameters:
  ///   - policy: The policy.
  ///   - signer: The fingerprint of the key with which this user signs.
  ///   - keys: The key files of its members.
  ///   - replaced: The policy that this one replaces, with its pin; nil if this one is accepted.
  init(
    policy: Policy, signer: Fingerprint, keys: [Fingerprint: [UInt8]],
    replacing replaced: (policy: Policy, pin: Pin?)? = nil
  ) {
    pin = replaced?.pin ?? Pin(policy: policy, bytes: policy.encode(), keys: keys)
    isReplacing = replaced != nil
    self.replaced = replaced?.policy
    self.policy = policy
    self.signer = signer
    self.keys = keys
    distrust = nil
    isPinWithoutKeys = false
  }

  private init(_ other: TrustedPolicy, signer: Fingerprint, distrust: PolicyDistrust?) {
    (policy, self.signer, keys) = (other.policy, signer, other.keys)
    (pin, isReplacing, replaced) = (other.pin, other.isReplacing, other.replaced)
    (self.distrust, isPinWithoutKeys) = (distrust, other.isPinWithoutKeys)
  }

  /// The policy as a link of a chain.
  var link: PolicyChain.Link {
    PolicyChain.Link(policy: policy, digest: ContentDigest(of: policy.encode()), keys: keys)
  }

  /// Returns a copy with another reason why nothing may be written.
  func distrusting(_ reason: PolicyDistrust) -> TrustedPolicy {
    TrustedPolicy(self, signer: signer, distrust: reason)
  }

  /// Returns a copy with another signer if the preferred one is no longer a member but the user has the secret key of
  /// another member. The pin then prefers that one.
  ///
  /// - Throws: A file error.
  func reselectingSigner(
    _ engine: any OpenPGPEngine, _ host: HostContext
  ) throws(KeyringError) -> TrustedPolicy {
    let preferred = try engine.preferred(signer, in: policy)
    if preferred == signer { return self }
    if distrust == nil, !isReplacing {
      // A pin that another process has written since is kept. It is read again the next time.
      _ = try PinStore(base: host.stateBase, keyring: policy.keyring).write(
        policy: policy, bytes: policy.encode(), keys: keys, signer: preferred, replacing: pin)
    }
    return TrustedPolicy(self, signer: preferred, distrust: distrust)
  }

  /// Checks that this user may write to the keyring.
  ///
  /// - Throws: `KeyringError.policyNotTrusted` if the store's policy is not the accepted one; `.team` with `removed`
  ///   if this user was removed.
  func requireMembership() throws(KeyringError) {
    if let distrust { throw .policyNotTrusted(distrust) }
    if let removed = policy.people[signer]?.removed { throw .team(.removed(removed)) }
  }

  /// Creates a read-only view of a policy that was not accepted. Nothing can be written with it.
  ///
  /// - Parameters:
  ///   - policy: A valid policy, which has an admin.
  ///   - keys: The existing key files.
  init(unaccepted policy: Policy, keys: [Fingerprint: [UInt8]]) {
    self.policy = policy
    // Never used for signing, since writing is refused.
    signer = policy.admins[0]
    self.keys = keys
    distrust = .notPinned
    isPinWithoutKeys = false
    (pin, isReplacing, replaced) = (nil, false, nil)
  }

  /// Reads a store's policy and key files once and compares their bytes with the pin (threats T1 and T2).
  ///
  /// The signature was verified when the pin was created, so equal bytes are not verified again.
  ///
  /// - Throws: `KeyringError.policyNotTrusted` if there is no readable pin, the policy cannot be read, a key file is
  ///   missing, or a key file was changed and the accepted copy is lost; or a file error.
  init(in tree: FileTree, stateBase: String) throws(KeyringError) {
    let (bytes, stored) = try Self.read(in: tree)
    let pins = PinStore(base: stateBase, keyring: stored.keyring)
    guard let accepted = try pins.read() else { throw .policyNotTrusted(.notPinned) }
    policy = accepted.policy
    signer = accepted.signer
    (pin, isReplacing, replaced) = (accepted.pin, false, nil)
    isPinWithoutKeys = accepted.pin.keys == nil
    var keys = try Self.keys(of: accepted.policy, in: tree)
    let changed = accepted.pin.changedKeys(keys)
    for fingerprint in changed {
      let reason = PolicyDistrust.keyChanged(fingerprint, name: policy.people[fingerprint]?.name ?? "")
      // Key files determine which signatures are valid, so only accepted key files are used, even for reading.
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

  /// Reads the trusted policy like `init(in:stateBase:)`. If the policy is not the accepted one, finishes an interrupted
  /// transaction first, because the policy may be in place before its signature and key files. Also removes the
  /// temporary names of its files that a power cut has left.
  ///
  /// - Throws: The errors of `init(in:stateBase:)`; `KeyringError.busy`, `.transactionUnknown`.
  static func settled(in tree: FileTree, host: HostContext) throws(KeyringError) -> TrustedPolicy {
    for _ in 0..<3 {
      let before = try ReaderSnapshot(of: tree)
      if before.isPending, isPolicyPending(in: tree) { break }
      let trusted: TrustedPolicy
      do {
        trusted = try TrustedPolicy(in: tree, stateBase: host.stateBase)
      } catch .file(let error) where error.reason == .hasOtherNames {
        guard try hasTemporaryNames(in: tree) else { throw .file(error) }
        break
      }
      if try hasSecondNames(in: tree, ofKeys: trusted.distrust != nil) { break }
      // A reader finishes a transaction only if it has to.
      if trusted.distrust == nil { return trusted }
      // A writer may have replaced only some of the files when they were read.
      if try ReaderSnapshot(of: tree) == before { return trusted }
    }
    try recover(in: tree, timeout: host.lockTimeout)
    return try TrustedPolicy(in: tree, stateBase: host.stateBase)
  }

  /// Removes the temporary names of the policy's files that a power cut has left.
  ///
  /// - Throws: `KeyringError.busy`, `.transactionUnknown`, or a file error.
  static func removeSecondNames(in tree: FileTree, timeout: Double) throws(KeyringError) {
    if try hasSecondNames(in: tree, ofKeys: true) { try recover(in: tree, timeout: timeout) }
  }

  private static func recover(in tree: FileTree, timeout: Double) throws(KeyringError) {
    do throws(KeyringError) {
      let lock = try StoreLock(tree, timeout: timeout)
      try Transaction.recover(in: tree, under: lock)
    } catch {
      switch error {
      // Reading is still possible. Writing will report the transaction that cannot be finished.
      case .transactionDamaged, .transactionOutdated, .file: break
      default: throw error
      }
    }
  }

  /// Returns true if the policy or its signature, and optionally a key file, has a second name that recovery can remove.
  private static func hasSecondNames(in tree: FileTree, ofKeys: Bool) throws(KeyringError) -> Bool {
    var paths = [StoreLayout.policy, StoreLayout.policySignature]
    if ofKeys { paths += try files(tree.list(StoreLayout.keys)).map { "\(StoreLayout.keys)/\($0)" } }
    for path in paths where try files(tree.status(path))?.links ?? 1 > 1 {
      return try hasTemporaryNames(in: tree)
    }
    return false
  }

  /// Returns true if there are files that a writer has not finished.
  private static func hasTemporaryNames(in tree: FileTree) throws(KeyringError) -> Bool {
    if try !Transaction.pending(in: tree).isEmpty { return true }
    return try files(tree.status(StoreLayout.creationTemporary)) != nil
  }

  /// Returns true if a committed but interrupted transaction replaces the policy.
  private static func isPolicyPending(in tree: FileTree) -> Bool {
    // A folder or record that cannot be read is reported when the transaction is finished.
    guard let folders = try? Transaction.pending(in: tree) else { return false }
    return folders.contains { folder in
      (try? Transaction.record(of: folder, in: tree))??.paths.contains(StoreLayout.policy) ?? false
    }
  }

  /// Returns the store's policy, trusted or not, with its exact bytes.
  static func read(in tree: FileTree) throws(KeyringError) -> (bytes: [UInt8], policy: Policy) {
    let bytes = try files(tree.read(StoreLayout.policy, limit: StoreLayout.smallFileLimit))
    guard let bytes else { throw .noStore(path: tree.path) }
    do throws(PolicyError) {
      return (bytes, try Policy.parse(bytes))
    } catch {
      throw .policyNotTrusted(.unreadable(error))
    }
  }

  /// Returns the key files of all people in a policy who were not removed.
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

  /// Adds digests of the store's current key files to a pin without them, so that later changes are detected.
  ///
  /// - Throws: A file error.
  func adoptKeys(stateBase: String) throws(KeyringError) {
    guard isPinWithoutKeys, distrust == nil else { return }
    // A pin that another process has written since already has digests of key files.
    _ = try PinStore(base: stateBase, keyring: policy.keyring).write(
      policy: policy, bytes: policy.encode(), keys: keys, signer: signer, replacing: pin)
  }
}

extension Pin {
  /// Returns the people whose key file differs from the accepted one, sorted; none if the pin has no digests of key
  /// files.
  ///
  /// - Parameter files: The current key files. People without an accepted key file are ignored.
  func changedKeys(_ files: [Fingerprint: [UInt8]]) -> [Fingerprint] {
    guard let keys else { return [] }
    return files.filter { file in keys[file.key].map { $0 != ContentDigest(of: file.value) } ?? false }
      .map(\.key).sorted()
  }
}
