internal import Arguments
internal import CSystem
internal import Glibc
internal import Secrets

/// A new file of the person that holds one secret: `keytree get --out`, `keytree inject --out`.
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

  /// Makes the file and writes the secret. After an error no file is left, nor when a signal ends the process: the
  /// file gets its name when it is whole.
  ///
  /// - Throws: `file`.
  func write(_ secret: borrowing SecretBytes) throws(Failure) {
    if let file = try writeNameless(secret) {
      defer { close(file) }
      if try giveName(path, to: file) { return try requireDone(synchronizeFolder()) }
    }
    try writeNamed(secret)
  }

  /// Writes the secret in place of a file that may be there, as a whole: whoever reads it finds the old one or the new
  /// one. A link is replaced, not followed.
  ///
  /// - Throws: `file`.
  func replace(_ secret: borrowing SecretBytes) throws(Failure) {
    var random = SystemRandomNumberGenerator()
    // linkat(2) replaces nothing, so the file has another name for a moment.
    let fresh = SecretFile(path: "\(path).keytree-\(String(random.next(), radix: 16))")
    let file = try writeNameless(secret)
    defer { if let file { close(file) } }
    var before = sigset_t()
    unsafe Self.holdSignals(&before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    var hasName = false
    if let file { hasName = try fresh.giveName(fresh.path, to: file) }
    if !hasName {
      // Until this is done a signal may wait: writing takes no longer than one secret needs.
      try fresh.writeNamed(secret)
    }
    guard unsafe rename(fresh.path, path) == 0 else {
      let problem = errno
      unsafe unlink(fresh.path)
      throw failure(problem)
    }
    try requireDone(synchronizeFolder())
  }

  /// Writes the secret to a file without a name, which is gone when the process is.
  ///
  /// - Returns: the open file; nil where there are no such files: network file systems, and kernels before 3.11.
  /// - Throws: `file` when it cannot be written.
  private func writeNameless(_ secret: borrowing SecretBytes) throws(Failure) -> Int32? {
    let file = unsafe keytree_open_nameless(parent, 0o600)
    // What else is wrong is found when it is made with a name.
    guard file >= 0 else { return nil }
    let problem = Self.fill(file, secret)
    guard problem == 0 else {
      close(file)
      throw failure(problem)
    }
    return file
  }

  /// Gives a file without a name one, where nothing is; linkat(2).
  ///
  /// - Returns: false when that is not possible here: /proc may be missing, or a file system refuse it.
  /// - Throws: `file` when something is there.
  private func giveName(_ name: String, to file: Int32) throws(Failure) -> Bool {
    let origin = "/proc/self/fd/\(file)"
    if unsafe linkat(AT_FDCWD, origin, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 { return true }
    guard errno != EEXIST else { throw failure(EEXIST) }
    return false
  }

  /// Makes the file with its name at once, and writes the secret then: a signal in between leaves a part of it.
  private func writeNamed(_ secret: borrowing SecretBytes) throws(Failure) {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let file = unsafe keytree_openat(AT_FDCWD, path, flags, 0o600)
    guard file >= 0 else { throw failure(errno) }
    var problem = Self.fill(file, secret)
    if close(file) != 0, problem == 0 { problem = errno }
    if problem == 0 { problem = synchronizeFolder() }
    guard problem == 0 else {
      unsafe unlink(path)
      throw failure(problem)
    }
  }

  /// Writes the secret and brings it to the disk; an error number or 0.
  private static func fill(_ file: Int32, _ secret: borrowing SecretBytes) -> Int32 {
    let problem = unsafe secret.withBytes { bytes in unsafe DescriptorOutput(file).write(bytes) }
    if problem != 0 { return problem }
    return fsync(file) == 0 ? 0 : errno
  }

  /// Lets all signals that can wait do so.
  private static func holdSignals(_ before: UnsafeMutablePointer<sigset_t>) {
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_BLOCK, &all, before)
  }

  private func requireDone(_ problem: Int32) throws(Failure) {
    guard problem == 0 else { throw failure(problem) }
  }

  /// The folder that it is in.
  private var parent: String {
    let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    return end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
  }

  /// Brings the new name to the disk; an error number or 0.
  private func synchronizeFolder() -> Int32 {
    let folder = unsafe keytree_openat(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    // A folder that may be written but not read cannot be opened for this; the file itself is on the disk.
    guard folder >= 0 else { return errno == EACCES ? 0 : errno }
    defer { close(folder) }
    return fsync(folder) == 0 ? 0 : errno
  }

  private func failure(_ number: Int32) -> Failure {
    .file(action: "make the file", path: path, errno: number)
  }
}

extension CommandCall {
  /// The file that an option names; nil without the option.
  ///
  /// - Throws: `usage` for `-`, which is standard output elsewhere: a file of that name is not what was meant.
  func secretFile(_ option: OptionDeclaration) throws(Failure) -> SecretFile? {
    guard let path = arguments.text(option) else { return nil }
    guard path != "-" else {
      throw misuse(
        .other("without \(option.display) it goes to standard output; `./-` is a file of that name"))
    }
    return SecretFile(path: path)
  }
}
