internal import Keyring
internal import KeyringModel

/// The policies of commits, each read only once.
struct PolicyVersions {
  /// A policy and its signature, as the object names of the two files.
  struct Version: Hashable {
    let policy: String
    let signature: String?
  }

  /// The properties of a policy that determine its place in a chain.
  struct Facts {
    let digest: ContentDigest
    let keyring: KeyringID
    let generation: Int
    let previous: ContentDigest?
    /// The version from which they were read; nil for a policy that is not part of a commit.
    let version: Version?

    init(_ state: PolicyState, _ version: Version?) {
      (digest, keyring) = (state.digest, state.policy.keyring)
      (generation, previous) = (state.policy.generation, state.policy.previous)
      self.version = version
    }
  }

  /// The reader of the repository; nil for a store without git.
  private let objects: ObjectReader?
  private var contents: PolicyContents?
  private let prefix: String
  private var versions: [String: Version] = [:]
  private var sizes: [String: Int] = [:]
  private var byDigest: [ContentDigest: Facts] = [:]

  /// The versions in the order of the commits that introduce them, and the index of each.
  private var order: [Version] = []
  private var positions: [Version: Int] = [:]
  /// The number of versions, from the beginning of the order, that were read at least once.
  private var readCount = 0
  /// The versions that were read last.
  private var window: [Version: Result<PolicyState, PolicyError>] = [:]

  /// The maximum total size of the policies that are read together, and their maximum number.
  private static let windowSize = (bytes: 8 << 20, count: 256)

  /// Creates a value without any policies.
  init(in repository: Repository?, limit: Int) {
    objects = repository.map { ObjectReader(git: $0.git) }
    contents = repository.map { PolicyContents(in: $0, limit: limit) }
    prefix = repository?.prefix ?? ""
  }

  /// Finds the policies of some commits, without reading them.
  ///
  /// - Parameter commits: The commits, in the order in which their policies will be needed.
  /// - Throws: The errors of `Git.run`.
  mutating func find(_ commits: [String]) throws {
    guard let objects else { return }
    let names = try objects.names(
      of: commits.flatMap { [place($0, StoreLayout.policy), place($0, StoreLayout.policySignature)] })
    for commit in commits {
      guard let policy = names[place(commit, StoreLayout.policy)] else { continue }
      let version = Version(policy: policy, signature: names[place(commit, StoreLayout.policySignature)])
      versions[commit] = version
      if positions[version] != nil { continue }
      positions[version] = order.count
      order.append(version)
    }
    sizes = try objects.sizes(of: Set(order.flatMap { [$0.policy] + ($0.signature.map { [$0] } ?? []) }))
  }

  /// Reads the facts of the policies of some commits. A policy with an invalid size or without a signature file is
  /// skipped.
  ///
  /// - Throws: The errors of `Git.run`.
  mutating func readFacts(of commits: [String]) throws {
    for commit in commits {
      guard let version = versions[commit], problem(of: version) == nil else { continue }
      _ = try state(version)
    }
  }

  /// Adds a policy that is not part of a commit.
  mutating func add(_ state: PolicyState) { add(Facts(state, nil)) }

  private mutating func add(_ facts: Facts) {
    if byDigest[facts.digest] == nil { byDigest[facts.digest] = facts }
  }

  /// Returns the policy of a commit; nil if it has none.
  func version(at commit: String) -> Version? { versions[commit] }

  /// Returns the problem of a version that can be detected without reading it; nil if there is none.
  func problem(of version: Version) -> ChainProblem? {
    guard (sizes[version.policy] ?? .max) <= StoreLayout.smallFileLimit else {
      return .unreadable(.malformed(.tooLarge(limit: StoreLayout.smallFileLimit)))
    }
    guard let signature = version.signature else { return .unsigned }
    return (sizes[signature] ?? .max) <= StoreLayout.signatureLimit ? nil : .badSignature
  }

  /// Returns the parsed policy of a version, or the reason why it cannot be read.
  ///
  /// - Throws: The errors of `Git.run`.
  mutating func state(_ version: Version) throws -> Result<PolicyState, PolicyError> {
    if window[version] == nil { try readWindow(version) }
    return window[version] ?? .failure(.malformed(.tooLarge(limit: StoreLayout.smallFileLimit)))
  }

  /// Reads a version. If it was not read before, also reads the versions that follow it, which are needed next.
  private mutating func readWindow(_ version: Version) throws {
    window = [:]
    guard let objects else { return }
    var piece = [version]
    if let position = positions[version], position >= readCount {
      var bytes = sizes[version.policy] ?? 0
      readCount = position + 1
      for next in order[readCount...] {
        let isReadable = problem(of: next) == nil
        bytes += isReadable ? sizes[next.policy] ?? 0 : 0
        if bytes > Self.windowSize.bytes || piece.count >= Self.windowSize.count { break }
        if isReadable { piece.append(next) }
        readCount += 1
      }
    }
    let policies = try objects.contents(of: piece.map(\.policy), limit: StoreLayout.smallFileLimit)
    let signatures = try objects.contents(
      of: piece.compactMap(\.signature), limit: StoreLayout.signatureLimit)
    for version in piece {
      guard let bytes = policies[version.policy] else { continue }
      do throws(PolicyError) {
        let state = try PolicyState(bytes: bytes, signature: version.signature.map { signatures[$0] ?? [] })
        window[version] = .success(state)
        add(Facts(state, version))
      } catch {
        window[version] = .failure(error)
      }
    }
  }

  /// Returns the known part of the chain that leads to a policy, latest first. Each policy contains the digest of its
  /// predecessor, so none of them can be substituted.
  func chain(to last: Facts) -> [Facts] {
    var chain = [last]
    while let previous = chain[chain.count - 1].previous, let facts = byDigest[previous],
      facts.generation < chain[chain.count - 1].generation
    {
      chain.append(facts)
    }
    return chain
  }

  /// Returns the key files in the same commit as a policy.
  ///
  /// - Returns: The key files; nil if they are too large.
  /// - Throws: The errors of `Git.run`.
  mutating func keyFiles(of people: some Sequence<Fingerprint>, at commit: String) throws
    -> KeyFiles?
  {
    guard let objects else { return [:] }
    let places = people.map { (person: $0, place: place(commit, StoreLayout.keyFile($0))) }
    let names = try objects.names(of: places.map(\.place))
    var files: [Fingerprint: String] = [:]
    for (person, place) in places { files[person] = names[place] }
    return try contents?.keyFiles(files)
  }

  private func place(_ commit: String, _ path: String) -> String { "\(commit):\(prefix)\(path)" }
}
