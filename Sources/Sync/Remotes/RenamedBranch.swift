internal import Encoding

/// The branch of a remote after it was renamed.
extension Remote {
  /// Finds the new name of this branch, which no longer exists on the remote, and configures the local branch to use it.
  ///
  /// It is the branch that the remote's `HEAD` names, if that has all commits that were seen. Anything else would be a
  /// branch that has lost commits; only if the user accepts that, a common ancestor suffices.
  ///
  /// - Parameters:
  ///   - known: The last known commits of this branch.
  ///   - acceptsRewritten: True if the branch may have lost commits.
  ///   - git: Git in the repository.
  ///   - network: Git that may use the network.
  /// - Returns: The branch and its last commit; nil if it was not renamed.
  /// - Throws: `commitTooLarge`; the errors of `RemoteAccess` and of `Git.run`.
  func renamed(
    after known: [String], acceptsRewritten: Bool, _ git: Git, _ network: Git
  ) throws -> (Remote, tip: String)? {
    guard !known.isEmpty, let renamed = try defaultBranch(network), let tip = try renamed.fetch(network)
    else { return nil }
    try renamed.refuseLargeCommits(in: tip, git)
    let isSame = try known.allSatisfy { seen in
      try git.isAncestor(seen, of: tip)
        || acceptsRewritten && !git.mergeBases(seen, tip).isEmpty
    }
    guard isSame else { return nil }
    // The new name must not be configured without a known commit, which a later run compares with the remote.
    try git.run(["update-ref", renamed.seen, tip])
    try renamed.configure(git)
    return (renamed, tip)
  }

  /// Returns the branch that the remote's `HEAD` names, if it is another one: after a branch was renamed on a server,
  /// `HEAD` names it by its new name.
  ///
  /// - Parameter git: Git that may use the network.
  /// - Returns: The branch; nil if `HEAD` names this one, no branch, or one that does not exist.
  /// - Throws: The errors of `RemoteAccess` and of `Git.run`.
  private func defaultBranch(_ git: Git) throws -> Remote? {
    let output = try git.run(
      ["ls-remote", "--quiet", "--symref"]
        + (try RemoteAccess(in: git).program(for: name, pushing: false).map { ["--upload-pack=\($0)"] } ?? [])
        + ["--end-of-options", name, "HEAD"])
    // `ref: refs/heads/NAME`, a tab, and `HEAD`.
    let mark = "ref: "
    let lines = output.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    guard let line = lines.first(where: { $0.hasPrefix("\(mark)refs/heads/") && $0.hasSuffix("\tHEAD") })
    else { return nil }
    let head = String(line.dropFirst(mark.count).dropLast("\tHEAD".count))
    // The server can send any text, for example a pattern of references.
    guard head != reference, try git.isReference(head) else { return nil }
    return Remote(name: name, reference: head, branch: branch, isConfigured: false, isNamed: isNamed)
  }
}
