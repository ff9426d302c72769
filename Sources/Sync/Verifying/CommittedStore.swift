internal import Glibc
package import Keyring

/// The files of a store as a commit has them, taken out of the repository without a checkout: no attribute, filter or
/// setting changes or hides any.
package struct CommittedStore {
  /// What has no place in a store and was not written.
  package private(set) var findings: [Finding] = []
  /// The folder with the files.
  package let folder: String

  /// The most bytes of all files together.
  package static let sizeLimit = 1 << 30
  /// How many files, and bytes, are read at once.
  private static let portion = (files: 8192, bytes: 32 << 20)
  /// The most bytes of the list of files.
  private static let listLimit = 1 << 28

  private struct Entry {
    let path: String
    let name: String
    let size: Int
  }

  /// Writes the files.
  ///
  /// - Parameters:
  ///   - commit: The name of the commit.
  ///   - repository: Where it is.
  ///   - folder: A folder that does not exist yet, in one of this user's own; whoever names it removes it.
  /// - Throws: as `Git.run`, and `keyring` with a file error.
  package init(of commit: String, in repository: Repository, to folder: String) throws(SyncError) {
    self.folder = folder
    let entries = try list(commit, repository)
    guard unsafe mkdir(folder, 0o700) == 0 else {
      throw .keyring(.file(FileError("make", folder, .system(errno))))
    }
    let tree: FileTree
    do throws(FileError) {
      tree = try FileTree(at: folder)
    } catch {
      throw .keyring(.file(error))
    }
    // Of what is no part of a store only the names count.
    for entry in entries where !StoreLayout.isTracked(entry.path) { try write(entry, [], to: tree) }
    try copy(readable(entries), from: ObjectReader(git: repository.git), to: tree)
  }

  private mutating func list(_ commit: String, _ repository: Repository) throws(SyncError) -> [Entry] {
    let prefix = repository.prefix
    let records: [ArraySlice<UInt8>]
    do throws(GitError) {
      records = try repository.git.records(
        ["ls-tree", "-r", "-l", "-z", "--full-tree", commit, "--"] + (prefix.isEmpty ? [] : [prefix]),
        limit: Self.listLimit)
    } catch {
      throw .git(error)
    }
    var entries: [Entry] = []
    for record in records {
      // `<mode> <type> <name> <size>`, a tab, and the path.
      guard let tab = record.firstIndex(of: UInt8(ascii: "\t")) else {
        throw .git(.unexpectedOutput(command: "ls-tree"))
      }
      let words = record[..<tab].split(separator: UInt8(ascii: " ")).map {
        String(decoding: $0, as: UTF8.self)
      }
      guard words.count == 4 else { throw .git(.unexpectedOutput(command: "ls-tree")) }
      let bytes = record[(tab + 1)...].dropFirst(prefix.utf8.count)
      let path = String(validating: bytes, as: UTF8.self)
      if let reason = CommittedPath.reason(path, mode: words[0]) {
        findings.append(Finding(path ?? String(decoding: bytes, as: UTF8.self), .stray(reason)))
      } else if let path {
        entries.append(Entry(path: path, name: words[2], size: Int(words[3]) ?? .max))
      }
    }
    return entries
  }

  /// The files of the store that are not too large to be read.
  private mutating func readable(_ entries: [Entry]) -> [Entry] {
    var total = 0
    var readable: [Entry] = []
    for entry in entries where StoreLayout.isTracked(entry.path) {
      guard entry.size <= StoreFiles.sizeLimit, total <= Self.sizeLimit - entry.size else {
        findings.append(Finding(entry.path, .damaged(.tooLarge(limit: StoreFiles.sizeLimit))))
        continue
      }
      total += entry.size
      readable.append(entry)
    }
    return readable
  }

  private mutating func copy(
    _ entries: [Entry], from objects: ObjectReader, to tree: FileTree
  ) throws(SyncError) {
    var rest = entries[...]
    while !rest.isEmpty {
      var size = 0
      let portion = rest.prefix(Self.portion.files).prefix { entry in
        defer { size += entry.size }
        return size == 0 || size + entry.size <= Self.portion.bytes
      }
      rest = rest.dropFirst(portion.count)
      let contents = try objects.contents(of: Set(portion.map(\.name)))
      for entry in portion {
        guard let bytes = contents[entry.name] else {
          throw .git(.unexpectedOutput(command: "cat-file"))
        }
        try write(entry, bytes, to: tree)
      }
    }
  }

  private mutating func write(_ entry: Entry, _ bytes: [UInt8], to tree: FileTree) throws(SyncError) {
    do throws(FileError) {
      try tree.createFile(entry.path, bytes, isSynchronized: false)
    } catch {
      switch error.reason {
      // A name twice, or a file in place of a folder: git has no such trees, but somebody could make one.
      case .system(EEXIST), .system(ENOTDIR), .system(EISDIR), .system(ENAMETOOLONG), .notARegularFile:
        findings.append(Finding(entry.path, .stray(.name)))
      default: throw .keyring(.file(error))
      }
    }
  }
}
