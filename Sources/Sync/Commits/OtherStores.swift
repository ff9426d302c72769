internal import Keyring

extension Repository {
  /// Returns the folders of other stores in git's index, sorted. A folder with a policy and the signature of a policy
  /// is a store.
  ///
  /// Two stores in one repository conflict: each treats the files of the other one as files that do not belong to it,
  /// and merges them as ordinary text.
  ///
  /// - Returns: Paths relative to the top of the work tree; the top itself is the empty path.
  /// - Throws: The errors of `Git.run`.
  package func otherStores() throws -> [String] {
    var git = git
    git.takesPathsLiterally = false
    let patterns = [StoreLayout.policy, StoreLayout.policySignature].map { ":(top,glob)**/\($0)" }
    let listed = try git.records(["ls-files", "-z", "--cached", "--"] + patterns)
    let names = policyNames(listed.map { String(decoding: $0, as: UTF8.self) })
    return names.policies.intersection(names.signatures).subtracting([ownFolder]).sorted().filter { folder in
      // A clone does not check out files that were pushed into the store's own folder and do not belong there.
      Self.exists("\(top)/\(Self.path(folder, StoreLayout.policy))")
    }
  }

  /// Returns the folders of other stores in a commit that are new or changed since another commit. Folders within the
  /// store are not included: their files are refused individually and must not block the rest of the commit.
  ///
  /// - Parameters:
  ///   - commit: The commit.
  ///   - base: The commit whose files were already checked; nil for none.
  /// - Returns: Paths relative to the top of the work tree, sorted.
  /// - Throws: `tooManyFiles`; the errors of `Git.run`.
  package func otherStores(in commit: String, since base: String?) throws -> [String] {
    // All folders are within the store.
    if prefix.isEmpty { return [] }
    let start = if let base { base } else { try hash().emptyTree }
    let changes = try TreeDifference(from: start, to: commit, in: git)
    try changes.requireAllFiles(outside: prefix)
    let changed = policyNames(changes.entries.filter { $0.value.name != nil }.keys)
    let folders = changed.policies.union(changed.signatures).subtracting([ownFolder])
      .filter { !"\($0)/".hasPrefix(prefix) }.sorted()
    // Possibly only one of the two files has changed, so both are looked up. More folders than the limit are refused
    // without this lookup.
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

  /// Throws an error if git's index contains other stores.
  ///
  /// - Throws: `GitError`; `anotherStore`.
  package func refuseOtherStores() throws {
    try refuse { try otherStores() }
  }

  /// Throws an error if a commit contains other stores.
  ///
  /// - Throws: `GitError`; `anotherStore`.
  func refuseOtherStores(in commit: String, since base: String?) throws {
    try refuse { try otherStores(in: commit, since: base) }
  }

  private func refuse(_ find: () throws -> [String]) throws {
    let folders: [String] = try find()
    if let folder = folders.first { throw SyncError.anotherStore(folder: folder) }
  }

  private static let mostFolders = 64

  /// The folder of the store, relative to the top of the work tree.
  private var ownFolder: String { String(prefix.dropLast()) }

  private static func path(_ folder: String, _ name: String) -> String {
    folder.isEmpty ? name : "\(folder)/\(name)"
  }

  /// Returns the folders that contain policies and signatures of policies, according to a list of files.
  private func policyNames(_ paths: some Sequence<String>) -> (policies: Set<String>, signatures: Set<String>)
  {
    var found: (policies: Set<String>, signatures: Set<String>) = ([], [])
    for path in paths {
      let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
      if path == Self.path(folder, StoreLayout.policy) { found.policies.insert(folder) }
      if path == Self.path(folder, StoreLayout.policySignature) { found.signatures.insert(folder) }
    }
    return found
  }
}
