internal import KeyringModel

/// The policy of a store, held against what this machine has accepted.
struct TrustedPolicy: Sendable {
  /// The policy that reading and writing rely on: always the accepted one.
  let policy: Policy
  /// Who signs what this user writes.
  let signer: Fingerprint
  /// The key files of everybody in the accepted policy.
  let keys: [Fingerprint: [UInt8]]
  /// Why nothing may be written, if the store's policy is not the accepted one.
  let distrust: PolicyDistrust?

  /// Takes what is known already, of a store that was just made.
  init(policy: Policy, signer: Fingerprint, keys: [Fingerprint: [UInt8]], distrust: PolicyDistrust?) {
    self.policy = policy
    self.signer = signer
    self.keys = keys
    self.distrust = distrust
  }

  /// Reads a store's policy once and compares those bytes with the pin (threats T1 and T2).
  ///
  /// The signature was verified when the pin was made; equal bytes need no second look.
  ///
  /// - Throws: `KeyringError.policyNotTrusted` when there is no readable pin, the policy cannot be read or
  ///   a key file is missing; or a file error.
  init(in tree: FileTree, stateBase: String) throws(KeyringError) {
    let (bytes, stored) = try Self.read(in: tree)
    guard let accepted = try PinStore(base: stateBase, keyring: stored.keyring).read() else {
      throw .policyNotTrusted(.notPinned)
    }
    policy = accepted.policy
    signer = accepted.signer
    if ContentDigest(of: bytes) == accepted.pin.digest {
      distrust = nil
    } else {
      distrust = .changed(generation: stored.generation, pinned: accepted.pin.generation)
    }
    keys = try Self.keys(of: accepted.policy, in: tree)
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
    var keys: [Fingerprint: [UInt8]] = [:]
    for (fingerprint, person) in policy.people where person.removed == nil {
      let file = StoreLayout.keyFile(fingerprint)
      guard let bytes = try files(tree.read(file, limit: StoreLayout.smallFileLimit)) else {
        throw .policyNotTrusted(.keyMissing(fingerprint))
      }
      keys[fingerprint] = bytes
    }
    return keys
  }
}
