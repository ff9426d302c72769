internal import Keyring
internal import KeyringModel

/// Versions in the merge base that this user has signed without being a member of the group of the item at that time.
///
/// All other machines have refused them. If an admin has added the user again since, the signature counts, but what the
/// remote has instead is not a change that someone made to this version. So the version is merged like a local change
/// that was not sent yet, and does not get lost.
struct RefusedOwnItems {
  /// The paths of these versions in the merge base.
  let paths: Set<ItemPath>
  /// The last versions of these items that members have signed, by path.
  let before: [ItemPath: VerifiedRecord]

  /// Finds the versions.
  ///
  /// - Parameters:
  ///   - base: The verified versions of the merge base.
  ///   - incoming: The items of the remote. Only versions that the remote has changed or removed are examined.
  ///   - commit: The merge base.
  ///   - files: The files of the items.
  ///   - keyring: The store with the accepted policy.
  ///   - repository: The repository of the store.
  ///   - lastSigned: Returns the last versions before the merge base that a keyring accepts.
  /// - Throws: The errors of `Git.run`, and `KeyringError` if GnuPG cannot be used.
  init(
    in base: [ItemPath: VerifiedRecord], against incoming: [ItemPath: ItemFiles.Content], at commit: String,
    _ files: ItemFiles, _ keyring: Keyring, _ repository: Repository,
    lastSigned: (Keyring) throws -> [ItemPath: VerifiedRecord]
  ) throws {
    let own = base.filter { path, version in
      version.signer == keyring.ownFingerprint && incoming[path]?.verified?.record != version.record
    }
    let policies = PolicyHistoryReader(in: repository)
    guard !own.isEmpty, let step = try policies.step(at: commit) else {
      (paths, before) = ([], [:])
      return
    }
    let isAccepted = step.digest == ContentDigest(of: keyring.policy.encode())
    guard let judge = isAccepted ? keyring : try keyring.judge(ofAncestor: step, past: try policies.steps())
    else {
      (paths, before) = ([], [:])
      return
    }
    let judged = try files.items(at: commit, [judge])
    paths = Set(own.keys.filter { judged[$0]?.isDistrusted ?? false })
    let ids = Set(paths.compactMap { base[$0]?.record.id })
    before = ids.isEmpty ? [:] : try lastSigned(judge).filter { ids.contains($0.value.record.id) }
  }
}
