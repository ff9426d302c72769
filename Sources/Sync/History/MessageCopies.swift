package import Keyring
internal import KeyringModel

/// The files of other programs that are copies: another file in the store or its history has the same encrypted data.
///
/// A program that stores a secret encrypts it anew. A person who cannot read a file can copy its encrypted data, also
/// with further recipients, and the member who adopts the copy would encrypt the secret for them.
package struct MessageCopies {
  /// The origin of a copy.
  package enum Origin: Sendable, Equatable {
    /// Another file, with its path in the store.
    case file(String)
    /// An earlier version of the same file.
    case earlierVersion
  }

  /// The number of contents that are read with one process.
  private static let pieceCount = 4096
  /// The maximum size of a list of changes in bytes, enough for about a million changes.
  private static let limit = 1 << 28

  private var origins: [String: Origin] = [:]

  /// Compares files with all encrypted files of the store and of its history, on any branch or reflog.
  ///
  /// - Parameters:
  ///   - files: The files. One that has changed since is not a copy.
  ///   - keyring: The store.
  ///   - repository: The repository of the store; nil if it does not use git.
  /// - Throws: The errors of `Git.run`; `KeyringError` if a file of the store cannot be read.
  package init(among files: [ForeignFile], of keyring: Keyring, in repository: Repository?) throws {
    let messages = try files.compactMap { file in
      try keyring.message(of: file).flatMap { keyring.storedMessage($0, at: file.path) }
    }
    if messages.isEmpty { return }
    let wanted = Set(messages.map(\.container))
    var known = try keyring.storedMessages().filter { wanted.contains($0.container) }
    var recorded: Set<ContentDigest> = Set(files.compactMap { $0.item?.sealed })
    if let repository {
      let history = try ChangedContents(in: repository, limit: Self.limit)
      known += try Self.messages(history, wanted, keyring, repository)
      recorded.formUnion(try Self.digests(inRecordsOf: messages, history, repository))
    }
    let others = Dictionary(grouping: known, by: \.container)
    for message in messages {
      origins[message.path] = Self.origin(of: message, among: others[message.container] ?? [], recorded)
    }
  }

  /// Returns the origin of a copy; nil for a file that is not a copy.
  package func origin(of file: ForeignFile) -> Origin? { origins[file.path] }

  private static func origin(
    of message: StoredMessage, among others: [StoredMessage], _ recorded: Set<ContentDigest>
  ) -> Origin? {
    if recorded.contains(message.digest) { return .earlierVersion }
    for other in others.sorted(by: { $0.path < $1.path }) {
      // A merge has stored the file of another program at a second path.
      let isSamePlace =
        other.path == message.path || SecondPath.relates(other.path, message.path, message.digest)
      if isSamePlace, other.digest == message.digest { continue }
      return other.path == message.path ? .earlierVersion : .file(other.path)
    }
    return nil
  }

  /// Returns the encrypted files in the history that have some encrypted data.
  private static func messages(
    _ history: ChangedContents, _ wanted: Set<ContentDigest>, _ keyring: Keyring, _ repository: Repository
  ) throws -> [StoredMessage] {
    let objects = ObjectReader(git: repository.git)
    let names = history.paths.filter { $0.value.contains { $0.hasSuffix(StoreLayout.secretExtension) } }.keys
      .sorted()
    let starts = Array(stride(from: 0, to: names.count, by: pieceCount))
    let found = try WorkerPool(workers: 0).map(starts.count) { number in
      var found: [(name: String, message: StoredMessage)] = []
      let piece = names[starts[number]..<min(starts[number] + pieceCount, names.count)]
      try objects.forEachContent(of: piece, limit: StoreLayout.sealedItemLimit) { name, content in
        guard let message = keyring.storedMessage(Array(content), at: ""), wanted.contains(message.container)
        else { return }
        found.append((name, message))
      }
      return found
    }
    return found.flatMap { $0 }.flatMap { name, message in
      (history.paths[name] ?? []).map { path in
        StoredMessage(path: path, digest: message.digest, container: message.container)
      }
    }
  }

  /// Returns the digests of encrypted files in all records that the items of some files have ever had. The records do
  /// not have to be verified, because a digest in them only prevents an adoption.
  private static func digests(
    inRecordsOf messages: [StoredMessage], _ history: ChangedContents, _ repository: Repository
  ) throws -> Set<ContentDigest> {
    let items = messages.flatMap { message in
      [StoreLayout.itemPath(ofFile: message.path), SecondPath.item(of: message.path, message.digest)]
    }.compactMap { $0 }
    let records = Set(items.map { StoreLayout.recordFile($0, isLocal: false) })
    let names = history.paths.filter { !records.isDisjoint(with: $0.value) }.keys
    let contents = try ObjectReader(git: repository.git).contents(
      of: names, limit: StoreLayout.recordFileLimit)
    return Set(contents.values.compactMap { ItemRecord(firstLineOf: $0)?.sealed })
  }
}

/// The contents that the files of items and conflict copies have ever had, on any branch or reflog, with all their
/// paths.
struct ChangedContents {
  /// The paths in the store by object name.
  private(set) var paths: [String: Set<String>] = [:]

  /// Reads the list of all changes.
  ///
  /// - Parameters:
  ///   - repository: The repository of the store.
  ///   - limit: The maximum size of the list in bytes.
  /// - Throws: The errors of `Git.run`.
  init(in repository: Repository, limit: Int) throws {
    let folders = [StoreLayout.items, StoreLayout.conflicts].map { repository.prefix + $0 }
    let commits = try repository.git.run(
      ["rev-list", "--full-history"] + ObjectReader.everywhere + ["--"] + folders, limit: limit)
    let names = commits.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    try CommitBatches.forEach(of: names[...]) { names, walks in
      if walks {
        for name in names { try walk(name, below: folders, repository) }
      } else {
        try list(names, below: folders, repository, limit: limit)
      }
    }
  }

  private mutating func list(
    _ names: ArraySlice<String>, below folders: [String], _ repository: Repository, limit: Int
  ) throws {
    let records = try repository.git.records(
      ["diff-tree", "--stdin", "-r", "-m", "--root", "--raw", "-z", "--no-renames", "--no-commit-id", "--"]
        + folders, input: names.flatMap { Array("\($0)\n".utf8) }, limit: limit,
      memoryLimit: Git.shortListMemoryLimit)
    guard records.count.isMultiple(of: 2) else { throw GitError.unexpectedOutput(command: "diff-tree") }
    for number in stride(from: 0, to: records.count, by: 2) {
      // `:<old mode> <new mode> <old name> <new name> <status>`, and the path.
      let words = records[number].split(separator: UInt8(ascii: " "))
      guard words.count == 5, words[0].first == UInt8(ascii: ":") else {
        throw GitError.unexpectedOutput(command: "diff-tree")
      }
      let path = String(decoding: records[number + 1], as: UTF8.self)
      for name in words[2...3] { add(String(decoding: name, as: UTF8.self), path, repository.prefix) }
    }
  }

  /// Looks at a commit that names too many files for git. Of a folder that names too many, only the first ones are
  /// compared: such a commit is refused, and no file of it is adopted.
  private mutating func walk(_ commit: String, below folders: [String], _ repository: Repository) throws {
    for changes in try TreeDifference.walks(to: commit, in: repository) {
      for (path, entry) in changes.entries where folders.contains(where: { path.hasPrefix("\($0)/") }) {
        add(entry.oldName, path, repository.prefix)
        if let name = entry.name { add(name, path, repository.prefix) }
      }
    }
  }

  private mutating func add(_ name: String, _ path: String, _ prefix: String) {
    // Zeros mean that there is no file.
    guard path.hasPrefix(prefix), name.utf8.contains(where: { $0 != UInt8(ascii: "0") }) else { return }
    paths[name, default: []].insert(String(path.dropFirst(prefix.count)))
  }
}
