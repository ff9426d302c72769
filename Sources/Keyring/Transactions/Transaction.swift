internal import Glibc
internal import KeyringModel

/// A set of file changes that are staged beside the store, committed by one rename, and then applied.
///
/// The rename of `commit.json` commits the transaction (DESIGN section 7). Before it, nothing has changed and the
/// folder can be deleted. After it, the next process that opens the store for writing completes the transaction. So
/// after a kill, a full disk or a power cut, every file has its old or its new version.
struct Transaction: ~Copyable {
  private let tree: FileTree
  private let folder: String
  /// The steps. The contents that they replace are added when the transaction is committed.
  private var steps: [TransactionRecord.Step] = []
  private var staged = 0
  /// The paths that have a step.
  private var named: Set<String> = []

  /// The number of files or folders above which the whole file system is flushed instead of each of them separately.
  private static let crowd = 32

  /// Begins a transaction. Nothing is written before the first file is staged.
  init(in tree: FileTree) {
    self.tree = tree
    var generator = SystemRandomNumberGenerator()
    folder = "\(StoreLayout.work)/\(StoreLayout.transactionPrefix)\(ItemID(using: &generator).hex)"
  }

  var isEmpty: Bool { steps.isEmpty }

  /// Stages the new content of a file.
  mutating func place(_ bytes: [UInt8], at path: String) throws(KeyringError) {
    let name = "\(staged)"
    try files(
      tree.createFile("\(folder)/\(name)", bytes, isSynchronized: staged < Self.crowd))
    staged += 1
    forget(path)
    steps.append(.place(staged: name, path: path, old: .missing))
  }

  /// Returns the new content of a file if it is staged, otherwise nil.
  func staged(at path: String) throws(KeyringError) -> [UInt8]? {
    for case .place(let name, path, _) in steps {
      return try files(tree.read("\(folder)/\(name)", limit: StoreLayout.sealedItemLimit))
    }
    return nil
  }

  /// Stages the removal of a file. Replaces an earlier step for the path, so that each path has only one step and every
  /// step can be repeated.
  mutating func remove(_ path: String) {
    forget(path)
    steps.append(.remove(path: path, old: .missing))
  }

  /// Discards the earlier step for a path, before another one is added.
  private mutating func forget(_ path: String) {
    guard !named.insert(path).inserted else { return }
    steps.removeAll { step in
      if case .place(_, path, _) = step { return true }
      return step == .remove(path: path, old: .missing)
    }
  }

  /// Stages the move of a file or folder to another path.
  mutating func move(_ from: String, to: String) { steps.append(.move(from: from, to: to, old: .missing)) }

  /// Commits and applies the transaction. On success all of it is on disk.
  ///
  /// The folders of all targets are created before the commit, so that a full disk is usually detected before anything
  /// has changed. A rename may still need space in a folder. After such an error the change is stored. The next process
  /// that takes the lock when there is space again completes it.
  ///
  /// - Parameters:
  ///   - lock: The store's lock.
  ///   - subject: The commit subject of the transaction, without a secret.
  /// - Throws: `KeyringError.unsafeFolder` if other users can write to the folder of a file to be placed, or a file error:
  ///   nothing has changed; `KeyringError.unfinished`: every file has its new version after the next `recover`.
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
      // The staged files and their names must be on disk before the record that refers to them.
      if staged > Self.crowd { try tree.synchronizeAll() }
      try tree.synchronizeDirectory(folder)
      try tree.synchronizeDirectory(StoreLayout.work)
      try tree.rename("\(folder)/commit.tmp", to: "\(folder)/\(StoreLayout.commit)")
      try tree.synchronizeDirectory(folder)
    } catch {
      // While the record may exist, the next writer applies it, and needs the files that it names.
      guard Self.withdraw(folder, in: tree) else { throw .unfinished(error) }
      // The first error is reported, and the next writer removes what cannot be removed here.
      try? Self.discard(folder, in: tree)
      // A number that remains unused would make the next git commit compare the whole store.
      if let number { try? TransactionCount.forget(number, in: tree) }
      throw .file(error)
    }
    do {
      try Self.apply(record, folder: folder, in: tree, under: lock, number: number, subject: subject)
    } catch {
      if case .file(let error) = error { throw .unfinished(error) }
      throw error
    }
  }

  /// Removes the record of a transaction that is not on the disk yet.
  ///
  /// - Returns: False if the record may still exist.
  private static func withdraw(_ folder: String, in tree: FileTree) -> Bool {
    let commit = "\(folder)/\(StoreLayout.commit)"
    do {
      // Without a record there is nothing to remove, and an error of the removal would not matter.
      guard try tree.status(commit) != nil else { return true }
      try tree.remove(commit)
    } catch {
      return false
    }
    // The record must be removed from the disk before the files that it names. If that fails, only a power cut can
    // restore the record.
    try? tree.synchronizeDirectory(folder)
    return true
  }

  /// Discards a transaction that was not committed.
  consuming func abandon() {
    // The next writer removes the files that cannot be removed here.
    try? Self.discard(folder, in: tree)
  }

  /// Checks that other users cannot replace files in the folders of the targets. The top-level folders were checked
  /// when the store was opened.
  private func checkFolders() throws(KeyringError) {
    if try files(tree.rootStatus()).isClosedToOthers { return }
    var folders: Set<String> = []
    for case .place(_, let path, _) in steps { folders.formUnion(Self.ancestors(of: path)) }
    for folder in folders.sorted() where !folder.isEmpty {
      guard let weakness = try files(tree.status(folder))?.weakness(in: .own) else { continue }
      throw .unsafeFolder(path: "\(tree.path)/\(folder)", weakness)
    }
  }

  /// Checks, before the commit, that every step can be applied: its source exists, its target can be replaced, and its
  /// folder exists or can be created.
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
      // A target that is moved to the quarantine first, or is below such a folder, does not have to be replaceable.
      if Self.isMovedAway(path, with: leaving) { continue }
      if let status = try tree.status(path), status.kind != .regular {
        throw FileError("replace", path, .notARegularFile)
      }
      try tree.makeDirectory(RelativePath.parent(of: path))
    }
  }

  /// Returns the steps with the current contents of the paths that they replace.
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

  /// Returns the folders of interrupted transactions, committed or not.
  static func pending(in tree: FileTree) throws(KeyringError) -> [String] {
    try files(tree.list(StoreLayout.work))
      .filter { $0.hasPrefix(StoreLayout.transactionPrefix) }.map { "\(StoreLayout.work)/\($0)" }
  }

  /// Completes interrupted transactions that were committed, and removes the others.
  ///
  /// After a power cut, a file may still have its temporary name in addition to its final one, because some file
  /// systems write the two directories of a rename separately. The temporary name is removed.
  ///
  /// - Throws: `KeyringError.transactionDamaged` if a record cannot be read, `.transactionOutdated` if the store has
  ///   changed since the record was written, `.transactionUnknown` if a newer version wrote it, or a file error.
  static func recover(in tree: FileTree, under lock: borrowing StoreLock) throws(KeyringError) {
    if try files(tree.status(StoreLayout.creationTemporary))?.kind == .regular {
      try files(tree.remove(StoreLayout.creationTemporary))
    }
    for folder in try pending(in: tree) {
      guard let record = try record(of: folder, in: tree) else {
        try files(discard(folder, in: tree))
        continue
      }
      guard try files(applies(record, folder: folder, in: tree)) else {
        throw .transactionOutdated(folder: folder)
      }
      // The writer may have been killed before it flushed the record. Otherwise a power cut could keep files that are
      // placed now, and lose the record.
      try files { () throws(FileError) in
        try tree.synchronizeDirectory(folder)
        try tree.synchronizeDirectory(StoreLayout.work)
      }
      try apply(
        record, folder: folder, in: tree, under: lock, number: nil,
        subject: "finish an interrupted change")
    }
  }

  /// Returns true if each file has either the content that the record replaces or the content that it places.
  ///
  /// The folder may have been copied to a store with other files, or git or a backup may have changed files since the
  /// transaction was interrupted. The newer files are then kept.
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
        // The step that moves the old file away compares the content.
        if isMovedAway(path, with: leaving) { continue }
        guard let new = try tree.status("\(folder)/\(staged)") else { continue }
        // Already placed: both paths are names of one file.
        if try tree.status(path)?.identity == new.identity { continue }
        let found = try content(path, in: tree)
        if found != old, try found != content("\(folder)/\(staged)", in: tree) { return false }
      }
    }
    return true
  }

  /// Returns the record of an interrupted transaction; `nil` if it was not committed.
  ///
  /// - Throws: The errors of `recover(in:under:)`.
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
      // Removals follow once the placed files are on disk, so that a power cut cannot lose both files of a renamed
      // item.
      var left: Set<String> = []
      for case .remove(let path, _) in record.steps {
        try tree.remove(path)
        left.insert(RelativePath.parent(of: path))
      }
      try synchronize(left, in: tree)
      count = if let number { number } else { try lock.numberOfRecoveredTransaction() }
      try lock.countTransaction(count)
    } catch {
      // Neither a staged file nor its target exists, so the record cannot be applied.
      if error.reason == .system(ENODATA) { throw .transactionDamaged(folder: folder) }
      throw .file(error)
    }
    CommitJournal(of: tree).append(count: count, paths: record.paths, subject: subject)
    try files { () throws(FileError) in
      try tidy(record, in: tree)
      try discard(folder, in: tree)
      // A power cut must not restore the record, because git may change the store, and then the record would be
      // outdated.
      try tree.synchronizeDirectory(StoreLayout.work)
    }
  }

  /// Moves files and folders to the quarantine.
  ///
  /// A file is first linked to its new name, and loses the old one once the new one is on disk. Folders, and all files
  /// on a file system without hard links, are renamed.
  private static func move(_ record: TransactionRecord, in tree: FileTree) throws(FileError) {
    var new: Set<String> = []
    var old: Set<String> = []
    var linked: [String] = []
    for case .move(let from, let to, let content) in record.steps {
      new.formUnion(ancestors(of: to))
      old.insert(RelativePath.parent(of: from))
      // A file that is missing at both paths cannot be moved.
      guard let status = try tree.status(from) else { continue }
      if let moved = try tree.status(to) {
        // The move was done before. The file at `from` may be another file, which a later step has placed there. In a
        // copied store, the two names of one file have become two files.
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
    // The root, which has no status of its own, has the names of new top-level folders.
    for folder in folders.sorted() {
      if !folder.isEmpty, try tree.status(folder) == nil { continue }
      try tree.synchronizeDirectory(folder)
    }
  }

  /// Installs a staged file. If it is missing and the target exists, the step was already done.
  ///
  /// The staged file keeps its own name until the folder of the target is on disk, because a file system that does not
  /// order the two directory updates of a rename could lose the file in a power cut. On a file system without hard
  /// links it is renamed.
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

  /// Removes the folders that this transaction left empty, but not the folders of item classes.
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

  /// Removes a transaction's folder and its content, the record last. While a file of the store has a second name in
  /// the folder, readers must be able to detect that a writer is active.
  private static func discard(_ folder: String, in tree: FileTree) throws(FileError) {
    for name in try tree.list(folder) where name != StoreLayout.commit {
      try tree.remove("\(folder)/\(name)")
    }
    try tree.remove("\(folder)/\(StoreLayout.commit)")
    try tree.removeDirectory(folder)
  }

  /// Returns true if a transaction moves away a path or one of its parent folders.
  private static func isMovedAway(_ path: String, with leaving: Set<String>) -> Bool {
    if leaving.isEmpty { return false }
    return leaving.contains(path) || ancestors(of: path).contains { leaving.contains($0) }
  }

  /// Returns the parent folders of a path; the store's root is the empty path.
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
