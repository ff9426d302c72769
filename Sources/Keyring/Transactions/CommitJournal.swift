internal import KeyringModel

/// What has changed in a store and is not in its history yet.
///
/// A transaction appends a line to `.keytree/uncommitted` when it is applied; `.keytree/committed` says how many
/// transactions are in the history. Neither is flushed to disk, but the number of the last transaction is
/// (``TransactionCount``): if anything is missing or does not fit together, the whole store is compared with its history.
/// A store without `.keytree/committed` has no history, or none that is known, and no journal is kept.
package struct CommitJournal: Sendable {
  /// One transaction.
  package struct Entry: Equatable, Sendable {
    /// How many transactions the store had seen with this one.
    package var count: UInt64
    /// The files that it placed or removed, without those that stay on this machine.
    package var paths: [String]
    /// What it did, in one line without a secret.
    package var subject: String
  }

  /// Up to where the history goes.
  package struct Marker: Equatable, Sendable {
    /// How many transactions are in it.
    package var count: UInt64
    /// The repository that this is about, as its owner calls it.
    package var repository: String
    /// How it names what is in it.
    package var hash: GitHash
    /// Whether a commit was begun that may or may not have been made.
    package var isTrying: Bool

    package init(count: UInt64, repository: String, hash: GitHash, isTrying: Bool = false) {
      (self.count, self.repository, self.hash, self.isTrying) = (count, repository, hash, isTrying)
    }
  }

  /// What waits for its commit.
  package struct Pending: Equatable, Sendable {
    /// How many transactions the store has seen.
    package let count: UInt64
    /// The last marker; nil when there is none that can be read.
    package let marker: Marker?
    /// The transactions after the marker; nil when they are not all known.
    package let entries: [Entry]?
  }

  private static let journal = "\(StoreLayout.work)/uncommitted"
  private static let marker = "\(StoreLayout.work)/committed"
  private static let temporary = "\(StoreLayout.work)/committed.new"
  /// The most paths of one transaction that are written down; with more, the store is compared as a whole.
  private static let pathLimit = 20_000
  /// The largest journal, in bytes: where nobody commits, it does not grow for ever.
  private static let sizeLimit = 8 << 20

  private let tree: FileTree

  /// The journal of the store in a folder.
  package init(of tree: FileTree) { self.tree = tree }

  // MARK: Writing

  /// Notes a transaction that was applied.
  ///
  /// - Parameters:
  ///   - count: The store's count with it.
  ///   - paths: Everything it placed or removed.
  ///   - subject: What it did.
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
      // The change is made. The gap in the journal shows, and then everything is compared.
    }
  }

  /// A Boolean value that indicates whether transactions are noted.
  var isKept: Bool {
    get throws(FileError) { try tree.status(Self.marker) != nil }
  }

  /// Notes that a commit is about to be made. Until `finish`, nothing is known about what the history has.
  ///
  /// - Parameter repository: The repository that the commit is made in.
  /// - Throws: a file error.
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

  /// Notes that all up to a count is in the history, and cuts the journal; takes the store's lock.
  ///
  /// - Throws: `KeyringError.busy`, or a file error.
  package func finish(_ marker: Marker, timeout: Double) throws(KeyringError) {
    let lock = try StoreLock(tree, timeout: timeout)
    defer { withExtendedLifetime(lock) {} }
    // Transactions are noted from now on. The count has to survive a power cut from the beginning.
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

  /// Lets the next commit compare the whole store with its history, as after changes that no transaction has made.
  ///
  /// - Throws: a file error.
  func forget() throws(KeyringError) {
    guard try readMarker() != nil else { return }
    try files(tree.remove(Self.journal))
  }

  // MARK: Reading

  /// Whether nothing waits, as far as can be seen without a lock.
  ///
  /// - Parameter repository: The repository that is asked about.
  /// - Throws: a file error.
  package func isSettled(for repository: String) throws(KeyringError) -> Bool {
    guard let marker = try readMarker(), !marker.isTrying, marker.repository == repository else {
      return false
    }
    return try readCount() == marker.count
  }

  /// How many transactions wait; nil when that is not known.
  ///
  /// - Throws: a file error.
  package func waiting(for repository: String) throws(KeyringError) -> Int? {
    guard let marker = try readMarker(), marker.repository == repository else { return nil }
    let count = try readCount()
    guard count >= marker.count else { return nil }
    return Int(clamping: count - marker.count)
  }

  /// Runs something while nobody writes to the store, after a change that was cut off has been finished.
  ///
  /// - Parameters:
  ///   - timeout: How long to wait for writers, in seconds.
  ///   - body: Is told what waits.
  /// - Throws: `KeyringError.busy`, what finishing a change throws, a file error, and what `body` throws.
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

  /// The transactions between two counts, when the journal has every one of them.
  private func entries(after first: UInt64?, upTo last: UInt64) throws(KeyringError) -> [Entry]? {
    guard let first, first <= last else { return nil }
    let found = try readEntries().filter { $0.count > first && $0.count <= last }
    guard UInt64(found.count) == last - first else { return nil }
    for (entry, count) in zip(found, first + 1...last + 1) where entry.count != count { return nil }
    return found
  }

  private func readCount() throws(KeyringError) -> UInt64 { try files(TransactionCount.current(in: tree)) }

  /// The marker; nil also for one that a crash or somebody else has spoiled.
  package func readMarker() throws(KeyringError) -> Marker? {
    try files(tree.read(Self.marker, limit: 1 << 12)).flatMap { Marker(parsing: $0) }
  }

  /// All entries that can be read, up to the first one that cannot.
  private func readEntries() throws(KeyringError) -> [Entry] {
    // The last writer may have found it just below the limit.
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

  /// Reads a line: the folder may have come from elsewhere, and what it says ends up in a commit.
  fileprivate init?(parsing line: [UInt8]) {
    let limits = JSONLimits(size: line.count, depth: 4)
    // Why it cannot be read does not matter: the store is compared as a whole then.
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
