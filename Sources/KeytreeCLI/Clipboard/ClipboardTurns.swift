internal import CSystem
internal import Glibc
internal import KeyringModel

/// A small file that says which `--clip` was the last one for a session, and a lock around it.
///
/// Without it the end of the time of one `--clip` would clear the same secret that a later one has just put there.
/// The lock is held while the clipboard is looked at and changed; the system lets go of it when its holder ends.
struct ClipboardTurns: ~Copyable {
  private let file: Int32
  private let path: String

  /// Opens the file of a session and waits for its lock.
  ///
  /// - Parameters:
  ///   - session: what tells one clipboard from another.
  ///   - folder: the folder for what ends with the session; it is made when it is not there.
  /// - Throws: `file`.
  init(session: String, in folder: String) throws(Failure) {
    let digest = ContentDigest(of: Array(session.utf8)).base64url.prefix(16)
    path = "\(folder)/clipboard-\(digest)"
    // What is wrong with the folder is said when the file cannot be opened.
    unsafe mkdir(folder, 0o700)
    file = unsafe keytree_openat(AT_FDCWD, path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .file(action: "open", path: path, errno: errno) }
    while flock(file, LOCK_EX) != 0 {
      guard errno == EINTR else {
        let problem = errno
        close(file)
        throw .file(action: "lock", path: path, errno: problem)
      }
    }
  }

  deinit { close(file) }

  /// Whether nobody has used the clipboard since.
  func isLast(_ mark: ClipboardMark) -> Bool {
    var bytes = [UInt8](repeating: 0, count: 33)
    let count = unsafe pread(file, &bytes, bytes.count, 0)
    return count == 32 && bytes.prefix(32).elementsEqual(mark.turn.hex.utf8)
  }

  /// Makes this the last one.
  ///
  /// - Throws: `file`; whatever is in the clipboard would never be cleared then.
  func take(_ mark: ClipboardMark) throws(Failure) {
    let bytes = Array(mark.turn.hex.utf8)
    guard ftruncate(file, 0) == 0, unsafe pwrite(file, bytes, bytes.count, 0) == bytes.count else {
      throw .file(action: "write", path: path, errno: errno)
    }
  }
}
