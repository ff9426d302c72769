internal import Keyring
internal import KeyringModel

/// Versions in the merge base that this user has signed after an admin had removed them from the group of the item.
///
/// All other machines have refused them. If an admin has added the user again since, the signature counts, but what the
/// remote has instead is not a change that someone made to this version. So the version must not be replaced silently:
/// it is kept if the remote still has the last version that a member had signed before it, and becomes a conflict copy
/// otherwise.
struct RefusedOwnItems {
  /// The versions, by their paths in the merge base.
  private(set) var versions: [ItemPath: VerifiedRecord] = [:]
  /// The last versions of these items that members have signed, by path.
  private(set) var before: [ItemPath: VerifiedRecord] = [:]
  /// The paths of versions that become conflict copies.
  private(set) var replaced: Set<ItemPath> = []

  /// Finds the versions.
  ///
  /// - Parameters:
  ///   - base: The verified versions of the merge base.
  ///   - incoming: The items of the remote. Only versions that the remote has changed or removed are examined.
  ///   - bases: The merge bases. If there are several, nothing is found.
  ///   - theirs: The commit of the remote.
  ///   - keyring: The store with the accepted policy.
  ///   - repository: The repository of the store.
  ///   - lastSigned: Returns the last versions at some paths before the merge base that a keyring accepts.
  /// - Throws: The errors of `Git.run`, and `KeyringError` if GnuPG cannot be used.
  init(
    in base: [ItemPath: VerifiedRecord], against incoming: [ItemPath: ItemFiles.Content],
    since bases: [String], to theirs: String, _ keyring: Keyring, _ repository: Repository,
    lastSigned: (Set<ItemPath>, Keyring) throws -> [ItemPath: VerifiedRecord]
  ) throws {
    // Nobody can have been removed from a store of one person, so its merges need no further git.
    guard keyring.policy.people.count > 1 else { return }
    let own = base.filter { path, version in
      version.signer == keyring.ownFingerprint && incoming[path]?.verified?.record != version.record
    }
    guard !own.isEmpty, bases.count == 1, keyring.distrust == nil else { return }
    let policies = PolicyHistoryReader(in: repository)
    guard let step = try policies.step(at: bases[0]), let policy = try? Policy.parse(step.bytes),
      // Before the user was added, all their signatures are later than the policy, which somebody has restored.
      policy.people[keyring.ownFingerprint] != nil
    else { return }
    let refused = own.filter { !policy.isMember($1.signer, ofAny: [$1.record.group]) }
    if refused.isEmpty { return }
    let found = try refused.filter { path, version in
      try !Self.isAccepted(version.record, since: bases, in: theirs, repository)
    }
    guard !found.isEmpty, let judge = try policies.keyring(keyring, at: step) else { return }
    versions = found
    let ids = Set(found.values.map(\.record.id))
    let items = incoming.compactMapValues(\.verified)
    let paths = Set(
      [base, items].flatMap { side in side.filter { ids.contains($1.record.id) }.keys })
    before = try lastSigned(paths, judge).filter { ids.contains($1.record.id) }
    let old = Dictionary(grouping: before.values.map(\.record), by: \.id)
    let new = Dictionary(grouping: items.values.map(\.record), by: \.id)
    replaced = Set(
      versions.keys.filter { path in
        guard let id = versions[path]?.record.id else { return false }
        if let other = items[path]?.record, other.id != id { return true }
        return new[id]?.contains { other in old[id]?.contains { $0.isSameVersion(as: other) } != true }
          ?? false
      })
  }

  /// Returns true if a commit of the remote since the merge base contains a version. Then somebody has accepted it.
  private static func isAccepted(
    _ version: ItemRecord, since bases: [String], in theirs: String, _ repository: Repository
  ) throws -> Bool {
    let objects = ObjectReader(git: repository.git)
    let path = repository.prefix + ItemFiles.recordFile(version.path)
    let commits = try repository.git.commits(changing: path, in: [theirs, "--not"] + bases)
    let names = Set(try objects.names(of: commits.map { "\($0):\(path)" }).values)
    return try objects.contents(of: names, limit: RecordFile.maximumSize).values.contains { bytes in
      // Contents that are not records are ignored.
      (try? RecordFile(parsing: bytes))?.record.isSameVersion(as: version) ?? false
    }
  }
}
