package import Keyring

extension Repository {
  /// Puts the files of the store that a clone has fetched in place, and withholds all others from the work tree. The index
  /// of git has them, so that a commit does not remove them.
  ///
  /// - Parameter allowed: What may be in the work tree.
  /// - Throws: As `Git.run`.
  func checkOut(only allowed: AllowedFiles) throws(GitError) {
    try git.run(["read-tree", "HEAD"])
    var withheld: [UInt8] = []
    var executable: [UInt8] = []
    for entry in try indexEntries(below: prefix) {
      let path = String(validating: entry.path, as: UTF8.self)
      guard let reason = allowed.reason(path, mode: entry.mode) else { continue }
      if reason == .executable, let path, StoreLayout.isStoreFile(path) {
        executable += entry.path + [0]
      } else {
        withheld += entry.path + [0]
      }
    }
    if !withheld.isEmpty {
      try git.run(["update-index", "--skip-worktree", "-z", "--stdin"], input: withheld)
    }
    if !executable.isEmpty {
      try git.run(["update-index", "--chmod=-x", "-z", "--stdin"], input: executable)
    }
    try git.run(["checkout-index", "--all", "--index", "--quiet"])
  }

  /// Puts files in place that were withheld from the work tree and may be there now.
  ///
  /// - Parameter allowed: What may be in the work tree.
  /// - Returns: What is still withheld.
  /// - Throws: As `Git.run`, also if something else is in the place of a file.
  package func placeWithheldFiles(
    _ allowed: AllowedFiles
  ) throws(GitError) -> [TrackedStranger] {
    var placed: [UInt8] = []
    var rest: [TrackedStranger] = []
    for entry in try indexEntries(below: prefix) where entry.isWithheld {
      let path = String(validating: entry.path, as: UTF8.self).map { String($0.dropFirst(prefix.count)) }
      if let reason = allowed.reason(path, mode: entry.mode) {
        rest.append(TrackedStranger(path: String(decoding: entry.path, as: UTF8.self), reason: reason))
      } else {
        placed += entry.path + [0]
      }
    }
    if !placed.isEmpty {
      try git.run(["checkout-index", "--ignore-skip-worktree-bits", "-z", "--stdin"], input: placed)
      try git.run(["update-index", "--no-skip-worktree", "-z", "--stdin"], input: placed)
    }
    return rest
  }
}
