package import Keyring
internal import KeyringModel

/// All policies that a store's history has, on any branch.
package struct PolicyHistoryReader {
  private let repository: Repository
  private let objects: ObjectReader

  /// The number of commits that are read in one piece.
  private static let pieceSize = 64

  /// The policies in the history of a repository.
  package init(in repository: Repository) {
    self.repository = repository
    objects = ObjectReader(git: repository.git)
  }

  /// The policies with their signatures and key files; those that cannot be read are left out.
  ///
  /// - Throws: As `PolicyContents.keyFiles`.
  package func steps() throws -> HistoricalPolicies {
    let commits: [String]
    let output = try repository.git.run(
      [
        "rev-list", "--all", "--reflog", "--full-history", "--", repository.prefix + StoreLayout.policy,
      ],
      limit: 1 << 26)
    commits = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    var contents = PolicyContents(in: repository)
    var steps: [PolicyStep] = []
    for start in stride(from: 0, to: commits.count, by: Self.pieceSize) {
      let piece = Array(commits[start..<min(start + Self.pieceSize, commits.count)])
      steps += try self.steps(at: piece, &contents)
    }
    return HistoricalPolicies(steps)
  }

  /// The policy of a commit; nil when it has none that can be read.
  ///
  /// - Throws: As `PolicyContents.keyFiles`.
  func step(at commit: String) throws -> PolicyStep? {
    var contents = PolicyContents(in: repository)
    return try steps(at: [commit], &contents).first
  }

  private func steps(
    at commits: [String], _ contents: inout PolicyContents
  ) throws -> [PolicyStep] {
    func place(_ commit: String, _ file: String) -> String { "\(commit):\(repository.prefix)\(file)" }
    let names = try objects.names(
      of: commits.flatMap { [place($0, StoreLayout.policy), place($0, StoreLayout.policySignature)] })
    let signatures = try contents.contents(
      of: commits.compactMap { names[place($0, StoreLayout.policySignature)] },
      limit: StoreLayout.signatureLimit)
    let policies = try contents.contents(
      of: commits.compactMap { names[place($0, StoreLayout.policy)] }, limit: StoreLayout.smallFileLimit)
    var found: [(commit: String, bytes: [UInt8], people: [Fingerprint])] = []
    for commit in commits {
      // Why one cannot be read does not matter: nothing that is believed can lead through it.
      guard let bytes = names[place(commit, StoreLayout.policy)].flatMap({ policies[$0] }),
        let policy = try? Policy.parse(bytes)
      else { continue }
      found.append((commit, bytes, Array(policy.people.keys)))
    }
    let files = try objects.names(
      of: found.flatMap { step in step.people.map { place(step.commit, StoreLayout.keyFile($0)) } })
    var steps: [PolicyStep] = []
    for (commit, bytes, people) in found {
      var keys: [Fingerprint: String] = [:]
      for person in people { keys[person] = files[place(commit, StoreLayout.keyFile(person))] }
      let signature = names[place(commit, StoreLayout.policySignature)].flatMap { signatures[$0] }
      steps.append(PolicyStep(bytes: bytes, signature: signature, keys: try contents.keyFiles(keys)))
    }
    return steps
  }
}
