internal import Glibc
package import Keyring
package import KeyringModel

/// The files of a store as a commit has them, taken out of the repository without a checkout: no attribute, filter or
/// setting changes or hides any.
package struct CommittedStore {
  /// The files that do not belong in a store and were not written.
  package private(set) var findings: [Finding] = []
  /// The folder with the files.
  package let folder: String

  /// The largest number of files, and of bytes, that are read in one piece.
  private static let portion = (files: 8192, bytes: 32 << 20)

  /// Writes the files.
  ///
  /// - Parameters:
  ///   - commit: The name of the commit.
  ///   - repository: Where it is.
  ///   - policy: What it says may be beside the store; nil if there is none that is believed.
  ///   - folder: A folder that does not exist yet, in one of this user's own; whoever names it removes it.
  /// - Throws: as `Git.run`, and `KeyringError` with a file error.
  package init(
    of commit: String, in repository: Repository, policy: Policy?, to folder: String
  ) throws {
    self.folder = folder
    let files = try CommittedTree(of: commit, in: repository, AllowedFiles(beside: policy))
    findings = files.findings
    let entries = files.entries
    guard unsafe mkdir(folder, 0o700) == 0 else {
      throw KeyringError.file(FileError("make", folder, .system(errno)))
    }
    let tree = try FileTree(at: folder)
    // Of what is no part of a store only the names count.
    for entry in entries where !StoreLayout.isTracked(entry.path) { try write(entry, [], to: tree) }
    let objects = ObjectReader(git: repository.git)
    try copy(readable(entries, objects), from: objects, to: tree)
  }

  /// The files of the store that are not too large to be read.
  ///
  /// - Throws: `tooLarge`; as `Git.run`.
  private mutating func readable(
    _ entries: [CommittedTree.Entry], _ objects: ObjectReader
  ) throws -> [CommittedTree.Entry] {
    var readable: [CommittedTree.Entry] = []
    for entry in entries where StoreLayout.isTracked(entry.path) {
      if entry.size <= StoreLayout.sizeLimit(of: entry.path) { readable.append(entry) }
    }
    let isShard = { (entry: CommittedTree.Entry) in entry.path.hasPrefix("\(StoreLayout.index)/") }
    try ObjectReader.requireProportion(objects.infos(of: readable.filter { !isShard($0) }.map(\.name)).values)
    // A shard takes little room in the repository, where it differs in little from the one before. It has nothing but
    // lines of records.
    let records = readable.filter { $0.path.hasSuffix(StoreLayout.recordExtension) }
    let limit = ObjectReader.freeSize + records.reduce(0) { $0 + $1.size }
    let shards = readable.filter(isShard).reduce(0) { $0 + $1.size }
    guard shards <= limit else { throw SyncError.tooLarge(size: shards, limit: limit) }
    return readable
  }

  private mutating func copy(
    _ entries: [CommittedTree.Entry], from objects: ObjectReader, to tree: FileTree
  ) throws {
    var rest = entries[...]
    while !rest.isEmpty {
      var size = 0
      let portion = rest.prefix(Self.portion.files).prefix { entry in
        defer { size += entry.size }
        return size == 0 || size + entry.size <= Self.portion.bytes
      }
      rest = rest.dropFirst(portion.count)
      let contents = try objects.contents(of: Set(portion.map(\.name)), limit: StoreFiles.sizeLimit)
      for entry in portion {
        guard let bytes = contents[entry.name] else {
          throw GitError.unexpectedOutput(command: "cat-file")
        }
        try write(entry, bytes, to: tree)
      }
    }
  }

  private mutating func write(_ entry: CommittedTree.Entry, _ bytes: [UInt8], to tree: FileTree)
    throws
  {
    do {
      try tree.createFile(entry.path, bytes, isSynchronized: false)
    } catch {
      switch error.reason {
      // A name twice, or a file in place of a folder: git has no such trees, but somebody could make one.
      case .system(EEXIST), .system(ENOTDIR), .system(EISDIR), .system(ENAMETOOLONG), .notARegularFile:
        findings.append(Finding(entry.path, .stray(.name)))
      default: throw error
      }
    }
  }
}
