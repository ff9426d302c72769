package import Keyring
package import KeyringModel

/// The policies of a history, each held against those before it.
///
/// What holds for every commit: its policy is that of one of the commits it follows, or the next one of such a policy,
/// signed by an admin of that one. The policies of all others that it follows lie before it, so that on no way through
/// the history the policy goes back or changes without a signature (threats T1 and T2). One exception: of two that
/// admins have made at the same time a merge leaves one behind. That one must not have been in force: in a push, on no
/// branch that is there; in a history as a whole, not newer than the last policy. Nor may it have taken the right to
/// sign from anybody who has signed what is preferred to it.
package struct PolicyHistory {
  /// The point where the check of a history begins.
  package struct Start: Sendable {
    /// The first policy of the history has to be signed by one of these; nobody in particular when it is empty.
    package var anchors: [Fingerprint] = []
    /// Commits whose ancestors were checked before.
    package var trusted: [String] = []
    /// Returns the policy of a keyring that this machine has accepted; nil if there is none.
    package var accepted: @Sendable (KeyringID) throws -> AcceptedPolicy? = {
      (_) in nil
    }
    package init() {}
  }

  /// The findings, the oldest first.
  package private(set) var findings: [Finding] = []
  /// The signer of the first policy, if that was checked and is valid.
  package private(set) var firstSigner: Fingerprint?
  /// The number of policies in the chain that leads to the last one.
  package private(set) var count = 0
  /// A Boolean value that indicates whether the beginning of the history is missing.
  package private(set) var isCutOff = false
  /// A Boolean value that indicates whether the policy that this machine has accepted is on the chain.
  package private(set) var isPinned = false
  /// Policies that were made at the same time as another one, which a merge has taken; the commits of the merges.
  package private(set) var leftBehind: [Finding] = []
  /// The last policy; nil when there is none, or it cannot be read.
  package private(set) var last: PolicyState?

  private var versions: PolicyVersions
  private let rule: PolicyRule
  private let start: Start
  private let shallow: Set<String>

  /// The policy of a commit after it was checked.
  private struct Place {
    let commit: String
    let version: PolicyVersions.Version
    let state: PolicyState
  }

  /// The places by commit, of those that have a policy that can be read.
  private var places: [String: Place] = [:]
  /// The policies of commits that stand.
  private var published: Set<ContentDigest> = []
  /// The policies that were checked and are believed, by their digests.
  private var links: [ContentDigest: PolicyChain.Link] = [:]
  /// The beginnings that are not first policies, and wait for an anchor.
  private var late: [Finding] = []

  /// Judges a history.
  ///
  /// - Parameters:
  ///   - tip: Its last commit; nil where there is no commit yet.
  ///   - folder: The store's folder, whose policy counts as one commit more; nil where commits alone count.
  ///   - start: Where it may begin.
  ///   - repository: Where it is; nil for a store without git.
  ///   - room: Where signatures are verified.
  /// - Throws: as `Git.run`, and `KeyringError` when GnuPG or the folder cannot be used.
  package init(
    to tip: String?, then folder: FileTree?, from start: Start, in repository: Repository?,
    room: VerificationWorkspace
  ) throws {
    rule = PolicyRule(in: room)
    self.start = start
    shallow = repository?.shallowCommits ?? []
    versions = PolicyVersions(in: repository)
    if let repository, let tip { try walk(to: tip, in: repository.git) }
    if let tip { last = readablePlace(tip)?.state }
    if let folder { try judge(folder, after: tip, hasGit: repository != nil) }
    if let last { try finish(last) }
  }

  /// The policy of a commit that was judged, or that stands.
  ///
  /// - Returns: nil if the commit has none that can be read.
  package func policy(of commit: String) -> Policy? { places[commit]?.state.policy }

  // MARK: Commits

  private mutating func walk(to tip: String, in git: Git) throws {
    let list: TopologicalCommits
    let old: [TopologicalCommits.Commit]
    list = try TopologicalCommits(to: tip, without: start.trusted, in: git)
    // What lies before is not judged; it only has to be known which policy comes before which.
    old = start.trusted.isEmpty ? [] : try TopologicalCommits(to: tip, in: git).commits
    try versions.read(Set(list.commits.map(\.name) + list.border + old.map(\.name) + [tip]).sorted())
    let given = list.border + (list.commits.isEmpty ? [tip] : [])
    for commit in given {
      places[commit] = readablePlace(commit)
      if let place = places[commit] { published.insert(place.state.digest) }
    }
    for commit in list.commits { try judge(commit) }
  }

  private func readablePlace(_ commit: String) -> Place? {
    guard let version = versions.version(at: commit), case .success(let state) = versions.state(version)
    else {
      return nil
    }
    return Place(commit: commit, version: version, state: state)
  }

  private mutating func judge(_ commit: TopologicalCommits.Commit) throws {
    let before = commit.parents.compactMap { places[$0] }
    guard let version = versions.version(at: commit.name) else {
      guard let newest = Self.newest(before) else { return }
      note(.missing, at: commit.name)
      // What comes later is held against what was there last.
      places[commit.name] = newest
      return
    }
    switch versions.state(version) {
    case .success(let state):
      let place = Place(commit: commit.name, version: version, state: state)
      try judge(place, after: before)
      places[commit.name] = place
    case .failure(let error):
      if !before.contains(where: { $0.version == version }) { note(.unreadable(error), at: commit.name) }
      places[commit.name] = Self.newest(before)
    case nil: throw GitError.unexpectedOutput(command: "cat-file")
    }
  }

  private mutating func judge(_ place: Place, after before: [Place]) throws {
    guard let newest = Self.newest(before, for: place.state) else {
      let keys = try versions.keyFiles(of: place.state.policy.people.keys, at: place.commit)
      try judgeFirst(place.state, keys, at: place.commit, isCutOff: shallow.contains(place.commit))
      return
    }
    if !before.contains(where: { $0.version == place.version }) {
      let people = Set(newest.state.policy.people.keys).union(place.state.policy.people.keys)
      let keys = try versions.keyFiles(of: people, at: place.commit)
      if let problem = try problem(of: place.state, keys, after: newest) {
        return note(problem, at: place.commit)
      }
    }
    if let problem = try problem(of: place.state, beside: before, at: place.commit) {
      note(problem, at: place.commit)
    }
  }

  /// Checks that every policy that meets in a commit is on the chain to the policy of the commit, or may be
  /// dropped. Returns the problem, if any.
  private mutating func problem(
    of state: PolicyState, beside before: [Place], at commit: String
  ) throws -> ChainProblem? {
    // Mostly a commit has the policy of the one before, or the next one. Following the whole chain for each commit
    // would
    // cost time that grows with their product.
    let others = before.filter { place in
      place.state.digest != state.digest && place.state.digest != state.policy.previous
    }
    if others.isEmpty { return nil }
    let chain = Set(versions.chain(to: state).map(\.digest))
    for place in others where !chain.contains(place.state.digest) {
      let other = place.state
      let left = versions.chain(to: other).prefix { !chain.contains($0.digest) }
      if left.contains(where: { $0.policy.previous == state.digest }) {
        return .older(generation: state.policy.generation, before: other.policy.generation)
      }
      if other.policy.keyring != state.policy.keyring { return .foreign }
      if left.contains(where: { published.contains($0.digest) }) {
        return .forked(generation: other.policy.generation)
      }
      if let problem = try takeover(by: state, of: place) { return problem }
      leftBehind.append(finding(.forked(generation: other.policy.generation), commit))
    }
    return nil
  }

  /// Checks that no policy that a merge prefers is signed by a user whom the dropped policy has removed or
  /// made a member. A policy on a branch of the server is older than the dropped one.
  private mutating func takeover(
    by state: PolicyState, of other: Place
  ) throws -> ChainProblem? {
    let left = try believed(other)
    let common = Set(versions.chain(to: other.state).map(\.digest))
    let preferred = versions.chain(to: state).prefix { !common.contains($0.digest) }
    for policy in preferred where !published.contains(policy.digest) {
      let before = policy.policy.previous.flatMap { links[$0]?.keys } ?? [:]
      if try rule.mayReplace(policy, keys: before, left: left) { continue }
      return .badMergeChoice(generation: policy.policy.generation)
    }
    return nil
  }

  /// The newest of some, or the one that another policy names.
  private static func newest(_ places: [Place], for next: PolicyState? = nil) -> Place? {
    func rank(_ place: Place) -> (Int, Int) {
      (place.state.digest == next?.policy.previous ? 1 : 0, place.state.policy.generation)
    }
    return places.max { rank($0) < rank($1) }
  }

  /// Checks a policy that replaces another one. Returns the problem, if any.
  private mutating func problem(
    of state: PolicyState, _ keys: KeyFiles, after before: Place
  ) throws -> ChainProblem? {
    var link = try believed(before)
    if state.digest == before.state.digest {
      // Signed anew. Whoever could sign it then can sign it now.
      guard let previous = state.policy.previous.flatMap({ links[$0] }) else {
        return try signer(of: state, keys, anchors: start.trusted.isEmpty ? start.anchors : []).problem
      }
      link = previous
    }
    switch try rule.follow(state, keys: keys, after: link) {
    case .success(let next):
      links[state.digest] = next
      return nil
    case .failure(let problem):
      if links[state.digest] == nil { links[state.digest] = PolicyRule.link(state, keys: keys) }
      return problem
    }
  }

  /// Returns the link of a policy that was checked: the one that its chain has led to, otherwise the one
  /// beside it.
  private mutating func believed(_ place: Place) throws -> PolicyChain.Link {
    if let link = links[place.state.digest] { return link }
    let keys = try versions.keyFiles(of: place.state.policy.people.keys, at: place.commit)
    let link = PolicyRule.link(place.state, keys: keys)
    links[place.state.digest] = link
    return link
  }

  private func signer(
    of state: PolicyState, _ keys: KeyFiles, anchors: [Fingerprint]
  ) throws -> Result<Fingerprint, ChainProblem> {
    return try rule.signer(ofFirst: state, keys: keys, anchors: anchors)
  }

  private mutating func judgeFirst(
    _ state: PolicyState, _ keys: KeyFiles, at commit: String?, isCutOff: Bool
  ) throws {
    links[state.digest] = PolicyRule.link(state, keys: keys)
    switch try signer(of: state, keys, anchors: start.anchors) {
    case .success(let signer):
      if firstSigner == nil { firstSigner = signer }
      if isCutOff { self.isCutOff = self.isCutOff || state.policy.generation > 1 }
      guard state.policy.generation > 1, !isCutOff, start.anchors.isEmpty else { return }
      late.append(finding(.incompleteHistory(generation: state.policy.generation), commit))
    case .failure(let problem): note(problem, at: commit)
    }
  }

  // MARK: The folder

  private mutating func judge(
    _ folder: FileTree, after tip: String?, hasGit: Bool
  ) throws {
    let state: PolicyState
    let keys: KeyFiles
    let before = tip.flatMap { places[$0] }
    state = try PolicyState(in: folder)
    let people = Set(state.policy.people.keys).union(before?.state.policy.people.keys ?? [:].keys)
    keys = try folder.keyFiles(of: people)
    last = state
    versions.add(state)
    guard let before else { return try judgeFirst(state, keys, at: nil, isCutOff: !hasGit) }
    if before.state.bytes == state.bytes, before.state.signature == state.signature { return }
    if let problem = try problem(of: state, keys, after: before) { note(problem, at: nil) }
  }

  // MARK: The end

  private mutating func finish(_ last: PolicyState) throws {
    let chain = versions.chain(to: last)
    count = chain.count
    let generation = last.policy.generation
    if start.trusted.isEmpty {
      for left in leftBehind {
        guard case .chain(.forked(let other)) = left.kind, other > generation else { continue }
        note(.older(generation: generation, before: other), at: left.commit)
      }
    }
    let accepted: AcceptedPolicy?
    do {
      accepted = try start.accepted(last.policy.keyring)
    } catch KeyringError.policyNotTrusted(.pinUnreadable) {
      return note(.pinUnreadable, at: nil)
    }
    isPinned = accepted.map { pin in chain.contains { $0.digest == pin.digest } } ?? false
    if isPinned { return }
    findings += late
    guard let accepted else { return }
    note(.notPinned(generation: last.policy.generation, pinned: accepted.generation), at: nil)
  }

  /// Returns true if one of the last policies of two histories is on the chain to the other one.
  package func isConnected(to other: PolicyHistory) -> Bool {
    guard let last, let theirs = other.last else { return false }
    return versions.chain(to: last).contains { $0.digest == theirs.digest }
      || other.versions.chain(to: theirs).contains { $0.digest == last.digest }
  }

  private mutating func note(_ problem: ChainProblem, at commit: String?) {
    findings.append(finding(problem, commit))
  }

  private func finding(_ problem: ChainProblem, _ commit: String?) -> Finding {
    Finding(StoreLayout.policy, .chain(problem), commit: commit)
  }
}

extension Result where Failure == ChainProblem {
  /// The problem; nil for a valid policy.
  fileprivate var problem: ChainProblem? {
    guard case .failure(let problem) = self else { return nil }
    return problem
  }
}
