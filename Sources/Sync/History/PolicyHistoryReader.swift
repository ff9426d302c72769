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
  }

  /// Returns the policies with their signatures and key files. Each policy is read when it is needed; if it cannot be
  /// read then, it is missing.
  ///
  /// - Throws: The errors of `Git.run`.
  package func steps() throws -> HistoricalPolicies {
    let commits: [String]
    // The oldest first: a push can repeat a policy with another signature, but only after the policy was published.
    let output = try repository.git.run(
      [
        "rev-list", "--topo-order", "--reverse", "--all", "--reflog", "--full-history", "--",
        repository.prefix + StoreLayout.policy, repository.prefix + StoreLayout.policySignature,
      ],
      limit: 1 << 26)
    commits = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    let places = try places(of: commits)
    let byPolicy = Dictionary(places.map { ($0.policy, $0) }) { first, next in
      first.signature == nil ? next : first
    }
    var known: [ContentDigest: (place: Place, previous: ContentDigest?)] = [:]
    // The contents are not kept: those of policies that no admin has signed may not fit in memory.
    try objects.forEachContent(of: byPolicy.keys, limit: StoreLayout.smallFileLimit) { name, bytes in
      // The reason why a policy cannot be read does not matter: no trusted chain can include it.
      guard let place = byPolicy[name], let policy = try? Policy.parse(Array(bytes)) else { return }
      known[ContentDigest(of: Array(bytes))] = (place, policy.previous)
    }
    let reader = StepReader(self, known)
    return HistoricalPolicies(count: known.count) { reader.step($0) }
  }

  /// Returns the policy of a commit; nil if it has none that can be read.
  ///
  /// - Throws: The errors of `Git.run`.
  func step(at commit: String) throws -> PolicyStep? {
    var contents = PolicyContents(in: repository, limit: limit)
    return try steps(at: try places(of: [commit]), &contents).first
  }

  private func places(of commits: [String]) throws -> [Place] {
    let names = try objects.names(
      of: commits.flatMap { [place($0, StoreLayout.policy), place($0, StoreLayout.policySignature)] })
    return commits.compactMap { commit in
      names[place(commit, StoreLayout.policy)].map { policy in
        Place(
          commit: commit, policy: policy, signature: names[place(commit, StoreLayout.policySignature)])
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
    private let known: [ContentDigest: (place: Place, previous: ContentDigest?)]
    private let state: Mutex<(contents: PolicyContents, steps: [ContentDigest: PolicyStep])>

    init(_ policies: PolicyHistoryReader, _ known: [ContentDigest: (place: Place, previous: ContentDigest?)])
    {
      (self.policies, self.known) = (policies, known)
      state = Mutex((PolicyContents(in: policies.repository, limit: policies.limit), [:]))
    }

    /// Returns a policy. Also reads its predecessors, which are usually needed next.
    func step(_ digest: ContentDigest) -> PolicyStep? {
      state.withLock { state in
        if let step = state.steps[digest] { return step }
        var places: [Place] = []
        var next: ContentDigest? = digest
        while let current = next, places.count < pieceSize, let entry = known[current] {
          places.append(entry.place)
          next = entry.previous
        }
        // A policy that cannot be read is missing.
        let steps = (try? policies.steps(at: places, &state.contents)) ?? []
        state.steps = Dictionary(steps.map { ($0.digest, $0) }) { first, _ in first }
        return state.steps[digest]
      }
    }
  }
}
