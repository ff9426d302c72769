internal import CSystem
internal import Glibc
internal import Secrets

/// A new file of the person that holds one secret: `keytree get --out`.
///
/// It is made only where nothing is, so neither a file is overwritten nor a link followed, and for the user
/// alone (mode 0600). What was written is on the disk before success is said.
struct SecretFile {
  /// Where it is to be made.
  let path: String

  /// Fails early, before anything is decrypted, when something is there already; `lstat(2)`.
  ///
  /// - Throws: `file`.
  func requireNothingThere() throws(Failure) {
    var facts = stat()
    guard unsafe lstat(path, &facts) != 0 else { throw failure(EEXIST) }
    guard errno == ENOENT else { throw failure(errno) }
  }

  /// Makes the file and writes the secret. After an error no file is left.
  ///
  /// - Throws: `file`.
  func write(_ secret: borrowing SecretBytes) throws(Failure) {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let file = unsafe keytree_openat(AT_FDCWD, path, flags, 0o600)
    guard file >= 0 else { throw failure(errno) }
    var problem = unsafe secret.withBytes { bytes in unsafe DescriptorOutput(file).write(bytes) }
    if problem == 0, fsync(file) != 0 { problem = errno }
    if close(file) != 0, problem == 0 { problem = errno }
    if problem == 0 { problem = synchronizeFolder() }
    guard problem == 0 else {
      unsafe unlink(path)
      throw failure(problem)
    }
  }

  /// Brings the new name to the disk; an error number or 0.
  private func synchronizeFolder() -> Int32 {
    let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let parent = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let folder = unsafe keytree_openat(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    // A folder that may be written but not read cannot be opened for this; the file itself is on the disk.
    guard folder >= 0 else { return errno == EACCES ? 0 : errno }
    defer { close(folder) }
    return fsync(folder) == 0 ? 0 : errno
  }

  /// Writes the secret in place of a file that may be there, as a whole: whoever reads it finds the old one or the new
  /// one. A link is replaced, not followed.
  ///
  /// - Throws: `file`.
  func replace(_ secret: borrowing SecretBytes) throws(Failure) {
    var random = SystemRandomNumberGenerator()
    let fresh = SecretFile(path: "\(path).keytree-\(String(random.next(), radix: 16))")
    try fresh.write(secret)
    guard unsafe rename(fresh.path, path) == 0 else {
      let problem = errno
      unsafe unlink(fresh.path)
      throw failure(problem)
    }
    let problem = synchronizeFolder()
    guard problem == 0 else { throw failure(problem) }
  }

  private func failure(_ number: Int32) -> Failure {
    .file(action: "make the file", path: path, errno: number)
  }
}
