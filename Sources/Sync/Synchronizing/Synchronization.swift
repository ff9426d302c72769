package import Keyring
package import KeyringModel

/// Brings a store and a branch of another repository together: commit, fetch, merge, push.
package struct Synchronization {
  /// The options of a synchronization.
  package struct Options: Sendable {
    /// A Boolean value that indicates whether nothing is pushed.
    package var pullsOnly = false
    /// A Boolean value that indicates whether a remote branch is merged although it has lost commits.
    package var acceptsRewritten = false
    /// A Boolean value that indicates whether the remote's policy is used if both sides have changed it, so
    /// that the changes of this side can be applied again.
    package var takesTheirPolicy = false
    /// A Boolean value that indicates whether git and ssh may ask at the terminal.
    package var asksPerson = false
    /// The number of attempts if other clones push at the same time.
    package var attempts = 10
    package init() {}
  }

  /// The result of a synchronization.
  package struct Report: Sendable, Equatable {
    /// The number of commits that were fetched and merged.
    package var received = 0
    /// The number of commits that were pushed.
    package var sent = 0
    /// A Boolean value that indicates whether a merge commit was made.
    package var hasMerged = false
    /// The number of conflict copies that the merge has made.
    package var newCopies = 0
    /// The number of conflict copies that others have removed, as `resolve` does.
    package var removedCopies = 0
    /// The number of items that were re-encrypted for the members of their groups.
    package var resealed = 0
    /// The number of records that both sides had changed and that were merged and signed.
    package var signed = 0
    /// Changes that were not taken, since nobody has signed them who is in the item's group.
    package var refused: [RefusedChange] = []
    /// Items that somebody else has deleted.
    package var deletions: [IncomingDeletion] = []
    /// Items of which an older version came in, which is kept as a conflict copy.
    package var olderVersions: [ItemRecord] = []
    /// A Boolean value that indicates whether a new policy came in.
    package var hasNewPolicy = false
    package init() {}

    /// Adds what another run has done.
    package mutating func add(_ other: Report) {
      received += other.received
      sent += other.sent
      hasMerged = hasMerged || other.hasMerged
      newCopies += other.newCopies
      removedCopies += other.removedCopies
      resealed += other.resealed
      signed += other.signed
      refused += other.refused
      deletions += other.deletions
      olderVersions += other.olderVersions
      hasNewPolicy = hasNewPolicy || other.hasNewPolicy
    }
  }

  private let repository: Repository
  private let keyring: Keyring
  private let tree: FileTree
  private let timeout: Double
  private let options: Options
  private let author: @Sendable () -> String?

  /// Prepares a synchronization.
  ///
  /// - Parameters:
  ///   - keyring: The store.
  ///   - tree: Its folder.
  ///   - repository: Its repository.
  ///   - timeout: How long to wait for other writers, in seconds.
  ///   - author: Who makes the commits, for where git knows no name.
  package init(
    _ keyring: Keyring, tree: FileTree, repository: Repository, timeout: Double, options: Options,
    author: @escaping @Sendable () -> String?
  ) {
    (self.keyring, self.tree, self.repository) = (keyring, tree, repository)
    (self.timeout, self.options, self.author) = (timeout, options, author)
  }

  /// Does it.
  ///
  /// - Returns: What was done; nothing more is to be done then.
  /// - Throws: `KeyringError` with `busy` if another process synchronizes; `noRemote`; `anotherStore`; `rewritten`
  ///   if the remote
  ///   has lost commits; `tooBusy` if others were faster in every attempt; `foreignPolicy`; `policiesDiverged`; and
  ///   what merging,
  ///   git and the store can throw. What was done before an error stays done.
  package func run() throws -> Report {
    try GitTurn.take(.synchronization, in: repository, tree, timeout: timeout) {
      try runAlone()
    }
  }

  private func runAlone() throws -> Report {
    var report = Report()
    let remote = try Remote.find(in: repository)
    guard let remote else {
      throw SyncError.noRemote(among: try Remote.names(in: repository.git))
    }
    try repository.refuseNestedRepositories(below: repository.prefix)
    try repository.refuseOtherStores()
    let network = try repository.git.forNetwork(asksPerson: options.asksPerson)
    for _ in 0..<options.attempts {
      try commitPending()
      let known = try lastSeen(of: remote)
      let theirs = try remote.fetch(network)
      try checkHistory(known, theirs)
      if let theirs {
        _ = try repository.git.run(["update-ref", remote.tracking, theirs])
      }
      if let theirs {
        let ours = try repository.git.commit("refs/heads/\(remote.branch)")
        try repository.refuseOtherStores(in: theirs, since: ours)
        guard try merge(theirs, into: remote.branch, &report) else { continue }
      }
      let tip = try repository.git.commit("refs/heads/\(remote.branch)")
      guard let tip else { throw SyncError.noCommit }
      if tip != theirs, !options.pullsOnly {
        try refuseStrays(from: theirs, to: tip)
        let count =
          if let theirs { try repository.git.count(from: theirs, to: tip) } else {
            try repository.git.countAll(tip)
          }
        guard try remote.push(tip, network) else { continue }
        report.sent = count
      }
      if let last = options.pullsOnly ? theirs : tip {
        try repository.git.run(["update-ref", remote.seen, last])
      }
      return report
    }
    throw SyncError.tooBusy(attempts: options.attempts)
  }

  /// Refuses to send what every other machine would refuse.
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

  /// The last commits that are known to have been over there: since the last synchronization, and for git itself.
  private func lastSeen(of remote: Remote) throws -> [String] {
    if options.acceptsRewritten { return [] }
    var known: [String] = []
    for name in [remote.seen, remote.tracking] {
      if let commit = try repository.git.commit(name) { known.append(commit) }
    }
    return known
  }

  /// Whoever can push can also take back what was there: an old policy, an old secret (threat T2).
  private func checkHistory(_ known: [String], _ theirs: String?) throws {
    for seen in known {
      guard let theirs else { throw SyncError.rewritten(seen: seen, now: nil) }
      let isKept = try repository.git.isAncestor(seen, of: theirs)
      guard isKept else { throw SyncError.rewritten(seen: seen, now: theirs) }
    }
  }

  /// Merges a commit.
  ///
  /// - Returns: False when the store has changed meanwhile, so that all is to be done again.
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
    let settled = try journal.isSettled(for: repository.identity) ? try journal.readMarker() : nil
    guard let marker = settled else { return false }
    let bases = try repository.git.mergeBases(head, theirs)
    let judge = try judge(of: theirs, since: bases.first)
    var merge = try TreeMerge(
      bases: bases.isEmpty ? [marker.hash.emptyTree] : bases, ours: head, theirs: theirs, in: repository,
      keyring: keyring, judge: judge)
    merge.takesTheirPolicy = options.takesTheirPolicy
    let files = try merge.files()
    try checkPolicy(files)
    // What is refused makes a commit of our own, which takes it back for everybody.
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
    report.newCopies += files.newCopies
    report.removedCopies += files.removedCopies
    report.signed += files.signed
    report.refused += files.refused
    report.deletions += files.deletions
    report.olderVersions += files.olderVersions
    report.hasNewPolicy = report.hasNewPolicy || files.store.keys.contains(where: Self.isAboutPeople)
    return true
  }

  /// The keyring by whose policy the items of a commit are judged: with its policy, where that follows the accepted
  /// one.
  private func judge(of commit: String, since base: String?) throws -> Keyring {
    var hadPolicy = false
    if let base {
      let places = [base, commit].map { "\($0):\(repository.prefix)\(StoreLayout.policy)" }
      let names = try ObjectReader(git: repository.git).names(of: places)
      // A policy that they have not changed gives way to ours.
      if let name = names[places[0]], name == names[places[1]] { return keyring }
      hadPolicy = names[places[0]] != nil
    }
    let policies = PolicyHistoryReader(in: repository)
    guard let step = try policies.step(at: commit) else {
      // They have removed it or made it unreadable, which the merge refuses.
      if hadPolicy { return keyring }
      throw SyncError.foreignPolicy
    }
    guard let policy = try? Policy.parse(step.bytes), policy.keyring == keyring.policy.keyring else {
      throw SyncError.foreignPolicy
    }
    var problem: (any Error)?
    let judge: Keyring = try keyring.judge(of: step) {
      do {
        return try policies.steps()
      } catch {
        problem = error
        return HistoricalPolicies([])
      }
    }
    if let problem { throw problem }
    return judge
  }

  /// Refuses a policy of another store. Any other policy or key file comes in, and then nothing can be written before
  /// it is accepted.
  private func checkPolicy(_ files: MergedFiles) throws {
    switch files.store[StoreLayout.policy] {
    case nil: break
    case .removed: throw SyncError.foreignPolicy
    case .bytes(let bytes):
      // The reason why it cannot be read does not matter: it is not the policy of this keyring.
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
  /// Returns the number of commits that lead to a commit, including that commit.
  fileprivate func countAll(_ commit: String) throws -> Int {
    let text = String(decoding: try run(["rev-list", "--count", commit, "--"]), as: UTF8.self)
    return Int(text.split(separator: "\n").first ?? "") ?? 0
  }
}
