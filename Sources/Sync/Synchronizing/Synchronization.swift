internal import Encoding
package import Keyring
internal import KeyringModel

/// Synchronizes a store with a remote branch: commit, fetch, merge, push.
///
/// With a keyring whose policy this machine has not accepted, it only receives: the files become those of the remote,
/// as in a new clone. Nothing is trusted because of that; the user accepts or rejects the policy afterwards.
package struct Synchronization {
  /// The options of a synchronization.
  package struct Options: Sendable {
    /// True if nothing is pushed.
    package var pullsOnly = false
    /// True if a remote branch is merged even if it has lost commits.
    package var acceptsRewritten = false
    /// The policy that is used if both sides have changed it.
    package var policy = PolicyChoice.none
    /// True if git and ssh may ask the user at the terminal.
    package var asksPerson = false
    /// The number of attempts if other clones push at the same time.
    package var attempts = 10
    package init() {}
  }

  /// The policy that a merge uses if both sides have changed it.
  package enum PolicyChoice: Sendable, Equatable {
    /// None: nothing is merged.
    case none
    /// That of the remote with this digest, so that the local changes can be applied again. It must be one on which
    /// they can be.
    case theirs(ContentDigest)
    /// That of this clone. The digests are those of ``policies(droppedWith:_:)``; other policies are not dropped.
    case ours(dropping: Set<ContentDigest>)
  }

  private let repository: Repository
  private let keyring: Keyring
  private let tree: FileTree
  private let timeout: Double
  private let options: Options
  private let author: @Sendable () -> String?

  /// Creates a synchronization.
  ///
  /// - Parameters:
  ///   - keyring: The store.
  ///   - tree: The folder of the store.
  ///   - repository: The repository of the store.
  ///   - timeout: The time to wait for other writers, in seconds.
  ///   - author: Returns the committer's user id, which is used if git has no name configured; nil for none.
  package init(
    _ keyring: Keyring, tree: FileTree, repository: Repository, timeout: Double, options: Options,
    author: @escaping @Sendable () -> String?
  ) {
    (self.keyring, self.tree, self.repository) = (keyring, tree, repository)
    (self.timeout, self.options, self.author) = (timeout, options, author)
  }

  /// Runs the synchronization.
  ///
  /// - Returns: A report. The store and the remote branch are then synchronized, unless the report says that another
  ///   run is needed because the merge brought a new policy.
  /// - Throws: `KeyringError` with `busy` if another process synchronizes; `noRemote`; `anotherStore`; `rewritten` if
  ///   the remote has lost commits; `tooBusy` if others pushed first in every attempt; `foreignPolicy`;
  ///   `policiesDiverged`; `untrustedPolicy`; `cannotReapply`; `KeyringError.team` with `unreadableKey` if GnuPG cannot read
  ///   the key of a person, so that nothing can be merged or sent; and the errors of merging, git and the store. Steps that
  ///   were completed before an error are not reverted.
  package func run() throws -> Report {
    try GitTurn.take(.synchronization, in: repository, tree, timeout: timeout) {
      try runAlone()
    }
  }

  private func runAlone() throws -> Report {
    var report = Report()
    guard var remote = try Remote.find(in: repository) else {
      throw SyncError.noRemote(
        branch: try repository.branch() ?? "", among: try Remote.names(in: repository.git))
    }
    // Paths in the repository are compared with that of the store.
    guard repository.prefix.isUnambiguousName else { throw SyncError.unsafePath(repository.prefix) }
    try repository.refuseNestedRepositories(below: repository.prefix)
    try repository.refuseOtherStores()
    let network = try repository.git.forNetwork(asksPerson: options.asksPerson)
    for _ in 0..<options.attempts {
      // A store whose policy was not accepted gets no commits of its own.
      if keyring.isAccepted { try commitPending() }
      let known = try lastSeen(of: remote)
      var theirs = try remote.fetch(network)
      if theirs == nil,
        let (renamed, tip) = try remote.renamed(
          after: known, acceptsRewritten: options.acceptsRewritten, repository.git, network)
      {
        (remote, theirs, report.renamedBranch) = (renamed, tip, renamed.remoteBranch)
      }
      if let theirs { try remote.refuseLargeCommits(in: theirs, repository.git) }
      if !options.acceptsRewritten { try checkHistory(known, theirs) }
      if let theirs, let tracking = remote.tracking {
        try repository.git.run(["update-ref", tracking, theirs])
      }
      if let theirs {
        let ours = try repository.git.commit("refs/heads/\(remote.branch)")
        try repository.refuseOtherStores(in: theirs, since: ours)
        guard try merge(theirs, into: remote.branch, &report) else { continue }
      }
      let tip = try repository.git.commit("refs/heads/\(remote.branch)")
      guard let tip else { throw SyncError.noCommit }
      // The keyring has the policy from before the merge. It must not judge what another attempt receives, and nothing
      // is sent until the user or the chain of policies has accepted the new one.
      report.isUnsent =
        tip != theirs && !(options.pullsOnly || keyring.distrust != nil) && report.hasNewPolicy
      if tip != theirs, isRemoved, !report.isUnsent { report.withheld = try count(from: theirs, to: tip) }
      if tip != theirs, !isReceiving, !report.isUnsent {
        // A merge of plain git may be among the commits.
        try keyring.requireReadableKeys()
        try refuseStrays(from: theirs, to: tip)
        let count = try count(from: theirs, to: tip)
        guard try remote.push(tip, network) else { continue }
        report.sent = count
      }
      if let last = isReceiving || report.isUnsent ? theirs : tip {
        try repository.git.run(["update-ref", remote.seen, last])
      }
      return report
    }
    throw SyncError.tooBusy(attempts: options.attempts)
  }

  /// Returns the number of commits that the remote does not have.
  private func count(from theirs: String?, to tip: String) throws -> Int {
    if let theirs { return try repository.git.count(from: theirs, to: tip) }
    return try repository.git.countAll(tip)
  }

  /// True if nothing is pushed. What was merged under a policy that the user has not accepted is not sent to others.
  private var isReceiving: Bool { options.pullsOnly || keyring.distrust != nil || isRemoved }

  /// True if the user was removed from the keyring.
  private var isRemoved: Bool {
    keyring.distrust == nil && !keyring.policy.isMember(keyring.ownFingerprint)
  }

  /// Throws an error if the push contains files that every other machine would refuse.
  private func refuseStrays(from theirs: String?, to tip: String) throws {
    let start: String
    if let theirs {
      start = theirs
    } else {
      start = try repository.hash().emptyTree
    }
    var changes = try TreeDifference(from: start, to: tip, in: repository.git)
    let strays =
      try changes.refuse(
        outside: AllowedFiles(beside: keyring.policy), below: repository.prefix, isIncoming: false)
      + changes.refuseLarge(below: repository.prefix, ObjectReader(git: repository.git))
    guard strays.isEmpty else { throw SyncError.notAllowed(strays.sorted { $0.path < $1.path }) }
  }

  private func commitPending() throws {
    let committer = Committer(repository: repository, tree: tree, timeout: timeout, author: author)
    _ = try committer.commitPending()
  }

  /// Returns the last known commits of the remote branch: that of the last synchronization, and git's remote-tracking
  /// reference.
  private func lastSeen(of remote: Remote) throws -> [String] {
    try [remote.seen, remote.tracking].compactMap { name in try name.flatMap(repository.git.commit) }
  }

  /// A person who can push can also rewrite the history and restore an old policy or an old secret (threat T2).
  private func checkHistory(_ known: [String], _ theirs: String?) throws {
    for seen in known {
      guard let theirs else { throw SyncError.rewritten(seen: seen, now: nil) }
      let isKept = try repository.git.isAncestor(seen, of: theirs)
      guard isKept else { throw SyncError.rewritten(seen: seen, now: theirs) }
    }
  }

  /// Merges a commit.
  ///
  /// - Returns: False if the store was changed concurrently, so that all steps have to be repeated.
  private func merge(
    _ theirs: String, into branch: String, _ report: inout Report
  ) throws -> Bool {
    try GitTurn.take(.commits, in: repository, tree, timeout: timeout) {
      try mergeAlone(theirs, into: branch, &report)
    }
  }

  private func mergeAlone(
    _ theirs: String, into branch: String, _ report: inout Report
  ) throws -> Bool {
    let journal = CommitJournal(of: tree)
    try repository.requireQuiet()
    guard let head = try repository.git.commit("refs/heads/\(branch)") else { throw SyncError.noCommit }
    if try repository.git.isAncestor(theirs, of: head) { return true }
    guard let marker = try marker(of: journal) else { return false }
    let bases = try repository.git.mergeBases(head, theirs)
    let files = try mergedFiles(head, theirs, bases, marker)
    try checkPolicy(files)
    // If changes were refused, a merge commit is created, which reverts them for all users.
    let isFastForward = bases == [head] && files.equalsTheirs
    let count = try repository.git.count(from: head, to: theirs)
    let commit = MergeCommit(
      repository: repository, keyring: keyring, journal: journal, author: author,
      branch: "refs/heads/\(branch)", ours: head, theirs: theirs)
    guard
      try commit.make(
        files, after: marker, subject: "merge \(count == 1 ? "1 change" : "\(count) changes")",
        isFastForward: isFastForward, timeout: timeout)
    else { return false }
    report.received += count
    report.hasMerged = report.hasMerged || !isFastForward
    report.copies += files.newCopies
    report.removedCopies += files.removedCopies
    report.signed += files.signed
    report.signedAgain += files.signedAgain
    report.signedAgainForKeys += files.signedAgainForKeys
    report.refused += files.refused
    report.foreignFiles += files.foreignFiles
    report.deletions += files.deletions
    report.abandoned += files.abandoned
    report.olderVersions += files.olderVersions
    report.hasNewPolicy = report.hasNewPolicy || files.store.keys.contains(where: Self.isAboutPeople)
    return true
  }

  /// Returns the state of the journal into which a merge is made; nil if changes have to be committed first.
  ///
  /// Before the policy was accepted, pending changes stay pending. The merge never replaces a file that differs from the
  /// last commit, and the first commit after the acceptance compares the whole store with its history.
  private func marker(of journal: CommitJournal) throws -> CommitJournal.Marker? {
    if try journal.isSettled(for: repository.identity) { return try journal.readMarker() }
    if keyring.isAccepted { return nil }
    let hash = try repository.hash()
    return try journal.withLock(timeout: timeout) { pending in
      CommitJournal.Marker(count: pending.count, repository: repository.identity, hash: hash, isTrying: true)
    }
  }

  /// Returns the result of the merge of two commits.
  ///
  /// - Throws: `KeyringError` with `policyNotTrusted` if no policy was accepted and the local branch has commits of its
  ///   own; the errors of `TreeMerge`.
  private func mergedFiles(
    _ head: String, _ theirs: String, _ bases: [String], _ marker: CommitJournal.Marker
  ) throws -> MergedFiles {
    guard keyring.isAccepted else {
      // Which of two versions is used depends on who may sign it, which the accepted policy decides.
      guard bases == [head] else { throw KeyringError.policyNotTrusted(.notPinned) }
      return try UnacceptedFiles(from: head, to: theirs, in: repository).files()
    }
    func merge(
      _ judge: Keyring, policyOf side: MergeSide? = nil, refusing old: Int? = nil,
      replacingBy newest: PolicyStep? = nil
    ) throws -> MergedFiles {
      try judge.requireReadableKeys()
      var merge = try TreeMerge(
        bases: bases.isEmpty ? [marker.hash.emptyTree] : bases, ours: head, theirs: theirs, in: repository,
        keyring: keyring, judge: judge)
      merge.policySide = side
      merge.newestPolicy = newest
      merge.refusedPolicy = old.map {
        RefusedChange(
          path: StoreLayout.policy,
          reason: .restored(generation: $0, newer: judge.policy.generation))
      }
      return try merge.files()
    }
    let change = try policyChange(in: theirs, since: bases)
    if change == nil, options.policy == .none { return try merge(keyring) }
    let policies = PolicyHistoryReader(in: repository)
    let step = try policies.step(at: theirs)
    let past = try policies.steps(branch: theirs)
    let policy = step.flatMap { try? Policy.parse($0.bytes) }
    if let step {
      switch options.policy {
      case .ours(let dropped):
        let newest = try keyring.newestSigned(upTo: step, past: past)
        if let problem = past.problem { throw problem }
        guard Self.policies(droppedWith: step, newest) == dropped else { break }
        // The remote's items count as if this clone had received them before it changed the policy.
        return try merge(keyring, policyOf: .ours)
      case .theirs(let digest):
        let rebase = try Self.rebase(keyring, onto: step, past: past)
        guard rebase.step.digest == digest else { break }
        if digest == step.digest { return try merge(rebase.judge, policyOf: .theirs) }
        return try merge(
          rebase.judge, policyOf: .ours, refusing: policy?.generation, replacingBy: rebase.step)
      // The choice was made for another policy of the remote.
      case .none: break
      }
    }
    guard let change else { return try merge(keyring) }
    // The merge refuses a policy that was removed or made unreadable.
    guard try policy.map({ $0.keyring == keyring.policy.keyring }) ?? hasPolicy(bases) else {
      throw SyncError.foreignPolicy
    }
    let newest: (judge: Keyring, step: PolicyStep?)
    let isNewest: Bool
    do {
      newest = try keyring.newest(in: past)
      if let problem = past.problem { throw problem }
      isNewest = step.map { $0.digest == ContentDigest(of: newest.judge.policy.encode()) } ?? false
      if let step, !isNewest { try requireSuccessor(step, head: head, since: bases, past) }
    } catch KeyringError.policyNotTrusted(let reason) {
      throw SyncError.untrustedPolicy(reason, commit: change)
    }
    guard let old = policy?.generation, !isNewest else {
      return try merge(
        newest.judge, policyOf: newest.step == nil || isNewest ? nil : .ours,
        replacingBy: isNewest ? nil : newest.step)
    }
    // It was replaced before, so that is taken back for everyone.
    return try merge(newest.judge, policyOf: .ours, refusing: old, replacingBy: newest.step)
  }

  /// Returns the last commit after others that has changed the policy or its signature; nil if none has. The policy may be
  /// the same as before.
  private func policyChange(in commit: String, since bases: [String]) throws -> String? {
    let paths = [StoreLayout.policy, StoreLayout.policySignature].map { repository.prefix + $0 }
    let output = try repository.git.run(
      ["rev-list", "--full-history", "--max-count=1", commit] + bases.map { "^\($0)" } + ["--"] + paths)
    return String(decoding: output, as: UTF8.self).split(separator: "\n").first.map(String.init)
  }

  private func hasPolicy(_ commits: [String]) throws -> Bool {
    let places = commits.map { "\($0):\(repository.prefix)\(StoreLayout.policy)" }
    return try !ObjectReader(git: repository.git).names(of: places).isEmpty
  }

  /// Checks that the policy of a commit follows the accepted one, or was replaced before.
  ///
  /// - Throws: `KeyringError.policyNotTrusted` in all other cases; `policiesDiverged` if both sides have changed it.
  private func requireSuccessor(
    _ step: PolicyStep, head: String, since bases: [String], _ past: HistoricalPolicies
  ) throws {
    do {
      _ = try keyring.judge(of: step, past: past)
      if let problem = past.problem { throw problem }
    } catch KeyringError.policyNotTrusted(let reason) {
      if let problem = past.problem { throw problem }
      if try policyChange(in: head, since: bases) != nil { throw SyncError.policiesDiverged }
      guard keyring.hasReplaced(step, in: past) else { throw KeyringError.policyNotTrusted(reason) }
    }
  }

  /// Throws an error if the merge would turn this store into another one, or remove files that are needed to read it.
  private func checkPolicy(_ files: MergedFiles) throws {
    switch files.store[StoreLayout.policy] {
    case nil: break
    case .removed: throw SyncError.foreignPolicy
    case .bytes(let bytes):
      // The reason why it cannot be read does not matter, because it is not the policy of this keyring.
      guard let theirs = try? Policy.parse(bytes), theirs.keyring == keyring.policy.keyring else {
        throw SyncError.foreignPolicy
      }
    }
  }

  /// Returns true if a file determines the people who can read the store.
  private static func isAboutPeople(_ path: String) -> Bool {
    [StoreLayout.policy, StoreLayout.policySignature].contains(path) || path.hasPrefix("\(StoreLayout.keys)/")
  }

}

extension Git {
  /// Returns the number of ancestors of a commit, including the commit itself.
  fileprivate func countAll(_ commit: String) throws -> Int {
    let text = String(decoding: try run(["rev-list", "--count", commit, "--"]), as: UTF8.self)
    return Int(text.split(separator: "\n").first ?? "") ?? 0
  }
}
