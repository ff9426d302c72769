internal import Keyring

extension Repository {
  /// Returns the folders of other stores in the index of git, sorted; the folder of a store has a policy and the
  /// signature
  /// of a policy.
  ///
  /// Each store takes the files of the other one for files that do not belong to it, and merges them as any text.
  ///
  /// - Returns: Paths from the top of the work tree, which is the empty path.
  /// - Throws: As `Git.run`.
  package func otherStores() throws -> [String] {
    let names = try policyNames(["ls-files", "-z", "--cached"])
    return names.policies.intersection(names.signatures).subtracting([ownFolder]).sorted().filter { folder in
      // A clone withholds what a push has brought into the store's own folder.
      Self.exists("\(top)/\(Self.path(folder, StoreLayout.policy))")
    }
  }

  /// Returns the folders of other stores in a commit that another commit does not have as they are. Folders within the
  /// store do not count: their files are refused one by one, and must not keep the rest from coming in.
  ///
  /// - Parameters:
  ///   - commit: The commit.
  ///   - base: The commit whose files were looked at before; nil for none.
  /// - Returns: Paths from the top, sorted.
  /// - Throws: As `Git.run`.
  package func otherStores(in commit: String, since base: String?) throws -> [String] {
    // All folders are within the store.
    if prefix.isEmpty { return [] }
    let start = if let base { base } else { try hash().emptyTree }
    let changed = try policyNames([
      "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=d", start, commit,
    ])
    let folders = changed.policies.union(changed.signatures).subtracting([ownFolder])
      .filter { !"\($0)/".hasPrefix(prefix) }.sorted()
    // Only one of the two files may have changed. So many folders are refused without a further look.
    guard !folders.isEmpty, folders.count <= Self.mostFolders else { return folders }
    let places = folders.flatMap { folder in
      [StoreLayout.policy, StoreLayout.policySignature].map { Self.path(folder, $0) }
    }
    let listed = try git.records(["ls-tree", "-z", "--name-only", "--full-tree", commit, "--"] + places)
    let present = Set(listed.map { String(decoding: $0, as: UTF8.self) })
    return folders.filter { folder in
      [StoreLayout.policy, StoreLayout.policySignature].allSatisfy { present.contains(Self.path(folder, $0)) }
    }
  }

  /// Refuses other stores in the index of git.
  ///
  /// - Throws: `GitError`, and `anotherStore`.
  package func refuseOtherStores() throws {
    try refuse { try otherStores() }
  }

  /// Refuses other stores in a commit.
  ///
  /// - Throws: `GitError`, and `anotherStore`.
  func refuseOtherStores(in commit: String, since base: String?) throws {
    try refuse { try otherStores(in: commit, since: base) }
  }

  private func refuse(_ find: () throws -> [String]) throws {
    let folders: [String] = try find()
    if let folder = folders.first { throw SyncError.anotherStore(folder: folder) }
  }

  private static let mostFolders = 64

  /// The folder of the store, as a path from the top.
  private var ownFolder: String { String(prefix.dropLast()) }

  private static func path(_ folder: String, _ name: String) -> String {
    folder.isEmpty ? name : "\(folder)/\(name)"
  }

  /// The folders that have policies and signatures of policies, as a command of git names the files.
  private func policyNames(
    _ command: [String]
  ) throws -> (policies: Set<String>, signatures: Set<String>) {
    var git = git
    git.takesPathsLiterally = false
    // A tree of a kilobyte can name millions of files, and none of them has to match.
    git.timeout = .seconds(20)
    let patterns = [StoreLayout.policy, StoreLayout.policySignature].map { ":(top,glob)**/\($0)" }
    var found: (policies: Set<String>, signatures: Set<String>) = ([], [])
    for record in try git.records(command + ["--"] + patterns) {
      let path = String(decoding: record, as: UTF8.self)
      let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
      if path == Self.path(folder, StoreLayout.policy) { found.policies.insert(folder) }
      if path == Self.path(folder, StoreLayout.policySignature) { found.signatures.insert(folder) }
    }
    return found
  }
}
