internal import Git
internal import Glibc
internal import OpenPGP

/// The lock files of git (`gitrepository-layout(5)`).
struct GitLocks {
  private let repository: Repository
  private let purpose: HistoryLock.Purpose

  /// The maximum time that a git process started by Keytree can run after the note was written, in seconds.
  private static let patience = 900

  /// Creates a value for the locks that git takes for a purpose.
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

  /// Returns the note to write before git is run: the locks that exist now, which belong to other processes.
  func note() -> [UInt8] { Array((["running"] + paths).joined(separator: "\n").utf8) }

  /// Returns the note to write after git has ended normally: the locks that were created while it ran; nil if there are
  /// none.
  func note(after note: HistoryLock.Note) -> [UInt8]? {
    let left = found(since: note)
    if left.isEmpty { return nil }
    return Array(([Self.leftMark] + left.map { "\($0.identity) \($0.path)" }).joined(separator: "\n").utf8)
  }

  private static let leftMark = "left"

  /// Removes the locks that a git of this user has left, unless a git is running in the repository or the file is open.
  ///
  /// - Parameter note: The note of the process that ran git.
  func remove(since note: HistoryLock.Note) {
    let found = found(since: note)
    if found.isEmpty || GitProcesses.areAtWork(in: repository) { return }
    let open = GitProcesses.openFiles()
    for lock in found {
      // While the file exists no other git can take the lock. If it cannot be removed, git reports it.
      guard let open, !open.contains(lock.identity.file), Lock(lock.path) == lock else { continue }
      _ = unsafe unlink(lock.path)
    }
  }

  /// An existing lock file.
  private struct Lock: Equatable {
    let path: String
    let identity: Identity

    /// Returns nil if the path is not a regular file, belongs to another user, or has other names.
    init?(_ path: String) {
      var facts = stat()
      guard unsafe lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_uid == geteuid(),
        facts.st_nlink == 1
      else { return nil }
      self.path = path
      identity = Identity(
        file: FileNumber(facts), changed: [facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec])
    }
  }

  /// The file number of a lock, and the time when it was last changed. A new file can have the inode of a removed one.
  private struct Identity: Equatable, CustomStringConvertible {
    let file: FileNumber
    let changed: [Int]

    var description: String { "\(file.device):\(file.inode):\(changed[0]):\(changed[1])" }
  }

  private func found(since note: HistoryLock.Note) -> [Lock] {
    let lines = String(decoding: note.bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    let known = Set(lines.dropFirst())
    let locks = paths.compactMap(Lock.init)
    if lines.first == Self.leftMark { return locks.filter { known.contains("\($0.identity) \($0.path)") } }
    return locks.filter { !known.contains($0.path) && Self.hasCome($0, since: note.written) }
  }

  /// Removes the files that `git fast-import` leaves if it fails or is killed: crash reports, and `.keep` files, which
  /// prevent packs from being joined. A new pack cannot have the name of such a file.
  func removeLeftovers() {
    guard purpose == .commits else { return }
    let (own, packs) = (repository.gitFolder, "\(repository.commonFolder)/objects/pack")
    // If the store is only a part of the repository, the report may be from another program.
    let reports =
      repository.prefix.isEmpty ? FolderNames.text(at: own).filter { $0.hasPrefix("fast_import_crash_") } : []
    let names = FolderNames.text(at: packs)
    let existing = Set(names)
    let keepFiles = names.filter { name in
      guard name.hasPrefix("pack-"), name.hasSuffix(".keep") else { return false }
      // Any other content means that the user keeps the pack. An empty file without a pack is from an interrupted
      // import.
      let content = GitProcesses.read("\(packs)/\(name)")
      let hasPack = existing.contains("\(name.dropLast("keep".utf8.count))pack")
      return content == Array("fast-import".utf8) || content == [] && !hasPack
    }
    let found = reports.map { "\(own)/\($0)" } + keepFiles.map { "\(packs)/\($0)" }
    if found.isEmpty || GitProcesses.areAtWork(in: repository) { return }
    // If a file cannot be removed, git reports it.
    for path in found { _ = unsafe unlink(path) }
  }

  private static func hasCome(_ lock: Lock, since time: [Int]) -> Bool {
    let changed = lock.identity.changed
    return !changed.lexicographicallyPrecedes(time) && changed[0] <= time[0] + patience
  }
}

/// The device and inode of a file.
private struct FileNumber: Hashable {
  let device: UInt
  let inode: UInt

  init(_ facts: stat) { (device, inode) = (UInt(facts.st_dev), UInt(facts.st_ino)) }
}

/// The git processes on this machine; `proc(5)`.
private enum GitProcesses {
  /// Returns false only if no git is running in a repository, except for children of this process.
  static func areAtWork(in repository: Repository) -> Bool {
    let descriptor = unsafe open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return true }
    defer { close(descriptor) }
    let folders = [repository.top, repository.gitFolder, repository.commonFolder]
    return FolderNames.text(descriptor).compactMap { pid_t($0) }.contains { isAtWork($0, in: folders) }
  }

  private static func isAtWork(_ number: pid_t, in folders: [String]) -> Bool {
    // A zombie holds no locks. The git processes of this process only read until it holds the lock on the history.
    guard let status = ProcessStatus(of: number), status.name.starts(with: "git".utf8),
      status.state != UInt8(ascii: "Z"), status.parent != getpid()
    else { return false }
    let process = "/proc/\(number)"
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("\(process)/cwd", &buffer, buffer.count)
    if count < 0 { return errno != ENOENT }
    let place = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    if folders.contains(where: { place == $0 || place.hasPrefix("\($0)/") }) { return true }
    // For `git --git-dir` and the variable `GIT_DIR`.
    return ["cmdline", "environ"].contains { name in
      // A process that has ended since holds no locks. One whose files cannot be read for another reason may hold some.
      guard let text = read("\(process)/\(name)") else { return errno != ENOENT && errno != ESRCH }
      return folders.contains { folder in text.indices.contains { text[$0...].starts(with: folder.utf8) } }
    }
  }

  /// Returns the files that processes on this machine have open, as far as this user may see them; nil if `/proc`
  /// cannot be listed.
  static func openFiles() -> Set<FileNumber>? {
    let numbers = FolderNames.text(at: "/proc").filter { Int32($0) != nil }
    if numbers.isEmpty { return nil }
    var files: Set<FileNumber> = []
    for number in numbers {
      let folder = "/proc/\(number)/fd"
      // A process of another user cannot have made a lock of this user.
      for descriptor in FolderNames.text(at: folder) {
        var facts = stat()
        guard unsafe stat("\(folder)/\(descriptor)", &facts) == 0 else { continue }
        files.insert(FileNumber(facts))
      }
    }
    return files
  }

  /// Returns the content of a file, such as one of `proc(5)`, whose size is not known before it is read.
  static func read(_ path: String) -> [UInt8]? {
    let file = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
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
