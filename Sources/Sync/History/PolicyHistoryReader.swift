package import Keyring
internal import KeyringModel
internal import Synchronization

/// Reads all policies in a store's history, on any branch.
package struct PolicyHistoryReader {
  private let repository: Repository
  private let objects: ObjectReader
  private let limit: Int

  /// The number of policies that are read together.
  private static let pieceSize = 64

  /// Creates a reader for the history of a repository.
  ///
  /// - Parameters:
  ///   - repository: The repository of the store.
  ///   - limit: The maximum size of the contents in memory, in bytes.
  package init(in repository: Repository, limit: Int = PolicyContents.limit) {
    self.repository = repository
    self.limit = limit
    objects = ObjectReader(git: repository.git)
  }

  /// A policy in one commit, identified by its object names.
  fileprivate struct Place {
    let commit: String
    let policy: String
    let signature: String?
    /// The tree of the folder with the key files.
    let keys: String?
  }

  /// The commits with a policy, one for each signature and set of key files, and the previous policy.
  fileprivate struct Entry {
    let places: [Place]
    let previous: ContentDigest?
    /// True if the policy is in the history in which the newest policy is searched.
    let isInBranch: Bool
  }

  /// Returns the policies on all branches and in the reflog, with their signatures and key files. Each policy is read when
  /// it is needed; if it cannot be read then, it is missing.
  ///
  /// Every user who can push can commit a published policy with another signature, even as an unrelated first commit.
  /// So all signatures of a policy are returned, and the reader of the result finds the valid one.
  ///
  /// - Parameter branch: The commit in whose history the newest policy is searched; nil for none.
  /// - Throws: The errors of `Git.run`.
  package func steps(branch: String? = nil) throws -> HistoricalPolicies {
    let all = try places(of: try commits(["--all", "--reflog"] + [branch].compactMap(\.self)))
    let ofBranch = Set(try branch.map { try commits([$0]) } ?? [])
    let inBranch = Set(all.lazy.filter { ofBranch.contains($0.commit) }.map(\.policy))
    let byPolicy = Dictionary(grouping: all, by: \.policy).mapValues(Self.distinct)
    var known: [ContentDigest: Entry] = [:]
    // The contents are not kept: those of policies that no admin has signed may not fit in memory.
    try objects.forEachContent(of: byPolicy.keys, limit: StoreLayout.smallFileLimit) { name, bytes in
      // The reason why a policy cannot be read does not matter: no trusted chain can include it.
      guard let places = byPolicy[name], let policy = try? Policy.parse(Array(bytes)) else { return }
      known[ContentDigest(of: Array(bytes))] = Entry(
        places: places, previous: policy.previous, isInBranch: inBranch.contains(name))
    }
    let branch = Set(known.lazy.filter(\.value.isInBranch).map(\.key))
    let reader = StepReader(self, known)
    return HistoricalPolicies(
      previous: known.mapValues(\.previous), branch: branch, failure: { reader.failure }
    ) { reader.step($0, version: $1) }
  }

  /// Returns the commits that have changed the policy, its signature or a key file, the earliest first.
  private func commits(_ start: [String]) throws -> [String] {
    let paths = [StoreLayout.policy, StoreLayout.policySignature, StoreLayout.keys]
    let output = try repository.git.query(
      ["rev-list", "--topo-order", "--reverse", "--full-history"] + start + ["--"]
        + paths.map { repository.prefix + $0 },
      limit: 1 << 26)
    return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Returns the places that differ in their signature or key files. Those without a signature come last.
  private static func distinct(_ places: [Place]) -> [Place] {
    var seen: Set<[String?]> = []
    let distinct = places.filter { seen.insert([$0.signature, $0.keys]).inserted }
    return distinct.filter { $0.signature != nil } + distinct.filter { $0.signature == nil }
  }

  /// Returns the policy of a commit; nil if it has none that can be read.
  ///
  /// - Throws: The errors of `Git.run`.
  func step(at commit: String) throws -> PolicyStep? {
    var contents = PolicyContents(in: repository, limit: limit)
    return try steps(at: try places(of: [commit]), &contents).first
  }

  /// Returns a keyring with its accepted policy or an earlier one, to verify what was signed while that was in force.
  ///
  /// - Parameters:
  ///   - keyring: The keyring.
  ///   - step: The policy.
  ///   - past: The policies in the history; nil to read them if they are needed.
  /// - Returns: The keyring; nil if the policy is not in the chain to the accepted one, or if a key file is missing.
  /// - Throws: The errors of `Git.run`, and `KeyringError` if GnuPG cannot be used.
  func keyring(
    _ keyring: Keyring, at step: PolicyStep, _ past: HistoricalPolicies? = nil
  ) throws -> Keyring? {
    if step.digest == ContentDigest(of: keyring.policy.encode()) { return keyring }
    let past = try past ?? steps()
    do throws(KeyringError) {
      return try keyring.judge(ofAncestor: step, past: past)
    } catch {
      guard case .policyNotTrusted = error else { throw error }
      return nil
    }
  }

  /// Returns the policies that were in force at some commits and later, before the one that a keyring has accepted.
  ///
  /// What counts is the newest policy in the history of the commits, because somebody may have restored an older one
  /// there, perhaps the person whom a later one has removed.
  ///
  /// - Parameters:
  ///   - keyring: The keyring.
  ///   - commits: The commits.
  /// - Returns: The policies in the chain to the accepted one, the latest first, and all policies in the history. The
  ///   last one of the chain is in the history of the commits. There are none if the accepted policy is in it, or no
  ///   policy of the chain.
  /// - Throws: The errors of `Git.run`.
  func steps(
    before keyring: Keyring, since commits: [String]
  ) throws -> (steps: [PolicyStep], past: HistoricalPolicies?) {
    var known: Set<ContentDigest> = []
    let names = try objects.pastNames(of: [repository.prefix + StoreLayout.policy], in: commits)
    try objects.forEachContent(of: names, limit: StoreLayout.smallFileLimit) { _, bytes in
      known.insert(ContentDigest(of: Array(bytes)))
    }
    if known.contains(ContentDigest(of: keyring.policy.encode())) { return ([], nil) }
    let past = try steps()
    let ancestors = keyring.ancestors(in: past)
    guard let last = ancestors.firstIndex(where: { known.contains($0.digest) }) else { return ([], past) }
    return (Array(ancestors[...last]), past)
  }

  /// Returns a keyring with the policy that was in force at a commit of the remote, before this machine changed it.
  ///
  /// - Parameters:
  ///   - keyring: The keyring with the changed policy.
  ///   - commit: The commit.
  /// - Returns: The keyring; nil if the commit has the accepted policy, or none of the chain to it.
  /// - Throws: The errors of `Git.run`, and `KeyringError.policyNotTrusted` if a key file of that policy is missing.
  func earlier(_ keyring: Keyring, at commit: String) throws -> Keyring? {
    let (steps, past) = try steps(before: keyring, since: [commit])
    guard let step = steps.last, let past else { return nil }
    return try keyring.judge(ofAncestor: step, past: past)
  }

  /// Returns true if one of some commits precedes all commits of the checked-out branch that have a policy.
  ///
  /// Anyone who can push can commit a published policy again, so one such commit that follows proves nothing.
  ///
  /// - Parameters:
  ///   - commits: The commits.
  ///   - digest: The policy.
  /// - Returns: False also if no commit of the branch has the policy.
  /// - Throws: The errors of `Git.run`.
  func isAnyBefore(_ commits: [String], policy digest: ContentDigest) throws -> Bool {
    let path = repository.prefix + StoreLayout.policy
    let changes = try places(of: try repository.git.commits(changing: path, in: ["HEAD"]))
    var names: Set<String> = []
    try objects.forEachContent(of: Set(changes.map(\.policy)), limit: StoreLayout.smallFileLimit) {
      name, bytes in
      if ContentDigest(of: Array(bytes)) == digest { names.insert(name) }
    }
    let later = Set(changes.filter { names.contains($0.policy) }.map(\.commit))
    if later.isEmpty { return false }
    return try commits.contains { try later.isSubset(of: repository.git.descendants(of: $0)) }
  }

  private func places(of commits: [String]) throws -> [Place] {
    let names = try objects.names(
      of: commits.flatMap { [place($0, StoreLayout.policy), place($0, StoreLayout.policySignature)] })
    let folders = try objects.names(of: commits.map { place($0, StoreLayout.keys) }, kind: .tree)
    return commits.compactMap { commit in
      names[place(commit, StoreLayout.policy)].map { policy in
        Place(
          commit: commit, policy: policy, signature: names[place(commit, StoreLayout.policySignature)],
          keys: folders[place(commit, StoreLayout.keys)])
      }
    }
  }

  private func place(_ commit: String, _ file: String) -> String { "\(commit):\(repository.prefix)\(file)" }

  fileprivate func steps(
    at places: [Place], _ contents: inout PolicyContents
  ) throws -> [PolicyStep] {
    let signatures = try contents.contents(
      of: places.compactMap(\.signature), limit: StoreLayout.signatureLimit)
    let policies = try contents.contents(of: places.map(\.policy), limit: StoreLayout.smallFileLimit)
    var found: [(place: Place, bytes: [UInt8], people: [Fingerprint])] = []
    for place in places {
      guard let bytes = policies[place.policy], let policy = try? Policy.parse(bytes) else { continue }
      found.append((place, bytes, Array(policy.people.keys)))
    }
    let files = try objects.names(
      of: found.flatMap { step in
        step.people.map { place(step.place.commit, StoreLayout.keyFile($0)) }
      })
    var steps: [PolicyStep] = []
    for (place, bytes, people) in found {
      var keys: [Fingerprint: String] = [:]
      for person in people { keys[person] = files[self.place(place.commit, StoreLayout.keyFile(person))] }
      // A policy without its key files is not trusted, and those of a valid policy do not exceed the limit.
      steps.append(
        PolicyStep(
          bytes: bytes, signature: place.signature.flatMap { signatures[$0] },
          keys: try contents.keyFiles(keys) ?? [:]))
    }
    return steps
  }

  /// Reads the steps to a policy, several at a time.
  private final class StepReader: Sendable {
    private let policies: PolicyHistoryReader
    private let known: [ContentDigest: Entry]
    private let state:
      Mutex<(contents: PolicyContents, steps: [ContentDigest: PolicyStep], failure: (any Error)?)>

    /// The first error of git, or of a limit.
    var failure: (any Error)? { state.withLock { $0.failure } }

    init(_ policies: PolicyHistoryReader, _ known: [ContentDigest: Entry]) {
      (self.policies, self.known) = (policies, known)
      state = Mutex((PolicyContents(in: policies.repository, limit: policies.limit), [:], nil))
    }

    /// Returns a policy with its first or another signature; nil if there is none. For the first one, also reads the
    /// predecessors, which are usually needed next. A policy that cannot be read is missing.
    func step(_ digest: ContentDigest, version: Int) -> PolicyStep? {
      guard let entry = known[digest], entry.places.indices.contains(version) else { return nil }
      return state.withLock { state in
        if version > 0 {
          return steps(at: [entry.places[version]], &state.contents, &state.failure).first
        }
        if let step = state.steps[digest] { return step }
        var places: [Place] = []
        var next: ContentDigest? = digest
        // In a search for successors, the predecessor was read before.
        while let current = next, places.count < pieceSize, state.steps[current] == nil,
          let entry = known[current]
        {
          places.append(entry.places[0])
          next = entry.previous
        }
        let steps = steps(at: places, &state.contents, &state.failure)
        if state.steps.count > pieceSize { state.steps = [:] }
        for step in steps { state.steps[step.digest] = step }
        return state.steps[digest]
      }
    }

    /// Returns the steps, or none and the error if git cannot read them. Steps that are too large are missing.
    private func steps(
      at places: [Place], _ contents: inout PolicyContents, _ failure: inout (any Error)?
    ) -> [PolicyStep] {
      do {
        return try policies.steps(at: places, &contents)
      } catch {
        failure = failure ?? error
        return []
      }
    }
  }
}
