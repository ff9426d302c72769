internal import Glibc
internal import KeyringModel

/// Files to be changed together: staged beside the store, decided by one rename, then applied.
///
/// The moment of decision is the rename of `commit.json` (DESIGN section 6). Before it, nothing has
/// happened and the folder is litter; after it, whoever next opens the store for writing brings it to
/// its end. So a kill, a full disk or a power cut leaves every file old or new.
struct Transaction: ~Copyable {
  private let tree: FileTree
  private let folder: String
  /// What they replace is filled in when the transaction is decided.
  private var steps: [TransactionRecord.Step] = []
  private var staged = 0
  /// The paths that have a step.
  private var named: Set<String> = []

  /// From so many files or folders on, the whole file system is brought to disk at once instead of each of them.
  private static let crowd = 32

  /// Begins a transaction; nothing is written before the first file is staged.
  init(in tree: FileTree) {
    self.tree = tree
    var generator = SystemRandomNumberGenerator()
    folder = "\(StoreLayout.work)/\(StoreLayout.transactionPrefix)\(ItemID(using: &generator).hex)"
  }

  var isEmpty: Bool { steps.isEmpty }

  /// Writes a file's new content beside the store.
  mutating func place(_ bytes: [UInt8], at path: String) throws(KeyringError) {
    let name = "\(staged)"
    try files(
      tree.createFile("\(folder)/\(name)", bytes, isSynchronized: staged < Self.crowd))
    staged += 1
    forget(path)
    steps.append(.place(staged: name, path: path, old: .missing))
  }

  /// The new content of a file, if it was staged.
  func staged(at path: String) throws(KeyringError) -> [UInt8]? {
    for case .place(let name, path, _) in steps {
      return try files(tree.read("\(folder)/\(name)", limit: StoreLayout.sealedItemLimit))
    }
    return nil
  }

  /// Notes that a file will be removed. What was to be placed there before is not placed at all, so that each
  /// path has one step and every step can be done again.
  mutating func remove(_ path: String) {
    forget(path)
    steps.append(.remove(path: path, old: .missing))
  }

  /// Takes back what was to become of a path, which then gets another step.
  private mutating func forget(_ path: String) {
    guard !named.insert(path).inserted else { return }
    steps.removeAll { step in
      if case .place(_, path, _) = step { return true }
      return step == .remove(path: path, old: .missing)
    }
  }

  /// Notes that what stands at a path will go to another one.
  mutating func move(_ from: String, to: String) { steps.append(.move(from: from, to: to, old: .missing)) }

  /// Decides and applies the transaction; on success all of it is on disk.
  ///
  /// The folders of all targets are made before the decision, so that a full disk is mostly met while nothing has
  /// happened. A rename may still need room in a folder: an error after the decision leaves a change that stands,
  /// and is not finished before somebody takes the lock while there is room again.
  ///
  /// - Parameters:
  ///   - lock: the store's lock.
  ///   - subject: what the transaction does, for the history; no secret.
  /// - Throws: `KeyringError.unsafeFolder` when others can write to a folder that a file would go to, and nothing
  ///   has happened; or a file error. Whether the change exists then depends on whether it was decided; in both
  ///   cases every file is its old or its new version after the next `recover`.
  consuming func commit(under lock: borrowing StoreLock, subject: String) throws(KeyringError) {
    guard !steps.isEmpty else { return }
    do {
      try checkFolders()
    } catch {
      try? Self.discard(folder, in: tree)
      throw error
    }
    var number: UInt64?
    let record: TransactionRecord
    do {
      try checkSteps()
      record = TransactionRecord(steps: try stepsWithContents())
      number = try lock.numberTransaction()
      try tree.makeDirectory(folder)
      try tree.createFile("\(folder)/commit.tmp", record.bytes)
      // The staged files and names must be on disk before the record that relies on them can be.
      if staged > Self.crowd { try tree.synchronizeAll() }
      try tree.synchronizeDirectory(folder)
      try tree.synchronizeDirectory(StoreLayout.work)
      try tree.rename("\(folder)/commit.tmp", to: "\(folder)/\(StoreLayout.commit)")
      try tree.synchronizeDirectory(folder)
    } catch {
      // The first error is the one to report; litter that stays is removed by the next writer. The record has
      // to be gone from the disk before the files that it names.
      try? tree.remove("\(folder)/\(StoreLayout.commit)")
      try? tree.synchronizeDirectory(folder)
      try? Self.discard(folder, in: tree)
      // A number that is not used costs the next commit a comparison of the whole store.
      if let number { try? TransactionCount.forget(number, in: tree) }
      throw .file(error)
    }
    try Self.apply(record, folder: folder, in: tree, under: lock, number: number, subject: subject)
  }

  /// Gives up a transaction that was not decided.
  consuming func abandon() {
    // Litter that stays is removed by the next writer.
    try? Self.discard(folder, in: tree)
  }

  /// Refuses to put anything where somebody else could exchange it. The folders at the top were looked at when the
  /// store was opened; these are the ones below.
  private func checkFolders() throws(KeyringError) {
    if try files(tree.rootStatus()).isClosedToOthers { return }
    var folders: Set<String> = []
    for case .place(_, let path, _) in steps { folders.formUnion(Self.ancestors(of: path)) }
    for folder in folders.sorted() where !folder.isEmpty {
      guard let weakness = try files(tree.status(folder))?.weakness(in: .own) else { continue }
      throw .unsafeFolder(path: "\(tree.path)/\(folder)", weakness)
    }
  }

  /// Makes sure, before anything is decided, that every step can be done: that what it needs is there, that a
  /// rename would not be refused, and that its folder exists.
  private func checkSteps() throws(FileError) {
    var leaving: Set<String> = []
    for case .move(let from, _, _) in steps {
      guard try tree.status(from) != nil else { throw FileError("move", from, .system(ENOENT)) }
      leaving.insert(from)
    }
    for case .place(let name, let path, _) in steps {
      guard try tree.status("\(folder)/\(name)") != nil else {
        throw FileError("place", "\(folder)/\(name)", .system(ENOENT))
      }
      // What is put aside first, or lies below something that is, is in nobody's way.
      if Self.isMovedAway(path, with: leaving) { continue }
      if let status = try tree.status(path), status.kind != .regular {
        throw FileError("replace", path, .notARegularFile)
      }
      try tree.makeDirectory(RelativePath.parent(of: path))
    }
  }

  /// The steps with what they replace, as it is now.
  private func stepsWithContents() throws(FileError) -> [TransactionRecord.Step] {
    var result: [TransactionRecord.Step] = []
    for step in steps {
      switch step {
      case .place(let name, let path, _):
        result.append(.place(staged: name, path: path, old: try Self.content(path, in: tree)))
      case .move(let from, let to, _):
        result.append(.move(from: from, to: to, old: try Self.content(from, in: tree)))
      case .remove(let path, _): result.append(.remove(path: path, old: try Self.content(path, in: tree)))
      }
    }
    return result
  }

  private static func content(
    _ path: String, in tree: FileTree
  ) throws(FileError) -> TransactionRecord.Content {
    guard let status = try tree.status(path) else { return .missing }
    if status.kind != .regular { return .other }
    do {
      guard let bytes = try tree.readOnce(path, limit: contentLimit) else { return .missing }
      return .file(ContentDigest(of: bytes))
    } catch {
      switch error.reason {
      case .system(EACCES), .notARegularFile, .hasOtherNames, .tooLarge: return .other
      case .system: throw error
      }
    }
  }

  /// The largest file of a store, in bytes.
  private static let contentLimit = max(
    StoreLayout.sealedItemLimit, StoreLayout.shardLimit, StoreLayout.recordFileLimit,
    StoreLayout.smallFileLimit)

  // MARK: Recovery

  /// The folders of transactions that were cut off, decided or not.
  static func pending(in tree: FileTree) throws(KeyringError) -> [String] {
    try files(tree.list(StoreLayout.work))
      .filter { $0.hasPrefix(StoreLayout.transactionPrefix) }.map { "\(StoreLayout.work)/\($0)" }
  }

  /// Finishes what was decided, removes what was not.
  ///
  /// - Throws: `KeyringError.transactionDamaged` when a record cannot be read, `.transactionOutdated` when the store has
  ///   changed since it was written, `.transactionUnknown` when a newer version wrote it, or a file error.
  static func recover(in tree: FileTree, under lock: borrowing StoreLock) throws(KeyringError) {
    for folder in try pending(in: tree) {
      guard let record = try record(of: folder, in: tree) else {
        try files(discard(folder, in: tree))
        continue
      }
      guard try files(applies(record, folder: folder, in: tree)) else {
        throw .transactionOutdated(folder: folder)
      }
      try apply(
        record, folder: folder, in: tree, under: lock, number: nil,
        subject: "finish a change that was cut off")
    }
  }

  /// Returns true if each file is what the record has found there, or what it has made of it.
  ///
  /// The folder may have been copied to a store that has other files, and git or a backup may have changed files after the
  /// change was cut off. Then the newer files stay.
  private static func applies(
    _ record: TransactionRecord, folder: String, in tree: FileTree
  ) throws(FileError) -> Bool {
    var leaving: Set<String> = []
    for case .move(let from, _, _) in record.steps { leaving.insert(from) }
    for step in record.steps {
      switch step {
      case .move(let from, let to, let old):
        if try tree.status(to) != nil { continue }
        if ![.missing, old].contains(try content(from, in: tree)) { return false }
      case .remove(let path, let old):
        if ![.missing, old].contains(try content(path, in: tree)) { return false }
      case .place(let staged, let path, let old):
        // Where something is moved away first, that step says what it was.
        if isMovedAway(path, with: leaving) { continue }
        guard let new = try tree.status("\(folder)/\(staged)") else { continue }
        // Placed already: both are names of one file, or were before the store was copied.
        if try tree.status(path)?.identity == new.identity { continue }
        let found = try content(path, in: tree)
        if found != old, try found != content("\(folder)/\(staged)", in: tree) { return false }
      }
    }
    return true
  }

  /// What a transaction that is still there was to do; `nil` when it was not decided.
  ///
  /// - Throws: as `recover(in:under:)`.
  static func record(of folder: String, in tree: FileTree) throws(KeyringError) -> TransactionRecord? {
    let commit = "\(folder)/\(StoreLayout.commit)"
    guard let bytes = try files(tree.read(commit, limit: StoreLayout.stepsLimit)) else { return nil }
    do {
      return try TransactionRecord(parsing: bytes)
    } catch {
      switch error {
      case .unreadable: throw .transactionDamaged(folder: folder)
      case .unknownFormat: throw .transactionUnknown(folder: folder)
      }
    }
  }

  private static func apply(
    _ record: TransactionRecord, folder: String, in tree: FileTree, under lock: borrowing StoreLock,
    number: UInt64?, subject: String
  ) throws(KeyringError) {
    let count: UInt64
    do {
      try move(record, in: tree)
      var touched: Set<String> = []
      for case .place(let staged, let path, _) in record.steps {
        try put("\(folder)/\(staged)", at: path, in: tree)
        touched.formUnion(ancestors(of: path))
      }
      try synchronize(touched, in: tree)
      // Only now: an item that is renamed must not be without both of its files after a power cut.
      var left: Set<String> = []
      for case .remove(let path, _) in record.steps {
        try tree.remove(path)
        left.insert(RelativePath.parent(of: path))
      }
      try synchronize(left, in: tree)
      count = if let number { number } else { try lock.numberOfFoundTransaction() }
      try lock.countTransaction(count)
    } catch {
      // A staged file that is at neither end: the record cannot be followed.
      if error.reason == .system(ENODATA) { throw .transactionDamaged(folder: folder) }
      throw .file(error)
    }
    CommitJournal(of: tree).append(count: count, paths: record.paths, subject: subject)
    try files { () throws(FileError) in
      try tidy(record, in: tree)
      try discard(folder, in: tree)
      // A power cut must not bring the record back: the store may be changed by git, which knows nothing of it.
      try tree.synchronizeDirectory(StoreLayout.work)
    }
  }

  /// Moves files and folders into the quarantine.
  ///
  /// A file gets its new name, and loses the old one when the new one is on disk. A folder, and any file where the file
  /// system has no hard links, is renamed.
  private static func move(_ record: TransactionRecord, in tree: FileTree) throws(FileError) {
    var new: Set<String> = []
    var old: Set<String> = []
    var linked: [String] = []
    for case .move(let from, let to, let content) in record.steps {
      new.formUnion(ancestors(of: to))
      old.insert(RelativePath.parent(of: from))
      // What is at neither end cannot be moved by anybody.
      guard let status = try tree.status(from) else { continue }
      if let moved = try tree.status(to) {
        // Done before, and what is at `from` now may be another file, which a later step has placed there. The two names
        // of one file are two files in a store that was copied.
        let found = try Self.content(from, in: tree)
        let there = try Self.content(to, in: tree)
        let isCopy = content != .other && content == found && content == there
        if moved.identity == status.identity || isCopy { linked.append(from) }
      } else if status.kind != .directory, try tree.link(from, to: to) {
        linked.append(from)
      } else {
        try tree.rename(from, to: to)
      }
    }
    try synchronize(new, in: tree)
    for from in linked { try tree.remove(from) }
    try synchronize(old, in: tree)
  }

  private static func synchronize(_ folders: Set<String>, in tree: FileTree) throws(FileError) {
    if folders.count > crowd { return try tree.synchronizeAll() }
    for folder in folders.sorted() where try tree.status(folder) != nil {
      try tree.synchronizeDirectory(folder)
    }
  }

  /// Puts a staged file in place; when it is gone already and the target is there, this step was done before.
  ///
  /// The staged file keeps its own name until the folder of the target is on disk: a file system that does not order what
  /// a rename does in two folders could lose the file in a power cut. Where there are no hard links, it is renamed.
  private static func put(_ from: String, at path: String, in tree: FileTree) throws(FileError) {
    let second = "\(from)-placed"
    do {
      try tree.remove(second)
      try tree.rename(try tree.link(from, to: second) ? second : from, to: path)
    } catch {
      guard error.isMissing else { throw error }
      guard try tree.status(path) != nil else { throw FileError("place", path, .system(ENODATA)) }
    }
  }

  /// Removes folders that this transaction left empty, up to the class of an item.
  private static func tidy(_ record: TransactionRecord, in tree: FileTree) throws(FileError) {
    var left: Set<String> = []
    for step in record.steps {
      switch step {
      case .remove(let path, _), .move(let path, _, _): left.insert(RelativePath.parent(of: path))
      case .place: break
      }
    }
    for folder in left.sorted() where folder.split(separator: "/").count >= 3 {
      if try tree.list(folder).isEmpty { try tree.removeDirectory(folder) }
    }
  }

  /// Removes a transaction's folder with what is in it, the record last: as long as a file of the store has a second
  /// name there, readers have to know that a writer is at work.
  private static func discard(_ folder: String, in tree: FileTree) throws(FileError) {
    for name in try tree.list(folder) where name != StoreLayout.commit {
      try tree.remove("\(folder)/\(name)")
    }
    try tree.remove("\(folder)/\(StoreLayout.commit)")
    try tree.removeDirectory(folder)
  }

  /// Returns true if a path, or a folder above it, is one of those that a transaction moves away.
  private static func isMovedAway(_ path: String, with leaving: Set<String>) -> Bool {
    if leaving.isEmpty { return false }
    return leaving.contains(path) || ancestors(of: path).contains { leaving.contains($0) }
  }

  /// The folders above a path, the store's root as the empty path.
  private static func ancestors(of path: String) -> [String] {
    var result: [String] = []
    var current = path
    while !current.isEmpty {
      current = RelativePath.parent(of: current)
      result.append(current)
    }
    return result
  }
}
