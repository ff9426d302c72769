package import Keyring
package import KeyringModel

/// A check of the changes that a push would make to the branches of a repository, before any branch is updated.
///
/// The commits of existing branches were checked when they were pushed, and are accepted. Tags and other references are
/// not checked, so their commits are new until a branch contains them.
package struct PushVerification {
  /// The result for one branch.
  package struct Branch: Sendable {
    /// The full name of the branch.
    package let name: String
    /// The findings and counts.
    package var result: Verification
  }

  private let repository: Repository
  private let anchors: [Fingerprint]
  private let room: VerificationWorkspace
  private let heads: [String]
  /// The policies of existing branches and of new ones in this push.
  private var known: [PolicyHistory] = []
  private var isKnownRead = false

  /// Creates a check of a push.
  ///
  /// - Parameters:
  ///   - repository: The repository that receives the push, with access to the quarantined objects.
  ///   - anchors: The people of whom one must have signed the first policy, if there is no branch yet.
  ///   - room: The environment for GnuPG and for extracted files.
  /// - Throws: `objectsNotChecked`; the errors of `Git.run`.
  package init(
    in repository: Repository, anchors: [Fingerprint], room: VerificationWorkspace
  ) throws {
    (self.repository, self.anchors, self.room) = (repository, anchors, room)
    // A tree with a duplicate name would pass all other checks here, and no clone could fetch it any more.
    guard try repository.checksReceivedObjects() else {
      throw GitError.objectsNotChecked(path: repository.gitFolder)
    }
    let output = try repository.git.run(
      ["for-each-ref", "--format=%(objectname)", "refs/heads/"], limit: 1 << 26)
    heads = Set(output.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) })
      .sorted()
  }

  /// Checks one reference.
  ///
  /// - Parameters:
  ///   - reference: The reference as git reports it to the hook.
  ///   - progress: Called with the number of checked items and the total number.
  /// - Returns: Nil if the reference is not a branch.
  /// - Throws: The errors of `Git.run`, and `KeyringError` if GnuPG cannot be used.
  package mutating func look(
    at reference: PushedReference, progress: @escaping (Int, Int) -> Void = { _, _ in }
  ) throws -> Branch? {
    guard reference.isBranch else { return nil }
    guard let new = reference.new else {
      return Branch(name: reference.name, result: Verification([Finding(reference.name, .branch(.deleted))]))
    }
    if let old = reference.old, try !repository.git.isAncestor(old, of: new) {
      let loss = Finding(reference.name, .branch(.rewritten(from: old)), commit: new)
      return Branch(name: reference.name, result: Verification([loss]))
    }
    var start = PolicyHistory.Start()
    (start.anchors, start.trusted) = (anchors, heads)
    let history = try PolicyHistory(to: new, then: nil, from: start, in: repository, room: room)
    var result = try Verification(
      of: new, after: history, in: repository, room: room, progress: progress)
    let incoming = try TopologicalCommits(to: new, without: heads, in: repository.git).commits.map(\.name)
    // The last policy counts for all commits, so that a file and a later policy that allows it can be pushed together.
    let lastPolicy = result.isDistrusted ? nil : history.last?.policy
    let strays = try IncomingUnexpectedFiles(of: incoming, in: repository) { commit in
      AllowedFiles(beside: [history.policy(of: commit), lastPolicy].compactMap { $0 })
    }.findings
    let told = Set(result.findings.map(\.path))
    result.findings += strays.filter { !told.contains($0.path) }
    let others = try repository.otherStores(in: new, since: reference.old)
    result.findings += others.map { folder in
      Finding(
        folder.isEmpty ? StoreLayout.policy : "\(folder)/\(StoreLayout.policy)", .stray(.store), commit: new)
    }
    if let last = history.last {
      if history.firstSigner != nil, try !isConnected(history) {
        let problem = problem(of: last)
        result.findings.insert(Finding(StoreLayout.policy, .chain(problem), commit: new), at: 0)
      }
      if !result.isDistrusted { known.append(history) }
    } else if !result.isDistrusted {
      result.findings.insert(Finding(StoreLayout.policy, .chain(.missing), commit: new), at: 0)
    }
    return Branch(name: reference.name, result: result)
  }

  // MARK: Branches without a common ancestor

  private mutating func readKnown() throws {
    if isKnownRead { return }
    isKnownRead = true
    for head in heads {
      var start = PolicyHistory.Start()
      start.trusted = [head]
      known.append(try PolicyHistory(to: head, then: nil, from: start, in: repository, room: room))
    }
    known.removeAll { $0.last == nil }
  }

  private mutating func isConnected(_ history: PolicyHistory) throws -> Bool {
    try readKnown()
    return known.isEmpty || known.contains { history.isConnected(to: $0) }
  }

  private func problem(of state: PolicyState) -> ChainProblem {
    let isOfKeyring = known.contains { $0.last?.policy.keyring == state.policy.keyring }
    return isOfKeyring ? .forked(generation: state.policy.generation) : .foreign
  }

}
