internal import CSystem
internal import Encoding
internal import FileSystem
internal import Glibc
internal import KeyringModel

/// A small file, with a lock, that records the latest `--clip` of a session and the time to clear its secret.
///
/// It contains the id of the latest turn and, if the clipboard is to be cleared, the time in seconds since 1970,
/// followed by ` copying` while a secret is copied. It is empty when the clipboard has been cleared. Nothing in it is
/// derived from a secret.
///
/// Without it, an earlier `--clip` could clear the same secret that a later one has just copied. The lock is held while
/// the clipboard is read and changed. The kernel releases it when the process ends.
package struct ClipboardTurns: ~Copyable {
  private let file: Int32
  private let path: String

  /// Opens the file of a session and waits for its lock.
  ///
  /// - Parameters:
  ///   - session: the name that distinguishes clipboards.
  ///   - folder: the folder for data that ends with the session; it is created if it does not exist.
  /// - Throws: `UserFileError`.
  package init(session: String, in folder: String) throws {
    path = Self.path(session, folder)
    // If this fails, opening the file fails, too, and reports the error.
    unsafe mkdir(folder, 0o700)
    file = unsafe keytree_openat(AT_FDCWD, path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw UserFileError(action: "open", path: path, errno: errno) }
    while flock(file, LOCK_EX) != 0 {
      guard errno == EINTR else {
        let problem = errno
        close(file)
        throw UserFileError(action: "lock", path: path, errno: problem)
      }
    }
  }

  deinit { FileLock.release(file) }

  /// Returns true if no later `--clip` has used the clipboard.
  package func isLast(_ mark: ClipboardMark) -> Bool {
    content.prefix(32).elementsEqual(mark.turn.hex.utf8)
  }

  /// Records that a secret is about to be copied, so that `doctor` finds it even if this process is killed.
  ///
  /// - Parameter deadline: the time to clear the clipboard, in seconds since 1970.
  /// - Returns: the previous content, for ``restore(_:)``.
  /// - Throws: `UserFileError`.
  package func announce(until deadline: Int64) throws -> [UInt8] {
    let before = content
    let turn = before.count >= 32 ? Array(before.prefix(32)) : Array(repeating: UInt8(ascii: "0"), count: 32)
    try write(turn + Array(" \(deadline)\(Self.copying)".utf8))
    return before
  }

  /// Restores the content before an announcement, because nothing was copied.
  ///
  /// - Throws: `UserFileError`.
  package func restore(_ before: [UInt8]) throws { try write(before) }

  /// Records this turn as the latest one.
  ///
  /// - Parameter deadline: the time to clear the clipboard, in seconds since 1970; nil for never.
  /// - Throws: `UserFileError`; then the clipboard would never be cleared.
  package func take(_ mark: ClipboardMark, until deadline: Int64?) throws {
    try write(Array(mark.turn.hex.utf8) + Array((deadline.map { " \($0)" } ?? "").utf8))
  }

  /// Records that the secret of this turn is no longer in the clipboard.
  ///
  /// - Throws: `UserFileError`.
  package func finish(_ mark: ClipboardMark) throws {
    let isAnnounced = content.suffix(Self.copying.utf8.count).elementsEqual(Self.copying.utf8)
    if isLast(mark), !isAnnounced { try write([]) }
  }

  /// True if a secret may be in the clipboard.
  package var isOpen: Bool { !content.isEmpty }

  /// Records that the clipboard is clear.
  ///
  /// - Throws: `UserFileError`.
  package func finishAll() throws { try write([]) }

  /// Returns true if a secret should have been cleared by now and was not.
  ///
  /// - Parameters:
  ///   - session: as for `init`.
  ///   - folder: as for `init`; nothing is created in it.
  ///   - now: the time in seconds since 1970.
  package static func isOverdue(session: String, in folder: String, now: Int64) -> Bool {
    let file = unsafe keytree_openat(AT_FDCWD, path(session, folder), O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0)
    guard file >= 0 else { return false }
    defer { close(file) }
    let words = String(decoding: content(of: file), as: UTF8.self).split(separator: " ")
    guard words.count > 1, let deadline = Int64(words[1]) else { return false }
    return now > deadline + patience
  }

  /// The time after the deadline in which the clearing process may still be working, in seconds.
  private static let patience: Int64 = 60
  private static let copying = " copying"

  private static func path(_ session: String, _ folder: String) -> String {
    "\(folder)/clipboard-\(ContentDigest(of: Array(session.utf8)).base64url.prefix(16))"
  }

  private var content: [UInt8] { Self.content(of: file) }

  private static func content(of file: Int32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 128)
    let count = unsafe pread(file, &bytes, bytes.count, 0)
    return Array(bytes.prefix(max(count, 0)))
  }

  private func write(_ bytes: [UInt8]) throws {
    guard ftruncate(file, 0) == 0, unsafe pwrite(file, bytes, bytes.count, 0) == bytes.count else {
      throw UserFileError(action: "write", path: path, errno: errno)
    }
  }
}
