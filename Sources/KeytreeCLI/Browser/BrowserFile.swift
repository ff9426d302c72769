internal import FileSystem
internal import Glibc
internal import Secrets
internal import Terminal

/// A file for a browser: a manifest, or the script that a browser in a sandbox starts.
///
/// In the folders of the user and of the system, links are followed. The programs in a sandbox can create links and pipes
/// in its folder, so no link below that folder is followed.
struct BrowserFile {
  /// The absolute path.
  let path: String
  /// The folder of the sandbox, which contains the file; nil for an ordinary browser.
  let sandbox: String?

  /// The path below the folder of the sandbox.
  private func relative(to sandbox: String) -> String { String(path.dropFirst(sandbox.count + 1)) }

  /// True if anything exists at the path, even if it is not a file.
  var exists: Bool {
    guard let sandbox else { return unsafe access(path, F_OK) == 0 }
    do {
      return try FileTree(at: sandbox).status(relative(to: sandbox)) != nil
    } catch {
      return !error.isMissing
    }
  }

  /// Reads the file.
  ///
  /// - Parameter limit: the largest number of bytes.
  /// - Returns: nil if it does not exist.
  /// - Throws: `UserFileError` with the system's error; `EINVAL` for anything but a regular file.
  func read(limit: Int) throws -> [UInt8]? {
    guard let sandbox else {
      guard let content = try UserFile.readIfPresent(path, limit: limit) else { return nil }
      return unsafe content.withBytes { unsafe Array($0) }
    }
    do {
      return try FileTree(at: sandbox).readOnce(relative(to: sandbox), limit: limit)
    } catch {
      if error.isMissing { return nil }
      throw failure("read", error)
    }
  }

  /// Creates or replaces the file in one step, and creates the folders above it.
  ///
  /// - Parameters:
  ///   - bytes: the content.
  ///   - isExecutable: true for a script.
  ///   - isForAllUsers: true if every user may also enter the folders that are created.
  /// - Throws: `UserFileError` with the system's error; `EINVAL` if a folder above it is a link in a sandbox.
  func replace(with bytes: [UInt8], isExecutable: Bool = false, isForAllUsers: Bool = false) throws {
    guard let sandbox else {
      return try UserFile.replacePublic(path, bytes, isForAllUsers: isForAllUsers)
    }
    try UserFile.makeFolder(sandbox)
    let name = relative(to: sandbox)
    do {
      try FileTree(at: sandbox).replaceFile(
        name, with: bytes, temporary: "\(name).\(getpid()).new", permissions: isExecutable ? 0o755 : 0o644)
    } catch {
      throw failure("replace", error)
    }
  }

  /// Removes the file. Succeeds if it does not exist in a sandbox.
  ///
  /// - Throws: `UserFileError` with the system's error.
  func remove() throws {
    guard let sandbox else { return try UserFile.remove(path) }
    do {
      try FileTree(at: sandbox).remove(relative(to: sandbox))
    } catch {
      throw failure("remove", error)
    }
  }

  private func failure(_ action: String, _ error: FileError) -> UserFileError {
    let code: Int32 =
      switch error.reason {
      case .system(let code): code
      case .notARegularFile: EINVAL
      case .hasOtherNames: EMLINK
      case .tooLarge: EFBIG
      }
    return UserFileError(action: action, path: path, errno: code)
  }
}
