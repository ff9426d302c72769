internal import Keyring

/// A list of the files of a store in a commit.
struct CommittedTree {
  /// A file that is allowed in a store.
  struct Entry {
    /// The path in the store.
    let path: String
    /// The object name of its content.
    let name: String
    /// The size in bytes.
    let size: Int
  }

  /// The files that are allowed.
  private(set) var entries: [Entry] = []
  /// The files that do not belong in a store.
  private(set) var findings: [Finding] = []

  /// Lists the files.
  ///
  /// - Parameters:
  ///   - commit: The name of the commit.
  ///   - repository: The repository that contains the commit.
  ///   - allowed: The files that are allowed in the store.
  /// - Throws: The errors of `Git.run`.
  init(of commit: String, in repository: Repository, _ allowed: AllowedFiles) throws {
    var placed: [(path: String, name: String)] = []
    for file in try Self.files(of: commit, in: repository, allowed) {
      let path = String(validating: file.path, as: UTF8.self)
      if let reason = file.mode.map({ allowed.reason(path, mode: $0) }) ?? .tooManyFiles {
        let shown = path ?? String(decoding: file.path, as: UTF8.self)
        findings.append(Finding(shown, .stray(reason)))
      } else if let path {
        placed.append((path, file.name))
      }
    }
    let sizes = try ObjectReader(git: repository.git).sizes(of: Set(placed.map(\.name)))
    for (path, name) in placed {
      guard let size = sizes[name] else { throw GitError.unexpectedOutput(command: "cat-file") }
      let limit = StoreLayout.sizeLimit(of: path)
      if size > limit { findings.append(Finding(path, .damaged(.tooLarge(limit: limit)))) }
      entries.append(Entry(path: path, name: name, size: size))
    }
  }

  /// Returns the files of the store: the path in the store, the mode and the object name. A folder that names too many
  /// files, which are not listed, has no mode.
  private static func files(
    of commit: String, in repository: Repository, _ allowed: AllowedFiles
  ) throws -> [(path: ArraySlice<UInt8>, mode: String?, name: String)] {
    let prefix = repository.prefix
    let records: [ArraySlice<UInt8>]
    do {
      records = try repository.git.records(
        ["ls-tree", "-r", "-z", "--full-tree", commit, "--"] + (prefix.isEmpty ? [] : [prefix]))
    } catch let error as GitError where error.isAboutLength {
      var changes = try TreeDifference(
        walkingFrom: repository.hash().emptyTree, to: commit, in: repository.git)
      let folders = changes.removeFolders(outside: allowed, below: prefix)
      let files = changes.entries.compactMap { path, entry in
        entry.name.map { (path: Array(path.utf8)[...], mode: String?.some(entry.mode), name: $0) }
      }
      // A name that is not UTF-8 is refused, whatever its mode.
      return (files + changes.unreadable.map { (path: $0, mode: "100644", name: "") })
        .filter { $0.path.starts(with: prefix.utf8) }
        .map { ($0.path.dropFirst(prefix.utf8.count), $0.mode, $0.name) }
        + folders.map { (Array($0.utf8)[...], nil, "") }
    }
    return try records.map { record in
      // `<mode> <type> <name>`, a tab, and the path.
      guard let tab = record.firstIndex(of: UInt8(ascii: "\t")) else {
        throw GitError.unexpectedOutput(command: "ls-tree")
      }
      let words = record[..<tab].split(separator: UInt8(ascii: " ")).map {
        String(decoding: $0, as: UTF8.self)
      }
      guard words.count == 3 else { throw GitError.unexpectedOutput(command: "ls-tree") }
      return (record[(tab + 1)...].dropFirst(prefix.utf8.count), words[0], words[2])
    }
  }
}
