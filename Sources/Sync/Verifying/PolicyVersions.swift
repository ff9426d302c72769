internal import Keyring
internal import KeyringModel

/// The policies that commits have, read once each.
struct PolicyVersions {
  /// A policy with its signature, wherever it is found; the names that the repository has for the two.
  struct Version: Hashable {
    let policy: String
    let signature: String?
  }

  /// The reader of the repository; nil for a store without one.
  private let objects: ObjectReader?
  private var contents: PolicyContents?
  private let prefix: String
  private var versions: [String: Version] = [:]
  private var states: [Version: Result<PolicyState, PolicyError>] = [:]
  private var byDigest: [ContentDigest: PolicyState] = [:]

  /// The policies of commits in a repository.
  init(in repository: Repository?) {
    objects = repository.map { ObjectReader(git: $0.git) }
    contents = repository.map { PolicyContents(in: $0) }
    prefix = repository?.prefix ?? ""
  }

  /// Reads the policies of some commits.
  ///
  /// - Throws: as `Git.run`.
  mutating func read(_ commits: [String]) throws {
    guard let objects else { return }
    let new = commits.filter { versions[$0] == nil }
    let names = try objects.names(
      of: new.flatMap { [place($0, StoreLayout.policy), place($0, StoreLayout.policySignature)] })
    for commit in new {
      guard let policy = names[place(commit, StoreLayout.policy)] else { continue }
      versions[commit] = Version(
        policy: policy, signature: names[place(commit, StoreLayout.policySignature)])
    }
    let wanted = Set(new.compactMap { versions[$0] }).filter { states[$0] == nil }
    let policies = try read(wanted.map(\.policy), limit: StoreLayout.smallFileLimit)
    let signatures = try read(wanted.compactMap(\.signature), limit: StoreLayout.signatureLimit)
    for version in wanted {
      let signature = version.signature.map { signatures[$0] ?? [] }
      let state: Result<PolicyState, PolicyError>
      if let bytes = policies[version.policy] {
        do {
          state = .success(try PolicyState(bytes: bytes, signature: signature))
        } catch {
          state = .failure(error)
        }
      } else {
        state = .failure(.malformed(.tooLarge(limit: StoreLayout.smallFileLimit)))
      }
      states[version] = state
      if case .success(let known) = state { add(known) }
    }
  }

  /// Takes a policy that no commit has.
  mutating func add(_ state: PolicyState) {
    if byDigest[state.digest] == nil { byDigest[state.digest] = state }
  }

  /// The policy of a commit that was read; nil when it has none.
  func version(at commit: String) -> Version? { versions[commit] }

  /// Returns the parsed policy of a version, or the reason why it cannot be read.
  func state(_ version: Version) -> Result<PolicyState, PolicyError>? { states[version] }

  /// The chain that leads to a policy, the last one first, as far as it is known: each names the one before by its
  /// digest, so that nothing in it can be another one.
  func chain(to last: PolicyState) -> [PolicyState] {
    var chain = [last]
    while let previous = chain[chain.count - 1].policy.previous, let state = byDigest[previous],
      state.policy.generation < chain[chain.count - 1].policy.generation
    {
      chain.append(state)
    }
    return chain
  }

  /// The key files beside a policy.
  ///
  /// - Throws: As `PolicyContents.keyFiles`.
  mutating func keyFiles(of people: some Sequence<Fingerprint>, at commit: String) throws
    -> KeyFiles
  {
    guard let objects else { return [:] }
    let places = people.map { (person: $0, place: place(commit, StoreLayout.keyFile($0))) }
    let names = try objects.names(of: places.map(\.place))
    var files: [Fingerprint: String] = [:]
    for (person, place) in places { files[person] = names[place] }
    return try contents?.keyFiles(files) ?? [:]
  }

  private mutating func read(_ names: [String], limit: Int) throws -> [String: [UInt8]] {
    try contents?.contents(of: names, limit: limit) ?? [:]
  }

  private func place(_ commit: String, _ path: String) -> String { "\(commit):\(prefix)\(path)" }
}
