internal import FileSystem
internal import Glibc
package import Encoding

/// The limit for the number of logins that all processes of this user fetch in a minute.
///
/// The times are in a file of the runtime folder. If they cannot be recorded, nothing is fetched.
package struct FetchLimit: Sendable {
  private let base: String
  private let perMinute: Int

  private static let file = "browser-host"
  private static let minute: Int64 = 60_000_000
  /// The largest file, in bytes: more than the largest limit needs.
  private static let sizeLimit = 1 << 16

  /// Creates the limit.
  ///
  /// - Parameters:
  ///   - base: The folder for Keytree's data that ends with the session.
  ///   - perMinute: The number of logins in one minute.
  package init(base: String, perMinute: Int) { (self.base, self.perMinute) = (base, perMinute) }

  /// Records that a login is about to be fetched.
  ///
  /// - Parameter now: The current time.
  /// - Throws: `cannotDecrypt` if too many were fetched in the last minute, or if that cannot be known.
  package func take(now: Timestamp) throws(BrowserError) {
    let isWithinLimit: Bool
    do throws(FileError) {
      isWithinLimit = try record(now.microseconds)
    } catch {
      throw BrowserError(
        .cannotDecrypt,
        "cannot count the logins that were asked for; make the folder \(base) writable, or remove \(Self.file) in it",
        detail: "\(error.operation) \(error.path) failed")
    }
    guard isWithinLimit else {
      throw BrowserError(.cannotDecrypt, "too many logins were asked for; wait a minute")
    }
  }

  /// Records a time. Returns false, and records nothing, if there are already as many as the limit.
  private func record(_ now: Int64) throws(FileError) -> Bool {
    let tree = try folder()
    let descriptor = try tree.openForLock(Self.file)
    defer { FileLock.release(descriptor) }
    let code = FileLock.take(descriptor, .exclusive, within: 5)
    guard code == 0 else { throw FileError("lock", Self.file, .system(code)) }
    let text = String(decoding: try tree.read(Self.file, limit: Self.sizeLimit) ?? [], as: UTF8.self)
    let times = text.split(separator: "\n").compactMap { Int64($0) }.filter { Self.isRecent($0, now) }
    guard times.count < perMinute else { return false }
    let lines = (times + [now]).map { "\($0)\n" }.joined()
    guard ftruncate(descriptor, 0) == 0 else { throw .current("truncate", Self.file) }
    try tree.write(Array(lines.utf8), to: descriptor, path: Self.file)
    return true
  }

  /// Returns true if a time counts. One in the future comes from a clock that was set back. It counts, but not for longer
  /// than a minute. The file may be damaged and contain any number.
  private static func isRecent(_ time: Int64, _ now: Int64) -> Bool {
    let (age, isOutOfRange) = now.subtractingReportingOverflow(time)
    return !isOutOfRange && age.magnitude < UInt64(minute)
  }

  /// Opens the folder, and creates it and its parent if they do not exist.
  private func folder() throws(FileError) -> FileTree {
    // If the folder is missing or cannot be used, the attempt after its creation reports the reason.
    if let tree = try? FileTree(at: base) { return tree }
    let parent = base.split(separator: "/").dropLast().map { "/" + $0 }.joined()
    for path in [parent, base] where unsafe mkdir(path, 0o700) != 0 && errno != EEXIST {
      throw FileError("create", path, .system(errno))
    }
    return try FileTree(at: base)
  }
}
