internal import CSystem
internal import FileSystem
internal import Glibc
internal import Interchange
internal import OpenPGP
internal import Terminal

/// A new folder of the user, built beside its final path and renamed when it is complete.
///
/// Only the user can access its folders (0700) and files (0600). Existing files are never written to, and links are
/// not followed. An incomplete folder is removed: immediately, or, if the process was killed, by the next export to the
/// same path.
final class ExportFolder {
  private let path: String
  private let partial: String
  /// The descriptor that holds the folder's lock while it is built.
  private let descriptor: Int32
  private var isDone = false

  /// Creates the folder under a temporary name.
  ///
  /// - Parameter path: the final path, where nothing or an empty folder may exist.
  /// - Throws: `UserFileError`.
  init(path: String) throws {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    try Self.requireNothingThere(path)
    Self.removePartials(of: path)
    let partial = "\(path).\(UInt32.random(in: 0x1000_0000...UInt32.max))\(Self.suffix)"
    guard unsafe mkdir(partial, 0o700) == 0 else {
      throw UserFileError(action: "create the folder", path: path, errno: errno)
    }
    (self.path, self.partial) = (path, partial)
    descriptor = unsafe keytree_openat(
      AT_FDCWD, partial, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
    guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw failure(errno) }
  }

  private static let suffix = ".partial"

  /// Removes incomplete folders that killed processes have left beside a path. A folder that is still in use is locked.
  ///
  /// A folder that cannot be removed is ignored: it does not prevent the export, and the next export tries again.
  private static func removePartials(of path: String) {
    let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let parent = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let start = (path.split(separator: "/").last ?? "") + "."
    let folder = unsafe keytree_openat(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    guard folder >= 0 else { return }
    defer { close(folder) }
    for name in FolderNames.text(folder) where name.hasPrefix(start) && name.hasSuffix(suffix) {
      let number = name.dropFirst(start.count).dropLast(suffix.count)
      guard UInt32(number) != nil else { continue }
      let partial = unsafe keytree_openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
      guard partial >= 0 else { continue }
      defer { close(partial) }
      var facts = stat()
      guard unsafe fstat(partial, &facts) == 0, facts.st_uid == geteuid(),
        flock(partial, LOCK_EX | LOCK_NB) == 0
      else { continue }
      FolderRemoval.removeContent(of: "\(parent)/\(name)")
      unsafe unlinkat(folder, name, AT_REMOVEDIR)
    }
  }

  /// Fails early, before anything is decrypted, if the path is in use.
  ///
  /// - Throws: `UserFileError` if anything but an empty folder exists there.
  static func requireNothingThere(_ path: String) throws {
    var facts = stat()
    guard unsafe lstat(path, &facts) == 0 else {
      if errno == ENOENT { return }
      throw UserFileError(action: "create the folder", path: path, errno: errno)
    }
    let folder = unsafe keytree_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
    guard folder >= 0 else { throw UserFileError(action: "create the folder", path: path, errno: EEXIST) }
    defer { close(folder) }
    guard let names = try? FolderNames.list(folder), names.isEmpty else {
      throw UserFileError(action: "create the folder", path: path, errno: EEXIST)
    }
  }

  /// Creates a file in the folder, and its parent folders.
  ///
  /// - Parameters:
  ///   - components: the names of the parent folders and of the file.
  ///   - bytes: the content, which must not be secret in plain text.
  /// - Throws: `UserFileError`.
  func write(_ components: [[UInt8]], _ bytes: [UInt8]) throws {
    var folder = unsafe keytree_openat(AT_FDCWD, partial, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
    guard folder >= 0 else { throw failure(errno) }
    defer { close(folder) }
    for component in components.dropLast() {
      guard unsafe component.withTerminator({ unsafe mkdirat(folder, $0, 0o700) }) == 0 || errno == EEXIST
      else {
        throw failure(errno)
      }
      let next = PassTree.open(folder, component, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard next >= 0 else { throw failure(errno) }
      close(folder)
      folder = next
    }
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let file = unsafe (components.last ?? []).withTerminator {
      unsafe keytree_openat(folder, $0, flags, 0o600)
    }
    guard file >= 0 else { throw failure(errno) }
    let problem = unsafe bytes.withUnsafeBytes { unsafe DescriptorOutput(file).write($0) }
    guard close(file) == 0, problem == 0 else { throw failure(problem == 0 ? errno : problem) }
  }

  /// Flushes everything to the disk and renames the folder to its final path.
  ///
  /// - Throws: `UserFileError`.
  func finish() throws {
    let folder = unsafe keytree_openat(AT_FDCWD, partial, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
    guard folder >= 0 else { throw failure(errno) }
    // One call for all files, because a tree may have thousands.
    let problem = keytree_synchronize_all(folder) == 0 ? 0 : errno
    close(folder)
    guard problem == 0 else { throw failure(problem) }
    // Fails if anything but an empty folder exists.
    guard unsafe rename(partial, path) == 0 else {
      throw failure(errno == ENOTEMPTY || errno == ENOTDIR ? EEXIST : errno)
    }
    isDone = true
  }

  private func failure(_ number: Int32) -> UserFileError {
    UserFileError(action: "create the folder", path: path, errno: number)
  }

  deinit {
    defer { if descriptor >= 0 { close(descriptor) } }
    guard !isDone else { return }
    FolderRemoval.removeContent(of: partial)
    unsafe rmdir(partial)
  }
}
