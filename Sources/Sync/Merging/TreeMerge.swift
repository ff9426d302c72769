package import Keyring
internal import KeyringModel

/// Merges two commits of a store: items according to the records that members have signed, everything else file by
/// file.
package struct TreeMerge {
  /// A commit and its changes since the base.
  struct Side {
    let commit: String
    let changes: TreeDifference
  }

  let repository: Repository
  let prefix: String
  let objects: ObjectReader
  let bases: [String]
  let ours: Side
  let theirs: Side
  let refusedFiles: [RefusedChange]
  /// The remote's encrypted files directly in the folder of a class: the object names by path in the store.
  let misplaced: [String: String]
  let keyring: Keyring
  let judge: Keyring
  /// The side whose policy and key files are used if both sides have changed the policy; nil for neither.
  package var policySide: MergeSide?
  /// The policy of the remote, if it is refused; only with our ``policySide``.
  var refusedPolicy: RefusedChange?
  /// The policy that is written in its place, with the key files of ``judge``; nil for that of this clone.
  var newestPolicy: PolicyStep?

  /// Creates a merge.
  ///
  /// - Parameters:
  ///   - bases: The merge bases. The first one is used for files, all of them for items. The empty tree if the sides
  ///     have no common ancestor.
  ///   - ours: The commit that is merged into. The store matches it.
  ///   - theirs: The commit that is merged.
  ///   - repository: The repository that contains the commits.
  ///   - keyring: The store.
  ///   - judge: The keyring whose policy is used to verify the remote's items and to sign merged records.
  /// - Throws: `unsafePath` if the remote has a file outside the store with a path that is not UTF-8 or contains a line
  ///   feed; the errors of `Git.run`.
  package init(
    bases: [String], ours: String, theirs: String, in repository: Repository, keyring: Keyring,
    judge: Keyring
  ) throws {
    precondition(!bases.isEmpty, "a merge without a common ancestor needs the empty tree as its base")
    self.repository = repository
    prefix = repository.prefix
    objects = ObjectReader(git: repository.git)
    self.bases = bases
    self.ours = Side(
      commit: ours, changes: try TreeDifference(from: bases[0], to: ours, in: repository.git))
    var changes = try TreeDifference(from: bases[0], to: theirs, in: repository.git)
    var misplaced: [String: String] = [:]
    for (path, entry) in changes.entries where path.hasPrefix(prefix) && entry.mode == "100644" {
      let inStore = String(path.dropFirst(prefix.count))
      if StoreLayout.isMisplacedFile(inStore) { misplaced[inStore] = entry.name }
    }
    self.misplaced = misplaced
    let refused =
      try changes.refuse(outside: AllowedFiles(beside: judge.policy), below: prefix)
      + changes.refuseLarge(below: prefix, objects)
    let (objects, place) = (objects, "\(ours):\(prefix)\(StoreLayout.policy)")
    func localPolicy() throws -> Policy? {
      let bytes = try objects.contents(of: [place], limit: StoreLayout.smallFileLimit)[place]
      // A policy that cannot be read names no key files.
      return bytes.flatMap { try? Policy.parse($0) }
    }
    refusedFiles =
      try refused
      + changes.refuseLosses(of: Set(keyring.policy.people.keys), below: prefix, after: refused, objects)
      + changes.refuseStrangers(besides: Set(keyring.policy.people.keys), below: prefix, objects)
      + changes.refuseReplacedKeys(unless: localPolicy, below: prefix, objects)
      + changes.executables(below: prefix)
    self.theirs = Side(commit: theirs, changes: changes)
    (self.keyring, self.judge) = (keyring, judge)
  }

  /// Returns the result of the merge.
  ///
  /// - Throws: `bothChanged` for files that are not items and were changed on both sides; `policiesDiverged`;
  ///   `KeyringError` if a merged record cannot be signed; the errors of `Git.run`.
  package func files() throws -> MergedFiles {
    var result = MergedFiles()
    result.refused = refusedFiles + [refusedPolicy].compactMap(\.self)
    try mergeItems(into: &result)
    try addEmptyShards(&result)
    try mergeConflictCopies(into: &result)
    try mergeFiles(into: &result)
    restoreKeyFiles(into: &result)
    writeNewestPolicy(into: &result)
    try moveMisplacedFiles(into: &result)
    try renewPassRecipients(&result)
    result.foreignFiles.sort { $0.path < $1.path }
    try nameItems(&result)
    result.equalsTheirs = try equalsTheirs(result)
    try nameCommitters(&result)
    return result
  }

  // MARK: Conflict copies

  /// Adds conflict copies that the remote has created, and removes those that it has resolved.
  func mergeConflictCopies(into result: inout MergedFiles) throws {
    let folder = "\(prefix)\(StoreLayout.conflicts)/"
    var added: [String: String] = [:]
    var removed: [String] = []
    for (path, entry) in theirs.changes.entries where path.hasPrefix(folder) {
      let inStore = String(path.dropFirst(prefix.count))
      guard StoreLayout.isConflictFile(inStore) else { continue }
      let mine = ours.changes.entries[path]
      if let name = entry.name {
        if mine == nil { added[inStore] = name }
        continue
      }
      // The name of a copy is the digest of its record, so this side can at most have signed it again.
      if mine != nil, mine?.name == nil { continue }
      removed.append(inStore)
    }
    try removeConflictCopies(removed, from: &result)
    let contents = try objects.contents(of: Set(added.values), limit: StoreFiles.sizeLimit)
    let known = try knownMessages(of: added)
    var doubtful: [(path: String, record: [UInt8], secret: [UInt8])] = []
    for (path, name) in added where path.hasSuffix(StoreLayout.recordExtension) {
      guard let record = contents[name] else { continue }
      let secretPath =
        path.dropLast(StoreLayout.recordExtension.utf8.count) + StoreLayout.secretExtension
      // If the remote has only signed the copy again, its encrypted file is not a change.
      let secret = added[String(secretPath)].flatMap { contents[$0] } ?? known[String(secretPath)]
      let fault: RecordProblem? = try judge.fault(ofCopy: record, secret, at: path)
      if let fault {
        result.refused.append(RefusedChange(path: path, reason: .record(fault)))
        if let secret { doubtful.append((path, record, secret)) }
      } else if let secret, let file = try? RecordFile(parsing: record) {
        // A record without a fault can be parsed.
        result.store[path] = .bytes(record)
        result.store[String(secretPath)] = .bytes(secret)
        result.newCopies.append(file.record)
      }
    }
    try resign(doubtful, into: &result)
    // The remote has moved these items to conflict copies.
    let ids = Set(result.newCopies.map(\.id))
    result.deletions.removeAll { ids.contains($0.record.id) }
  }

  /// Removes the files of conflict copies that the remote has resolved. A copy of which the remote still has one file
  /// was not resolved, and is kept: neither file is of use without the other, and an incomplete copy would prevent
  /// changes of people.
  private func removeConflictCopies(_ files: [String], from result: inout MergedFiles) throws {
    func place(_ file: String) -> String { "\(theirs.commit):\(prefix)\(file)" }
    func other(_ file: String) -> String {
      let (own, other) =
        file.hasSuffix(StoreLayout.recordExtension)
        ? (StoreLayout.recordExtension, StoreLayout.secretExtension)
        : (StoreLayout.secretExtension, StoreLayout.recordExtension)
      return file.dropLast(own.utf8.count) + other
    }
    let present = try objects.names(of: files.map { place(other($0)) })
    for file in files.sorted() {
      if present[place(other(file))] != nil {
        result.refused.append(RefusedChange(path: file, reason: .record(.damage(.missing))))
        continue
      }
      result.store[file] = .removed
      if file.hasSuffix(StoreLayout.recordExtension) { result.removedCopies += 1 }
    }
  }

  /// Returns the encrypted files that this side has of conflict copies whose records the remote has changed.
  private func knownMessages(of added: [String: String]) throws -> [String: [UInt8]] {
    var places: [String: String] = [:]
    for path in added.keys where path.hasSuffix(StoreLayout.recordExtension) {
      let message = path.dropLast(StoreLayout.recordExtension.utf8.count) + StoreLayout.secretExtension
      if added[String(message)] == nil { places["\(ours.commit):\(prefix)\(message)"] = String(message) }
    }
    let contents = try objects.contents(of: Set(places.keys), limit: StoreFiles.sizeLimit)
    return Dictionary(
      uniqueKeysWithValues: contents.compactMap { name, bytes in places[name].map { ($0, bytes) } })
  }

  /// Keeps conflict copies of the remote whose signatures only the earlier policy accepts, as it keeps such items.
  func resign(
    _ copies: [(path: String, record: [UInt8], secret: [UInt8])], into result: inout MergedFiles
  ) throws {
    let removed = try RemovedSigners(
      keyring, judge: judge, isNeeded: !copies.isEmpty, at: theirs.commit, in: repository)
    let signed = try removed.resigned(copies)
    for copy in copies {
      guard let (version, record) = signed[copy.path] else { continue }
      let name = copy.path.dropLast(StoreLayout.recordExtension.utf8.count)
      result.store[copy.path] = .bytes(record)
      result.store["\(name)\(StoreLayout.secretExtension)"] = .bytes(copy.secret)
      result.refused.removeAll { $0.path == copy.path }
      result.newCopies.append(version.record)
      result.countRenewal(of: version.record, signedBy: version.signer, judge)
    }
  }
}
