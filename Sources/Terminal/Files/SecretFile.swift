internal import Encoding
internal import CSystem
internal import FileSystem
internal import Glibc
package import Secrets

/// A new file of the user that contains one secret: `keytree get --out`, `keytree inject --out`.
///
/// It is created only where no file exists, so no file is overwritten and no link is followed. Only the user can access
/// it (mode 0600). Its content is on the disk before success is reported.
package struct SecretFile {
  /// The path of the file.
  package let path: String

  /// Creates a value for the path of a file that may not exist yet.
  package init(path: String) { self.path = path }

  /// Checks that no file exists at the path, so that the command fails before anything is decrypted; `lstat(2)`.
  ///
  /// - Throws: `UserFileError`.
  package func requireNothingThere() throws {
    var facts = stat()
    guard unsafe lstat(path, &facts) != 0 else { throw failure(EEXIST) }
    guard errno == ENOENT else { throw failure(errno) }
  }

  /// Creates the file and writes the secret. The file gets its name when it is complete.
  ///
  /// If a file system supports neither files without a name, nor renaming without replacing, nor hard links, the file
  /// has its name from the start, and a killed process can leave an incomplete file.
  ///
  /// - Throws: `UserFileError`; then no file is left.
  package func write(_ secret: borrowing SecretBytes) throws {
    removeParts()
    if let file = try writeNameless(secret) {
      defer { close(file) }
      if try giveName(path, to: file) { return try requireDone(synchronizeFolder()) }
    }
    let part = newPartPath
    let file = try writeNamed(part, secret)
    defer { close(file) }
    let problem = place(part)
    if problem == 0 { return try requireDone(synchronizeFolder()) }
    unsafe unlink(part)
    guard [EINVAL, ENOSYS, EPERM, EOPNOTSUPP, EMLINK].contains(problem) else { throw failure(problem) }
    close(try writeNamed(path, secret))
    try requireDone(synchronizeFolder())
  }

  /// Writes the secret and atomically replaces an existing file: a reader finds either the old file or the new one. A
  /// link is replaced, not followed.
  ///
  /// - Throws: `UserFileError`.
  package func replace(_ secret: borrowing SecretBytes) throws {
    removeParts()
    // linkat(2) does not replace files, so the file first gets a temporary name.
    let part = newPartPath
    var file = try writeNameless(secret)
    defer { if let file { close(file) } }
    var before = sigset_t()
    unsafe Self.holdSignals(&before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    var hasName = false
    if let file { hasName = try giveName(part, to: file) }
    if !hasName {
      if let file { close(file) }
      file = nil
      // Signals stay blocked until this is done. Writing takes no longer than one secret needs.
      file = try writeNamed(part, secret)
    }
    guard unsafe rename(part, path) == 0 else {
      let problem = errno
      unsafe unlink(part)
      throw failure(problem)
    }
    try requireDone(synchronizeFolder())
  }

  // MARK: - Parts

  private static let partMark = ".keytree-"
  private static let partDigits = 16

  /// A random name in the same folder, for a file that is incomplete or not yet renamed.
  private var newPartPath: String {
    var random = SystemRandomNumberGenerator()
    return path + Self.partMark + Hexadecimal.text(random.next() as UInt64, digits: Self.partDigits)
  }

  /// Removes the incomplete files that killed processes left behind. A file in use is locked.
  ///
  /// Failures are ignored: such a file does not prevent the creation of a new one, and the next run tries again.
  private func removeParts() {
    let folder = unsafe keytree_openat(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    guard folder >= 0 else { return }
    defer { close(folder) }
    let start = (path.split(separator: "/").last ?? "") + Self.partMark
    for name in FolderNames.text(folder) where name.hasPrefix(start) {
      let digits = name.utf8.dropFirst(start.utf8.count)
      guard digits.count == Self.partDigits,
        digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
      else { continue }
      let file = unsafe keytree_openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0)
      guard file >= 0 else { continue }
      defer { close(file) }
      var facts = stat()
      guard unsafe fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_uid == geteuid(),
        flock(file, LOCK_EX | LOCK_NB) == 0
      else { continue }
      unsafe unlinkat(folder, name, 0)
    }
  }

  /// Gives a complete file its name, if no file has it. Returns an error number or 0.
  private func place(_ part: String) -> Int32 {
    if unsafe keytree_rename_to_nothing(part, path) == 0 { return 0 }
    guard [EINVAL, ENOSYS].contains(errno) else { return errno }
    guard unsafe link(part, path) == 0 else { return errno }
    return unsafe unlink(part) == 0 ? 0 : errno
  }

  /// Writes the secret to a file without a name, which disappears with the process.
  ///
  /// - Returns: the open file; nil if such files are not supported: network file systems, and kernels before 3.11.
  /// - Throws: `UserFileError` if it cannot be written.
  private func writeNameless(_ secret: borrowing SecretBytes) throws -> Int32? {
    let file = unsafe keytree_open_nameless(parent, 0o600)
    // Other errors will also occur when the file is created with a name.
    guard file >= 0 else { return nil }
    // An incomplete file is locked while it is in use; flock(2).
    let problem = flock(file, LOCK_EX | LOCK_NB) == 0 ? Self.fill(file, secret) : errno
    guard problem == 0 else {
      close(file)
      throw failure(problem)
    }
    return file
  }

  /// Gives a name to a file without one, if no file has that name; linkat(2).
  ///
  /// - Returns: false if that is not possible: `/proc` is missing, or the file system refuses it.
  /// - Throws: `UserFileError` if the name exists.
  private func giveName(_ name: String, to file: Int32) throws -> Bool {
    let origin = "/proc/self/fd/\(file)"
    if unsafe linkat(AT_FDCWD, origin, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 { return true }
    guard errno != EEXIST else { throw failure(EEXIST) }
    return false
  }

  /// Creates a file under its name and then writes the secret. A signal in between leaves an incomplete file.
  ///
  /// - Returns: the open file, which is locked.
  /// - Throws: `UserFileError`; then no file is left.
  private func writeNamed(_ name: String, _ secret: borrowing SecretBytes) throws -> Int32 {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let file = unsafe keytree_openat(AT_FDCWD, name, flags, 0o600)
    guard file >= 0 else { throw failure(errno) }
    let problem = flock(file, LOCK_EX | LOCK_NB) == 0 ? Self.fill(file, secret) : errno
    guard problem == 0 else {
      close(file)
      unsafe unlink(name)
      throw failure(problem)
    }
    return file
  }

  /// Writes the secret and flushes it to the disk. Returns an error number or 0.
  private static func fill(_ file: Int32, _ secret: borrowing SecretBytes) -> Int32 {
    let problem = unsafe secret.withBytes { bytes in unsafe DescriptorOutput(file).write(bytes) }
    if problem != 0 { return problem }
    return fsync(file) == 0 ? 0 : errno
  }

  /// Blocks all signals that can be blocked.
  private static func holdSignals(_ before: UnsafeMutablePointer<sigset_t>) {
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_BLOCK, &all, before)
  }

  private func requireDone(_ problem: Int32) throws {
    guard problem == 0 else { throw failure(problem) }
  }

  /// The folder that contains the file.
  private var parent: String {
    let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    return end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  }

  /// Flushes the new name to the disk. Returns an error number or 0.
  private func synchronizeFolder() -> Int32 {
    let folder = unsafe keytree_openat(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    // A folder that can be written but not read cannot be opened for this. The file itself is on the disk.
    guard folder >= 0 else { return errno == EACCES ? 0 : errno }
    defer { close(folder) }
    return fsync(folder) == 0 ? 0 : errno
  }

  private func failure(_ number: Int32) -> UserFileError {
    UserFileError(action: "create the file", path: path, errno: number)
  }
}
