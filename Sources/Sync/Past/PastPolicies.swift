package import Keyring
internal import KeyringModel

/// All policies that a store's history has, on any branch.
package struct PastPolicies {
  private let repository: Repository
  private let objects: ObjectReader

  /// How many commits are looked at at once.
  private static let pieceSize = 64

  /// The policies in the history of a repository.
  package init(in repository: Repository) {
    self.repository = repository
    objects = ObjectReader(git: repository.git)
  }

  /// The policies with their signatures and key files; those that cannot be read are left out.
  ///
  /// - Throws: as `Git.run`.
  package func steps() throws(SyncError) -> PastPolicySteps {
    let commits: [String]
    do throws(GitError) {
      let output = try repository.git.run(
        [
          "rev-list", "--all", "--reflog", "--full-history", "--", repository.prefix + StoreLayout.policy,
        ],
        limit: 1 << 26)
      commits = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    } catch {
      throw .git(error)
    }
    var steps: [PolicyStep] = []
    for start in stride(from: 0, to: commits.count, by: Self.pieceSize) {
      steps += try self.steps(at: Array(commits[start..<min(start + Self.pieceSize, commits.count)]))
    }
    return PastPolicySteps(steps)
  }

  /// The policy of a commit; nil when it has none that can be read.
  ///
  /// - Throws: as `Git.run`.
  func step(at commit: String) throws(SyncError) -> PolicyStep? { try steps(at: [commit]).first }

  private func steps(at commits: [String]) throws(SyncError) -> [PolicyStep] {
    func place(_ commit: String, _ file: String) -> String { "\(commit):\(repository.prefix)\(file)" }
    let small = try objects.contents(
      of: commits.flatMap { [place($0, StoreLayout.policy), place($0, StoreLayout.policySignature)] },
      limit: StoreLayout.smallFileLimit, freeSize: PolicyVersions.freeSize)
    var policies: [(commit: String, bytes: [UInt8], people: [Fingerprint])] = []
    for commit in commits {
      // Why one cannot be read does not matter: nothing that is believed can lead through it.
      guard let bytes = small[place(commit, StoreLayout.policy)], let policy = try? Policy.parse(bytes)
      else { continue }
      policies.append((commit, bytes, Array(policy.people.keys)))
    }
    let files = policies.flatMap { policy in
      policy.people.map { place(policy.commit, StoreLayout.keyFile($0)) }
    }
    let names = try objects.names(of: files)
    let contents = try objects.contents(of: Set(names.values), limit: StoreLayout.smallFileLimit)
    return policies.map { policy in
      var keys: [Fingerprint: [UInt8]] = [:]
      for person in policy.people {
        keys[person] = names[place(policy.commit, StoreLayout.keyFile(person))].flatMap { contents[$0] }
      }
      return PolicyStep(
        bytes: policy.bytes, signature: small[place(policy.commit, StoreLayout.policySignature)], keys: keys)
    }
  }
}
