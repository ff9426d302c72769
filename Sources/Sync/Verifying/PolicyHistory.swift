package import Keyring
package import KeyringModel

/// The policies in a history, each checked against its predecessors.
///
/// The rule for every commit: its policy is the policy of one of its parents, or the direct successor of such a policy,
/// signed by an admin of that policy. The policies of all other parents must be earlier ones in the same chain. So the
/// policy never goes back or changes without a signature on any path through the history (threats T1 and T2). There is
/// one exception: if admins have made two policies concurrently, a merge drops one of them. The dropped policy must not
/// have been in force: in a push, no existing branch may contain it; in a complete history, it must not be newer than
/// the last policy. And it must not have removed the right to sign from a person who signed the preferred policies.
package struct PolicyHistory {
  /// The starting point of the check.
  package struct Start: Sendable {
    /// The people of whom one must have signed the first policy of the history. If empty, any signer is accepted.
    package var anchors: [Fingerprint] = []
    /// Commits that were already checked, together with all their ancestors.
    package var trusted: [String] = []
    /// Returns the policy of a keyring that this machine has accepted; nil if there is none.
    package var accepted: @Sendable (KeyringID) throws -> AcceptedPolicy? = {
      (_) in nil
    }
    package init() {}
  }

  /// The findings, oldest first.
  package private(set) var findings: [Finding] = []
  /// The signer of the first policy, if that was checked and is valid.
  package private(set) var firstSigner: Fingerprint?
  /// The number of policies in the chain that leads to the last one.
  package private(set) var count = 0
  /// True if the beginning of the history is missing.
  package private(set) var isCutOff = false
  /// True if the policy that this machine has accepted is in the chain.
  package private(set) var isPinned = false
  /// The policies that merges have dropped because another one was made concurrently, with the commits of the merges.
  package private(set) var leftBehind: [Finding] = []
  /// The last policy; nil if there is none or it cannot be read.
  package private(set) var last: PolicyState?

  private var versions: PolicyVersions
  private let rule: PolicyRule
  private let start: Start
  private let shallow: Set<String>

  /// The policy at a commit that was checked.
  private struct Place {
    let commit: String
    let version: PolicyVersions.Version
    let facts: PolicyVersions.Facts
  }

  /// A policy that was rejected as the successor of another one.
  private struct Rejection: Hashable {
    let version: PolicyVersions.Version
    let before: ContentDigest
  }

  /// The last trusted policies, by commit.
  private var places: [String: Place] = [:]
  /// The policies that were skipped because they are not trusted, by commit. They were reported.
  private var leftOut: [String: PolicyVersions.Version] = [:]
  /// The problems of skipped policies, so that such a policy is not read and verified again for each commit that has
  /// it.
  private var rejected: [Rejection: ChainProblem] = [:]
  /// The policies of commits that were checked before.
  private var published: Set<ContentDigest> = []
  /// The policies that were checked and are trusted, by digest.
  private var links: [ContentDigest: PolicyChain.Link] = [:]
  /// Those of them that follow another one.
  private var steps: [ContentDigest: PolicyChain.Followed] = [:]
  /// The total size of the policies in `links` in bytes, and its limit.
  private var linkSize = 0
  private let limit: Int
  /// Findings about starting points that are not first policies. They are only reported if no accepted policy is on the
  /// chain.
  private var late: [Finding] = []

  /// Checks a history.
  ///
  /// - Parameters:
  ///   - tip: The last commit; nil if there is no commit yet.
  ///   - folder: The folder of the store, whose policy is checked like that of an additional commit; nil to check only
  ///     commits.
  ///   - start: The starting point.
  ///   - repository: The repository; nil for a store without git.
  ///   - room: The environment in which signatures are verified.
  /// - Throws: The errors of `Git.run`, and `KeyringError` if GnuPG or the folder cannot be used.
  package init(
    to tip: String?, then folder: FileTree?, from start: Start, in repository: Repository?,
    room: VerificationWorkspace, limit: Int = PolicyContents.limit
  ) throws {
    rule = PolicyRule(in: room)
    self.start = start
    self.limit = limit
    shallow = repository?.shallowCommits ?? []
    versions = PolicyVersions(in: repository, limit: limit)
    if let repository, let tip { try walk(to: tip, in: repository.git) }
    if let version = tip.flatMap(versions.version), case .success(let state) = try versions.state(version) {
      last = state
    }
    if let folder { try judge(folder, after: tip, hasGit: repository != nil) }
    if let last { try finish(last) }
  }

  /// Returns the policy of a commit, or the last trusted policy before it.
  ///
  /// - Returns: The policy; nil if there is none.
  package func policy(of commit: String) -> Policy? {
    places[commit].flatMap { links[$0.facts.digest] }?.policy
  }

  // MARK: Commits

  private mutating func walk(to tip: String, in git: Git) throws {
    let list: TopologicalCommits
    let old: [TopologicalCommits.Commit]
    list = try TopologicalCommits(to: tip, without: start.trusted, in: git)
    // Older commits are not checked; only the order of their policies matters.
    old = start.trusted.isEmpty ? [] : try TopologicalCommits(to: tip, in: git).commits
    let new = list.commits.map(\.name)
    let given = list.border + (list.commits.isEmpty ? [tip] : [])
    let checked = Set(new)
    let oldNames = old.map(\.name).filter { !checked.contains($0) }
    try versions.find(oldNames + given.filter { !Set(oldNames).contains($0) } + new)
    try versions.readFacts(of: oldNames)
    for commit in given {
      guard let place = try readablePlace(commit) else { continue }
      places[commit] = place
      published.insert(place.facts.digest)
      _ = try believed(place)
    }
    for commit in list.commits { try judge(commit) }
  }

  private mutating func readablePlace(_ commit: String) throws -> Place? {
    guard let version = versions.version(at: commit), case .success(let state) = try versions.state(version)
    else { return nil }
    return Place(commit: commit, version: version, facts: PolicyVersions.Facts(state, version))
  }

  /// Checks a commit. A policy that is not trusted is reported and skipped: later commits are compared with the last
  /// trusted policy. So an unsigned push cannot make a later, valid history invalid, and the contents of skipped
  /// policies are not kept in memory.
  private mutating func judge(_ commit: TopologicalCommits.Commit) throws {
    let before = commit.parents.compactMap { places[$0] }
    guard let version = versions.version(at: commit.name) else {
      guard let newest = Self.newest(before) else { return }
      note(.missing, at: commit.name)
      // Later policies are checked against the last one that existed.
      places[commit.name] = newest
      return
    }
    if let same = before.first(where: { $0.version == version }) {
      return try judge(Place(commit: commit.name, version: version, facts: same.facts), after: before)
    }
    if commit.parents.contains(where: { leftOut[$0] == version }) {
      return leaveOut(version, of: commit.name, after: before, nil)
    }
    if let problem = versions.problem(of: version) {
      return leaveOut(version, of: commit.name, after: before, problem)
    }
    if before.count == 1, let problem = rejected[rejection(of: version, after: before[0])] {
      return leaveOut(version, of: commit.name, after: before, problem)
    }
    switch try versions.state(version) {
    case .success(let state):
      let place = Place(commit: commit.name, version: version, facts: PolicyVersions.Facts(state, version))
      guard let newest = Self.newest(before, for: place.facts) else {
        guard try judgeFirst(place, state) else {
          return leaveOut(version, of: commit.name, after: before, nil)
        }
        return
      }
      if let problem = try problem(of: place, state, after: newest) {
        if !problem.dependsOnKeyFiles { rejected[rejection(of: version, after: newest)] = problem }
        return leaveOut(version, of: commit.name, after: before, problem)
      }
      try judge(place, after: before)
    case .failure(let error): leaveOut(version, of: commit.name, after: before, .unreadable(error))
    }
  }

  /// Skips the policy of a commit.
  ///
  /// - Parameter problem: The problem to report; nil if it was reported before.
  private mutating func leaveOut(
    _ version: PolicyVersions.Version, of commit: String, after before: [Place], _ problem: ChainProblem?
  ) {
    if let problem { note(problem, at: commit) }
    leftOut[commit] = version
    places[commit] = Self.newest(before)
  }

  private func rejection(of version: PolicyVersions.Version, after place: Place) -> Rejection {
    Rejection(version: version, before: place.facts.digest)
  }

  /// Checks the trusted policy of a commit against the policies of all parents of the commit.
  private mutating func judge(_ place: Place, after before: [Place]) throws {
    places[place.commit] = place
    if let problem = try problem(of: place.facts, beside: before, at: place.commit) {
      note(problem, at: place.commit)
    }
  }

  private mutating func judgeFirst(_ place: Place, _ state: PolicyState) throws -> Bool {
    guard let keys = try versions.keyFiles(of: state.policy.people.keys, at: place.commit) else {
      note(Self.keyFilesTooLarge, at: place.commit)
      return false
    }
    let isBelieved = try judgeFirst(state, keys, at: place.commit, isCutOff: shallow.contains(place.commit))
    if isBelieved { places[place.commit] = place }
    return isBelieved
  }

  fileprivate static let keyFilesTooLarge = ChainProblem.unreadable(
    .malformed(.tooLarge(limit: StoreLayout.keyFilesLimit)))

  /// Checks the policy of a commit that replaces another one. Returns the problem, if any.
  private mutating func problem(
    of place: Place, _ state: PolicyState, after before: Place
  ) throws -> ChainProblem? {
    let people = Set(try believed(before).policy.people.keys).union(state.policy.people.keys)
    // If there are too many key files, none of them is used: a validly signed policy does not need so many.
    let keys = try versions.keyFiles(of: people, at: place.commit)
    let problem = try problem(of: state, keys ?? [:], after: before)
    if case .keyExchanged? = problem, keys == nil { return Self.keyFilesTooLarge }
    return problem
  }

  /// Checks that the policies of all parents of a commit are on the chain to the policy of the commit, or may be
  /// dropped. Returns the problem, if any.
  private mutating func problem(
    of facts: PolicyVersions.Facts, beside before: [Place], at commit: String
  ) throws -> ChainProblem? {
    // Most commits have the same policy as their parent, or its direct successor. Following the whole chain for each
    // commit would take time proportional to the product of both lengths.
    let others = before.filter { place in
      place.facts.digest != facts.digest && place.facts.digest != facts.previous
    }
    if others.isEmpty { return nil }
    let chain = Set(versions.chain(to: facts).map(\.digest))
    for place in others where !chain.contains(place.facts.digest) {
      let other = place.facts
      let left = versions.chain(to: other).prefix { !chain.contains($0.digest) }
      if left.contains(where: { $0.previous == facts.digest }) {
        return .older(generation: facts.generation, before: other.generation)
      }
      if other.keyring != facts.keyring { return .foreign }
      if left.contains(where: { published.contains($0.digest) }) {
        return .forked(generation: other.generation)
      }
      if let problem = try takeover(by: facts, of: place) { return problem }
      leftBehind.append(finding(.forked(generation: other.generation), commit))
    }
    return nil
  }

  /// Checks that no policy that a merge prefers is signed by a user whom the dropped policy has removed or made a
  /// member. A policy that is already on a branch of the server is older than the dropped one and needs no check.
  private mutating func takeover(
    by facts: PolicyVersions.Facts, of other: Place
  ) throws -> ChainProblem? {
    let left = try believed(other)
    let others = Set(versions.chain(to: other.facts).map(\.digest))
    let chain = versions.chain(to: facts)
    let preferred = chain.prefix { !others.contains($0.digest) }
    let common = try chain.dropFirst(preferred.count).first.flatMap { try link($0) }
    // What precedes a published policy was checked with it.
    let kept = preferred.prefix { !published.contains($0.digest) }.reversed()
    guard let first = kept.first else { return nil }
    let way = kept.compactMap { steps[$0.digest] }
    guard way.count == kept.count, let before = first.previous.flatMap({ links[$0] }) ?? common else {
      return .badMergeChoice(generation: first.generation)
    }
    if try rule.mayReplace(left, by: way, after: before, since: common) { return nil }
    // The last policies that may not replace the other one begin with the one that is reported.
    let bad = try way.indices.last { index in
      let link = index == 0 ? before : way[index - 1].link
      return try !rule.mayReplace(left, by: Array(way[index...]), after: link, since: common)
    }
    return .badMergeChoice(generation: way[bad ?? 0].link.policy.generation)
  }

  /// Returns a policy on the chain, with its key files if it was checked; nil if it cannot be read.
  private mutating func link(_ facts: PolicyVersions.Facts) throws -> PolicyChain.Link? {
    if let link = links[facts.digest] { return link }
    guard let version = facts.version else { return nil }
    return PolicyRule.link(try versions.state(version).get(), keys: [:])
  }

  /// Returns the place with the newest policy, or the one whose policy a given policy names as its predecessor.
  private static func newest(_ places: [Place], for next: PolicyVersions.Facts? = nil) -> Place? {
    func rank(_ place: Place) -> (Int, Int) {
      (place.facts.digest == next?.previous ? 1 : 0, place.facts.generation)
    }
    return places.max { rank($0) < rank($1) }
  }

  /// Checks a policy that replaces another one. Returns the problem, if any.
  private mutating func problem(
    of state: PolicyState, _ keys: KeyFiles, after before: Place
  ) throws -> ChainProblem? {
    var link = try believed(before)
    if state.digest == before.facts.digest {
      // The same policy was signed again. A person who could sign it then can sign it now.
      guard let previous = state.policy.previous.flatMap({ links[$0] }) else {
        return try signer(of: state, keys, anchors: start.trusted.isEmpty ? start.anchors : []).problem
      }
      link = previous
    }
    switch try rule.follow(state, keys: keys, after: link) {
    case .success(let next):
      steps[state.digest] = next
      try keep(next.link, of: state)
      return nil
    case .failure(let problem): return problem
    }
  }

  /// Returns the link of a policy that was checked. If the check of its chain created none, it is created from the key
  /// files in the same commit.
  private mutating func believed(_ place: Place) throws -> PolicyChain.Link {
    if let link = links[place.facts.digest] { return link }
    let state = try versions.state(place.version).get()
    let keys = try versions.keyFiles(of: state.policy.people.keys, at: place.commit)
    let link = PolicyRule.link(state, keys: keys ?? [:])
    try keep(link, of: state)
    return link
  }

  private mutating func keep(_ link: PolicyChain.Link, of state: PolicyState) throws {
    if links.updateValue(link, forKey: state.digest) != nil { return }
    linkSize += state.bytes.count
    guard linkSize <= limit else { throw SyncError.policyHistoryTooLarge(limit: limit) }
  }

  private func signer(
    of state: PolicyState, _ keys: KeyFiles, anchors: [Fingerprint]
  ) throws -> Result<Fingerprint, ChainProblem> {
    return try rule.signer(ofFirst: state, keys: keys, anchors: anchors)
  }

  /// Checks the first policy of a history.
  ///
  /// - Returns: True if later policies may follow it.
  private mutating func judgeFirst(
    _ state: PolicyState, _ keys: KeyFiles, at commit: String?, isCutOff: Bool
  ) throws -> Bool {
    switch try signer(of: state, keys, anchors: start.anchors) {
    case .success(let signer):
      try keep(PolicyRule.link(state, keys: keys), of: state)
      if firstSigner == nil { firstSigner = signer }
      if isCutOff { self.isCutOff = self.isCutOff || state.policy.generation > 1 }
      guard state.policy.generation > 1, !isCutOff, start.anchors.isEmpty else { return true }
      late.append(finding(.incompleteHistory(generation: state.policy.generation), commit))
      return true
    case .failure(let problem):
      note(problem, at: commit)
      guard case .unexpectedSigner = problem else { return false }
      try keep(PolicyRule.link(state, keys: keys), of: state)
      return true
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
    let people = try before.map { try believed($0).policy.people.keys.map { $0 } } ?? []
    keys = try folder.keyFiles(of: Set(state.policy.people.keys).union(people))
    let committed = last
    last = state
    versions.add(state)
    if let committed, committed.bytes == state.bytes, committed.signature == state.signature { return }
    guard let before else {
      _ = try judgeFirst(state, keys, at: nil, isCutOff: !hasGit)
      return
    }
    if let problem = try problem(of: state, keys, after: before) { note(problem, at: nil) }
  }

  // MARK: The end

  private mutating func finish(_ last: PolicyState) throws {
    let chain = versions.chain(to: PolicyVersions.Facts(last, nil))
    count = chain.count
    let generation = last.policy.generation
    if start.trusted.isEmpty {
      for (other, commit) in dropped where other > generation {
        note(.older(generation: generation, before: other), at: commit)
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

  /// The generations of the policies that merges have dropped, with the commits of the merges.
  private var dropped: [(generation: Int, commit: String?)] {
    leftBehind.compactMap { left in
      guard case .chain(.forked(let generation)) = left.kind else { return nil }
      return (generation, left.commit)
    }
  }

  /// Returns the highest generation of the policies that merges in the history of a store have dropped. The last policy
  /// must not be older (see above).
  ///
  /// A policy from before the last one that somebody has restored does not count, because no merge has chosen between
  /// the two.
  ///
  /// - Parameters:
  ///   - repository: The repository of the store.
  ///   - room: The environment in which signatures are verified.
  /// - Returns: The generation; nil if no policy was dropped.
  /// - Throws: The errors of ``init(to:then:from:in:room:limit:)``.
  package static func droppedGeneration(
    in repository: Repository, room: VerificationWorkspace
  ) throws -> Int? {
    try PolicyHistory(
      to: try repository.git.commit("HEAD"), then: nil, from: Start(), in: repository, room: room
    ).dropped.map(\.generation).max()
  }

  /// Returns true if the last policy of one of the histories is in the chain to the last policy of the other one.
  package func isConnected(to other: PolicyHistory) -> Bool {
    guard let last, let theirs = other.last else { return false }
    return versions.chain(to: PolicyVersions.Facts(last, nil)).contains { $0.digest == theirs.digest }
      || other.versions.chain(to: PolicyVersions.Facts(theirs, nil)).contains { $0.digest == last.digest }
  }

  private mutating func note(_ problem: ChainProblem, at commit: String?) {
    findings.append(finding(problem, commit))
  }

  private func finding(_ problem: ChainProblem, _ commit: String?) -> Finding {
    Finding(StoreLayout.policy, .chain(problem), commit: commit)
  }
}

extension ChainProblem {
  /// True if the same policy may be valid in another commit, which has other key files.
  fileprivate var dependsOnKeyFiles: Bool {
    switch self {
    case .keyExchanged, .signerUnknown: true
    default: self == PolicyHistory.keyFilesTooLarge
    }
  }
}

extension Result where Failure == ChainProblem {
  /// The problem; nil for a valid policy.
  fileprivate var problem: ChainProblem? {
    guard case .failure(let problem) = self else { return nil }
    return problem
  }
}
