extension Git {
  /// The maximum size of a commit, in bytes. It leaves room for any message and any signature.
  static let commitSizeLimit = 1 << 20

  /// Throws an error if a commit is too large. A hundred kilobytes of a pack can contain a message of gigabytes, which
  /// git expands whenever it reads the commit (threat T46).
  ///
  /// - Parameters:
  ///   - tips: The commits whose histories are checked, as arguments of `git rev-list`.
  ///   - known: A reference whose history was checked before; nil for none. It need not exist.
  /// - Throws: `commitTooLarge`; the errors of `Git.run`.
  func refuseLargeCommits(_ tips: [String], besides known: String?) throws {
    var git = self
    git.memoryLimit = Git.receivingLimit
    let known = try known.flatMap { try git.commit($0) }
    let names = try git.query(["rev-list"] + tips + (known.map { ["^\($0)"] } ?? []) + ["--"], limit: 1 << 28)
    if names.isEmpty { return }
    let output = try git.query(
      ["cat-file", "--buffer", "--batch-check=%(objectname) %(objectsize)"], input: names, limit: 1 << 28)
    for line in output.split(separator: UInt8(ascii: "\n")) {
      let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
      guard words.count == 2, let size = Int(words[1]) else {
        throw GitError.unexpectedOutput(command: "cat-file")
      }
      guard size <= Self.commitSizeLimit else {
        throw SyncError.commitTooLarge(commit: words[0], size: size, limit: Self.commitSizeLimit)
      }
    }
  }
}

extension Remote {
  /// Throws an error if a fetched commit is too large. No reference of this clone has it then.
  ///
  /// - Parameters:
  ///   - theirs: The last commit that was fetched.
  ///   - git: Git in the repository.
  /// - Throws: `commitTooLarge`; the errors of `Git.run`.
  func refuseLargeCommits(in theirs: String, _ git: Git) throws {
    do {
      try git.refuseLargeCommits([theirs], besides: "refs/heads/\(branch)")
    } catch let error as SyncError {
      try git.run(["update-ref", "-d", fetched])
      throw error
    }
  }
}
