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
    let prefix = repository.prefix
    let records: [ArraySlice<UInt8>] = try repository.git.records(
      ["ls-tree", "-r", "-l", "-z", "--full-tree", commit, "--"] + (prefix.isEmpty ? [] : [prefix]))
    for record in records {
      // `<mode> <type> <name> <size>`, a tab, and the path.
      guard let tab = record.firstIndex(of: UInt8(ascii: "\t")) else {
        throw GitError.unexpectedOutput(command: "ls-tree")
      }
      let words = record[..<tab].split(separator: UInt8(ascii: " ")).map {
        String(decoding: $0, as: UTF8.self)
      }
      guard words.count == 4 else { throw GitError.unexpectedOutput(command: "ls-tree") }
      let bytes = record[(tab + 1)...].dropFirst(prefix.utf8.count)
      let path = String(validating: bytes, as: UTF8.self)
      if let reason = allowed.reason(path, mode: words[0]) {
        findings.append(Finding(path ?? String(decoding: bytes, as: UTF8.self), .stray(reason)))
      } else if let path {
        let size = Int(words[3]) ?? .max
        let limit = StoreLayout.sizeLimit(of: path)
        if size > limit { findings.append(Finding(path, .damaged(.tooLarge(limit: limit)))) }
        entries.append(Entry(path: path, name: words[2], size: size))
      }
    }
  }
}
