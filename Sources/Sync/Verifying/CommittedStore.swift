internal import Glibc
package import Keyring
package import KeyringModel

/// The files of a store in a commit, extracted from the repository without a checkout, so that no attribute, filter or
/// setting can change or hide any of them.
package struct CommittedStore {
  /// The files that do not belong in a store and were not written.
  package private(set) var findings: [Finding] = []
  /// The folder with the files.
  package let folder: String

  /// The maximum number of files and of bytes that are read at once.
  private static let portion = (files: 8192, bytes: 32 << 20)

  /// Extracts the files.
  ///
  /// - Parameters:
  ///   - commit: The name of the commit.
  ///   - repository: The repository that contains the commit.
  ///   - policy: The policy that determines which other files are allowed; nil if there is no trusted policy.
  ///   - folder: A folder that does not exist yet, in a folder of this user. The caller removes it.
  /// - Throws: The errors of `Git.run`, and `KeyringError` with a file error.
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
    // For files that are not part of the store only the names are checked, so they are written without content.
    for entry in entries where !StoreLayout.isTracked(entry.path) { try write(entry, [], to: tree) }
    let objects = ObjectReader(git: repository.git)
    try copy(readable(entries, objects), from: objects, to: tree)
  }

  /// Returns the files of the store that are not too large to be read.
  ///
  /// - Throws: `tooLarge`; the errors of `Git.run`.
  private mutating func readable(
    _ entries: [CommittedTree.Entry], _ objects: ObjectReader
  ) throws -> [CommittedTree.Entry] {
    var readable: [CommittedTree.Entry] = []
    for entry in entries where StoreLayout.isTracked(entry.path) {
      if entry.size <= StoreLayout.sizeLimit(of: entry.path) { readable.append(entry) }
    }
    let isShard = { (entry: CommittedTree.Entry) in entry.path.hasPrefix("\(StoreLayout.index)/") }
    try ObjectReader.requireProportion(objects.infos(of: readable.filter { !isShard($0) }.map(\.name)).values)
    // A shard takes little space in the repository, because it differs little from its previous version. So its size is
    // compared with that of the records instead, whose lines it consists of.
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
      // A duplicate name, or a file and a folder with the same name. Git does not create such trees, but an attacker
      // can.
      case .system(EEXIST), .system(ENOTDIR), .system(EISDIR), .system(ENAMETOOLONG), .notARegularFile:
        findings.append(Finding(entry.path, .stray(.name)))
      default: throw error
      }
    }
  }
}
