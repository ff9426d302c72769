internal import Glibc
internal import Keyring
internal import OpenPGP

/// The files with which git locks what it changes; `gitrepository-layout(5)`.
struct GitLocks {
  private let repository: Repository
  private let purpose: HistoryLock.Purpose

  /// The longest time that a git started by Keytree can run after the note was written, in seconds.
  private static let patience = 900

  /// The locks that git takes for a purpose.
  init(of repository: Repository, for purpose: HistoryLock.Purpose) {
    (self.repository, self.purpose) = (repository, purpose)
  }

  /// The paths of the locks that exist.
  private var paths: [String] {
    let (own, common) = (repository.gitFolder, repository.commonFolder)
    let single: [String]
    let folders: [String]
    switch purpose {
    case .commits:
      single = ["\(own)/index.lock", "\(own)/HEAD.lock"]
      folders = ["refs/heads", "reftable"]
    case .synchronization:
      single = ["config.lock", "packed-refs.lock", "shallow.lock"].map { "\(common)/\($0)" }
      folders = ["refs/keytree", "refs/remotes"]
    }
    return single.filter(Repository.exists) + folders.flatMap { Self.locks(below: "\(common)/\($0)") }
  }

  private static func locks(below folder: String) -> [String] {
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    return FolderNames.text(descriptor).flatMap { name in
      let path = "\(folder)/\(name)"
      return name.hasSuffix(".lock") ? [path] : locks(below: path)
    }
  }

  /// Returns what to note before git is run: the locks that exist now, which are those of others.
  func note() -> [UInt8] { Array((["running"] + paths).joined(separator: "\n").utf8) }

  /// Removes the locks that a git of ours has left.
  ///
  /// A lock is one of them if it did not exist when the note was left, has come soon after that, and no git is at
  /// work in
  /// the repository. Any other lock stays, and git reports it.
  ///
  /// - Parameter note: What was noted before git was run.
  /// - Returns: False if there are such locks and a git is at work.
  @discardableResult
  func remove(since note: HistoryLock.Note) -> Bool {
    let found = found(since: note)
    if found.isEmpty { return true }
    if GitProcesses.areAtWork(in: repository) { return false }
    // While the file exists no other git can take the lock. If it cannot be removed, git reports it.
    for path in found { _ = unsafe unlink(path) }
    return true
  }

  /// Returns true if locks exist that did not exist when a note was written and that were made soon after.
  func haveCome(since note: HistoryLock.Note) -> Bool { !found(since: note).isEmpty }

  private func found(since note: HistoryLock.Note) -> [String] {
    let known = Set(
      String(decoding: note.bytes, as: UTF8.self).split(separator: "\n").dropFirst().map(String.init))
    return paths.filter { !known.contains($0) && Self.hasCome($0, since: note.written) }
  }

  /// Removes what `git fast-import` leaves when it fails or is killed: reports, and files that keep its pack from being
  /// joined with others. A new pack cannot be made with the name of such a file.
  func removeLeftovers() {
    guard purpose == .commits else { return }
    let (own, packs) = (repository.gitFolder, "\(repository.commonFolder)/objects/pack")
    // In a larger repository other programs import, too.
    let reports =
      repository.prefix.isEmpty ? FolderNames.text(at: own).filter { $0.hasPrefix("fast_import_crash_") } : []
    let names = FolderNames.text(at: packs)
    let existing = Set(names)
    let keepFiles = names.filter { name in
      guard name.hasPrefix("pack-"), name.hasSuffix(".keep") else { return false }
      // Any other content is a user's own reason to keep a pack. An empty file without a pack was cut off.
      let content = GitProcesses.read("\(packs)/\(name)")
      let hasPack = existing.contains("\(name.dropLast("keep".utf8.count))pack")
      return content == Array("fast-import".utf8) || content == [] && !hasPack
    }
    let found = reports.map { "\(own)/\($0)" } + keepFiles.map { "\(packs)/\($0)" }
    if found.isEmpty || GitProcesses.areAtWork(in: repository) { return }
    // If one cannot be removed, git reports it.
    for path in found { _ = unsafe unlink(path) }
  }

  private static func hasCome(_ path: String, since time: [Int]) -> Bool {
    var facts = stat()
    guard unsafe lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return false }
    let changed = [facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec]
    return !changed.lexicographicallyPrecedes(time) && changed[0] <= time[0] + patience
  }
}

/// The gits that run on this machine; `proc(5)`.
private enum GitProcesses {
  /// Returns false only if no git is at work in a repository, apart from those that this process has started.
  static func areAtWork(in repository: Repository) -> Bool {
    let descriptor = unsafe open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return true }
    defer { close(descriptor) }
    let folders = [repository.top, repository.gitFolder, repository.commonFolder]
    let numbers = FolderNames.text(descriptor).filter { Int32($0) != nil }
    return numbers.contains { isAtWork("/proc/\($0)", in: folders) }
  }

  private static func isAtWork(_ process: String, in folders: [String]) -> Bool {
    // `<number> (<name>) <state> <parent> ...`; the name may hold anything.
    guard let status = read("\(process)/stat"), let open = status.firstIndex(of: UInt8(ascii: "(")),
      let close = status.lastIndex(of: UInt8(ascii: ")"))
    else { return false }
    guard status[(open + 1)..<close].starts(with: "git".utf8) else { return false }
    let rest = status[(close + 1)...].split(separator: UInt8(ascii: " "))
    // A zombie holds nothing any more. Our own gits only read before we have the right to change anything.
    guard rest.count > 1, rest[0] != Array("Z".utf8)[...],
      String(decoding: rest[1], as: UTF8.self) != String(getpid())
    else { return false }
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("\(process)/cwd", &buffer, buffer.count)
    if count < 0 { return errno != ENOENT }
    let place = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    if folders.contains(where: { place == $0 || place.hasPrefix("\($0)/") }) { return true }
    // `git --git-dir`, and the variable `GIT_DIR`.
    let words = [read("\(process)/cmdline"), read("\(process)/environ")]
    return words.contains { text in
      guard let text else { return true }
      return folders.contains { folder in text.indices.contains { text[$0...].starts(with: folder.utf8) } }
    }
  }

  /// Returns the content of a file, such as one of `proc(5)`, whose size is not known before it is read.
  static func read(_ path: String) -> [UInt8]? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    while bytes.count < 1 << 22 {
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
      guard count >= 0 else { return nil }
      if count == 0 { break }
      bytes += buffer.prefix(count)
    }
    return bytes
  }
}
