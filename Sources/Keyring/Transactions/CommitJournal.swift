internal import KeyringModel

/// The changes to a store that are not in its history yet.
///
/// A transaction appends a line to `.keytree/uncommitted` when it is applied; `.keytree/committed` contains the number
/// of transactions in the history. Neither file is flushed to disk, but the number of the last transaction is
/// (``TransactionCount``). If anything is missing or inconsistent, the whole store is compared with its history. A
/// store without `.keytree/committed` has no history, or no known history, and no journal is kept.
package struct CommitJournal: Sendable {
  /// One transaction.
  package struct Entry: Equatable, Sendable {
    /// The transaction count of the store after this transaction.
    package var count: UInt64
    /// The files that it placed or removed, except those that never leave this machine.
    package var paths: [String]
    /// Its commit subject: one line without a secret.
    package var subject: String
  }

  /// The state of the history.
  package struct Marker: Equatable, Sendable {
    /// The number of transactions in the history.
    package var count: UInt64
    /// The identifier of the repository, chosen by the caller.
    package var repository: String
    /// The hash algorithm of the repository.
    package var hash: GitHash
    /// True if a commit was started and it is unknown whether it was completed.
    package var isTrying: Bool

    package init(count: UInt64, repository: String, hash: GitHash, isTrying: Bool = false) {
      (self.count, self.repository, self.hash, self.isTrying) = (count, repository, hash, isTrying)
    }
  }

  /// The changes that are pending for a commit.
  package struct Pending: Equatable, Sendable {
    /// The number of transactions that the store has seen.
    package let count: UInt64
    /// The last marker; nil if there is no readable one.
    package let marker: Marker?
    /// The transactions after the marker; nil if some of them are unknown.
    package let entries: [Entry]?
  }

  private static let journal = "\(StoreLayout.work)/uncommitted"
  private static let marker = "\(StoreLayout.work)/committed"
  private static let temporary = "\(StoreLayout.work)/committed.new"
  /// The maximum number of paths recorded for one transaction. With more, the whole store is compared.
  private static let pathLimit = 20_000
  /// The maximum size of the journal in bytes, so that it does not grow without limit if no commits are made.
  private static let sizeLimit = 8 << 20

  private let tree: FileTree

  /// Creates the journal of a store.
  package init(of tree: FileTree) { self.tree = tree }

  // MARK: Writing

  /// Records a transaction that was applied.
  ///
  /// - Parameters:
  ///   - count: The transaction count of the store after it.
  ///   - paths: All paths that it placed or removed.
  ///   - subject: Its commit subject.
  func append(count: UInt64, paths: [String], subject: String) {
    do throws(FileError) {
      guard try isKept else { return }
      let tracked = Set(paths.filter(StoreLayout.isTracked)).sorted()
      let size = try tree.status(Self.journal)?.size ?? 0
      guard tracked.count <= Self.pathLimit, size < Self.sizeLimit else {
        return try tree.remove(Self.journal)
      }
      let line = Entry(count: count, paths: tracked, subject: subject).line
      try tree.appendFile(Self.journal, line)
    } catch {
      // The change itself is complete. The gap in the journal causes a comparison of the whole store.
    }
  }

  /// A Boolean value that indicates whether transactions are recorded.
  var isKept: Bool {
    get throws(FileError) { try tree.status(Self.marker) != nil }
  }

  /// Records that a commit is about to be made. Until `finish`, the content of the history is unknown.
  ///
  /// - Parameter repository: The repository in which the commit is made.
  /// - Throws: A file error.
  package func begin(in repository: String) throws(KeyringError) {
    guard var marker = try readMarker(), marker.repository == repository else {
      return try files(tree.remove(Self.marker))
    }
    marker.isTrying = true
    try write(marker)
  }

  private func write(_ marker: Marker) throws(KeyringError) {
    let bytes = marker.bytes
    try files { () throws(FileError) in
      try tree.replaceFileLater(Self.marker, with: bytes, temporary: Self.temporary)
    }
  }

  /// Records that all transactions up to a count are in the history, and truncates the journal. Takes the store's lock.
  ///
  /// - Throws: `KeyringError.busy`, or a file error.
  package func finish(_ marker: Marker, timeout: Double) throws(KeyringError) {
    let lock = try StoreLock(tree, timeout: timeout)
    defer { withExtendedLifetime(lock) {} }
    // Transactions are recorded from now on, so the count has to survive a power cut from the beginning.
    try files { () throws(FileError) in
      if try TransactionCount.noted(in: tree) < marker.count {
        try TransactionCount.note(marker.count, in: tree)
        try tree.synchronizeDirectory(StoreLayout.work)
      }
    }
    try write(marker)
    let rest = try readEntries().filter { $0.count > marker.count }
    try files { () throws(FileError) in
      try tree.remove(Self.journal)
      if !rest.isEmpty { try tree.appendFile(Self.journal, rest.flatMap(\.line)) }
    }
  }

  /// Makes the next commit compare the whole store with its history, as after changes outside of transactions.
  ///
  /// - Throws: A file error.
  func forget() throws(KeyringError) {
    guard try readMarker() != nil else { return }
    try files(tree.remove(Self.journal))
  }

  // MARK: Reading

  /// Returns true if no change is pending for a commit, as far as can be determined without a lock.
  ///
  /// - Parameter repository: The repository.
  /// - Throws: A file error.
  package func isSettled(for repository: String) throws(KeyringError) -> Bool {
    guard let marker = try readMarker(), !marker.isTrying, marker.repository == repository else {
      return false
    }
    return try readCount() == marker.count
  }

  /// Returns true if a file may have a content that is not in the history, because a pending transaction has placed it
  /// or it is unknown which transactions are pending. The caller holds the store's lock.
  ///
  /// While a commit is being made, or after it was interrupted, its transactions count as pending.
  ///
  /// - Parameters:
  ///   - paths: The paths of the files.
  ///   - repository: The repository.
  /// - Returns: nil if nothing is known about the history in this repository, which may not even track the store.
  /// - Throws: A file error.
  func isPending(_ paths: Set<String>, for repository: String) throws(KeyringError) -> Bool? {
    guard let marker = try readMarker(), marker.repository == repository else { return nil }
    let count = try readCount()
    if count == marker.count { return false }
    guard let entries = try entries(after: marker.count, upTo: count) else { return true }
    return entries.contains { entry in entry.paths.contains(where: paths.contains) }
  }

  /// Returns the number of transactions that are pending for a commit; nil if it is unknown.
  ///
  /// - Throws: A file error.
  package func waiting(for repository: String) throws(KeyringError) -> Int? {
    guard let marker = try readMarker(), marker.repository == repository else { return nil }
    let count = try readCount()
    guard count >= marker.count else { return nil }
    return Int(clamping: count - marker.count)
  }

  /// Calls a closure under the store's lock, after finishing an interrupted transaction.
  ///
  /// - Parameters:
  ///   - timeout: The longest time to wait for writers, in seconds.
  ///   - body: Receives the pending changes.
  /// - Throws: `KeyringError.busy`, the errors of finishing a transaction, a file error, or the error of `body`.
  package func withLock<R>(
    timeout: Double, _ body: (Pending) throws -> R
  ) throws -> R {
    let lock = try StoreLock(tree, timeout: timeout)
    defer { withExtendedLifetime(lock) {} }
    try Transaction.recover(in: tree, under: lock)
    let (count, marker) = (try readCount(), try readMarker())
    return try body(
      Pending(count: count, marker: marker, entries: try entries(after: marker?.count, upTo: count)))
  }

  /// Returns the transactions between two counts; nil if the journal lacks one of them.
  private func entries(after first: UInt64?, upTo last: UInt64) throws(KeyringError) -> [Entry]? {
    guard let first, first <= last else { return nil }
    let found = try readEntries().filter { $0.count > first && $0.count <= last }
    guard UInt64(found.count) == last - first else { return nil }
    for (entry, count) in zip(found, first + 1...last + 1) where entry.count != count { return nil }
    return found
  }

  private func readCount() throws(KeyringError) -> UInt64 { try files(TransactionCount.current(in: tree)) }

  /// Returns the marker; nil also if a crash or another program has damaged it.
  package func readMarker() throws(KeyringError) -> Marker? {
    try files(tree.read(Self.marker, limit: 1 << 12)).flatMap { Marker(parsing: $0) }
  }

  /// Returns all entries up to the first one that cannot be read.
  private func readEntries() throws(KeyringError) -> [Entry] {
    // The last entry may have been appended just below the limit.
    let bytes = try files(tree.read(Self.journal, limit: 2 * Self.sizeLimit)) ?? []
    var entries: [Entry] = []
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let entry = Entry(parsing: Array(line)) else { break }
      entries.append(entry)
    }
    return entries
  }
}

extension CommitJournal.Entry {
  /// The line of the journal, with its line feed.
  fileprivate var line: [UInt8] {
    let value = JSONValue.object([
      JSONMember("count", .integer(Int64(clamping: count))),
      JSONMember("paths", .array(paths.map { .string($0) })),
      JSONMember("subject", .string(subject)),
    ])
    return value.canonicalBytes + [UInt8(ascii: "\n")]
  }

  /// Parses a line. Rejects lines that this program does not write, because the folder may have been copied from
  /// elsewhere and the content ends up in a commit.
  fileprivate init?(parsing line: [UInt8]) {
    let limits = JSONLimits(size: line.count, depth: 4)
    // The reason does not matter, since the whole store is then compared.
    guard let value = try? JSONValue(parsing: line, limits: limits),
      case .integer(let count) = value["count"],
      case .array(let list) = value["paths"], let subject = value.text("subject"), count >= 0
    else { return nil }
    let paths = list.compactMap { if case .string(let path) = $0 { path } else { nil } }
    let isPlain = subject.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
    guard isPlain, paths.count == list.count, paths.allSatisfy(StoreLayout.isTracked) else { return nil }
    self.init(count: UInt64(count), paths: paths, subject: subject)
  }
}

extension CommitJournal.Marker {
  fileprivate var bytes: [UInt8] {
    let value = JSONValue.object([
      JSONMember("count", .integer(Int64(clamping: count))), JSONMember("hash", .string(hash.rawValue)),
      JSONMember("repository", .string(repository)), JSONMember("trying", .bool(isTrying)),
    ])
    return value.canonicalBytes + [UInt8(ascii: "\n")]
  }

  fileprivate init?(parsing bytes: [UInt8]) {
    let limits = JSONLimits(size: bytes.count, depth: 2)
    guard let value = try? JSONValue(parsing: bytes, limits: limits),
      case .integer(let count) = value["count"],
      case .bool(let isTrying) = value["trying"], let repository = value.text("repository"),
      let hash = value.text("hash").flatMap({ GitHash(rawValue: $0) }), count >= 0
    else { return nil }
    self.init(count: UInt64(count), repository: repository, hash: hash, isTrying: isTrying)
  }
}
