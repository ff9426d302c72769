internal import Encoding
internal import KeyringModel
internal import Subprocess

/// The remote branch that a store is synchronized with.
package struct Remote: Sendable, Equatable {
  /// The name of the remote in git, such as `origin`, or the address of a repository, which git also accepts as
  /// `branch.NAME.remote`.
  package let name: String
  /// The full name of the branch in the remote repository, such as `refs/heads/main`.
  package let reference: String
  /// The name of the local branch.
  package let branch: String
  /// True if the branch is configured to use this branch of the remote.
  package let isConfigured: Bool
  /// True if the remote has a name, which can be a part of a reference. Otherwise it has only an address.
  let isNamed: Bool

  /// The reference to the last commit that was fetched.
  package var fetched: String { "refs/keytree/fetched/\(place)" }
  /// The reference to the last commit that was seen at the remote, to detect a rewritten history (threat T2).
  var seen: String { "refs/keytree/seen/\(place)" }
  /// The remote-tracking reference of git; nil for a remote without a name.
  var tracking: String? { isNamed ? "refs/remotes/\(place)" : nil }

  /// The remote and the branch in the names of references. An address is replaced by its digest, because a reference
  /// can contain neither `:` nor `//` (git-check-ref-format(1)).
  private var place: String {
    let digest = { Hexadecimal.text(ContentDigest(of: Array(name.utf8)).bytes) }
    return "\(isNamed ? name : digest())/\(remoteBranch)"
  }

  /// Finds the remote branch for the branch that is checked out: the configured one. If only a remote is configured, it
  /// is the branch with the same name there; otherwise that in the only remote or in `origin`.
  ///
  /// - Returns: The remote branch; nil if there is none.
  /// - Throws: `detached` if no branch is checked out, and the errors of `Git.run`.
  package static func find(in repository: Repository) throws -> Remote? {
    let git = repository.git
    guard let branch = try repository.branch() else { throw GitError.detached }
    let names = try names(in: git)
    let usual = names.count == 1 ? names[0] : names.first { $0 == "origin" }
    let configured = try git.setting("branch.\(branch).remote").flatMap { ["", "."].contains($0) ? nil : $0 }
    guard let name = configured ?? usual else { return nil }
    let reference = try configured.flatMap { _ in try git.setting("branch.\(branch).merge") }
    return Remote(
      name: name, reference: reference ?? "refs/heads/\(branch)", branch: branch,
      isConfigured: reference != nil,
      isNamed: try names.contains(name) && git.isReference("refs/remotes/\(name)/\(branch)"))
  }

  /// Configures the local branch to use this branch of the remote.
  ///
  /// - Throws: The errors of `Git.run`.
  func configure(_ git: Git) throws {
    try git.run(["config", "--local", "branch.\(branch).remote", name])
    try git.run(["config", "--local", "branch.\(branch).merge", reference])
  }

  /// Returns the names of the remotes in git.
  static func names(in git: Git) throws -> [String] {
    String(decoding: try git.run(["remote"]), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Fetches the branch.
  ///
  /// - Parameter git: Git that may use the network.
  /// - Returns: The last commit of the branch; nil if the branch does not exist in the remote repository.
  /// - Throws: The errors of `RemoteAccess` and of `Git.run`.
  func fetch(_ git: Git) throws -> String? {
    let arguments =
      [
        "-c", "fetch.fsckObjects=true", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head",
        // The remote-tracking reference is not updated here, because the history check needs its old value.
        "--refmap=",
      ]
      + (try RemoteAccess(in: git).program(for: name, pushing: false).map { ["--upload-pack=\($0)"] } ?? [])
      + ["--end-of-options", name]
      + ["+\(reference):\(fetched)"]
    var git = git
    git.memoryLimit = Git.receivingLimit
    let outcome = try git.outcome(of: arguments)
    if outcome.succeeded { return try git.commit(fetched) }
    let message = String(decoding: outcome.errors.prefix(4096), as: UTF8.self)
    if message.contains(bytesOf: "couldn't find remote ref") { return nil }
    throw git.failure(arguments, outcome)
  }

  /// Pushes the local branch.
  ///
  /// - Parameters:
  ///   - commit: The last commit of the branch.
  ///   - git: Git that may use the network.
  /// - Returns: False if the remote branch has moved concurrently.
  /// - Throws: The errors of `RemoteAccess`, and those of `Git.run`, including the case that the remote refuses the
  ///   commits.
  func push(_ commit: String, _ git: Git) throws -> Bool {
    let access = try RemoteAccess(in: git)
    let arguments =
      // Git pushes no single branch to a mirror.
      (access.isMirror(name) ? ["-c", "remote.\(name).mirror=false"] : [])
      + ["push", "--quiet", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no"]
      + (try access.program(for: name, pushing: true).map { ["--receive-pack=\($0)"] } ?? [])
      + ["--end-of-options", name, "\(commit):\(reference)"]
    let outcome = try git.outcome(of: arguments)
    if outcome.succeeded {
      if !isConfigured { try configure(git) }
      return true
    }
    let lines = String(decoding: outcome.output, as: UTF8.self).split(separator: "\n")
    if lines.contains(where: { $0.hasPrefix("!") && $0.contains(bytesOf: "[rejected]") }) { return false }
    // If two clones push at the same moment, one of them finds the reference locked or changed.
    let refusals = lines.filter { $0.hasPrefix("!") && $0.contains(bytesOf: "[remote rejected]") }
    let isRace = { (line: Substring) in
      ["failed to update ref", "cannot lock ref", "incorrect old value provided"].contains {
        line.contains(bytesOf: $0)
      }
    }
    if !refusals.isEmpty, refusals.allSatisfy(isRace) { return false }
    if let refusal = refusals.first {
      // `!`, a tab, the two references, a tab, and the reason; a hook of the remote writes its own to standard error.
      let words = String(refusal.split(separator: "\t").last ?? refusal)
      let reason = FailureReason.text(in: outcome.errors)
      throw GitError.failed(
        command: "push", status: 1, message: reason.isEmpty ? words : "\(words); \(reason)")
    }
    throw git.failure(arguments, outcome)
  }

  /// The name of the branch in the remote repository.
  package var remoteBranch: String { Self.short(reference) }

  private static func short(_ reference: String) -> String {
    reference.hasPrefix("refs/heads/") ? String(reference.dropFirst("refs/heads/".count)) : reference
  }
}
