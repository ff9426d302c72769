internal import FileSystem
internal import Glibc

/// Creates and checks folders that no other user can change.
enum PrivateFolder {
  /// Creates a folder with mode 0700, and missing folders above it, and checks the whole path.
  ///
  /// - Parameter path: An absolute path without `.` and `..`.
  /// - Throws: `unsafeEngine` when a part of the path is not a folder, is a link that root did not make, or can be
  ///   changed by other users; when the folder belongs to another user, or others have access to it.
  static func make(_ path: String) throws(EngineError) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: true)
    guard path.hasPrefix("/"), !parts.isEmpty, !parts.contains("."), !parts.contains("..") else {
      throw .unsafeEngine(path: path, reason: "it is not an absolute path")
    }
    var current = ""
    for part in parts {
      current += "/" + part
      // An existing folder is not an error. The checks below find anything else at the path.
      if unsafe mkdir(current, 0o700) != 0, errno != EEXIST {
        // mkdir can fail because the parent is read-only or belongs to another user, although the folder exists.
        var status = stat()
        if unsafe lstat(current, &status) != 0 { throw .unsafeEngine(path: current, reason: reason(errno)) }
      }
      try checkNotWritableByOthers(current)
    }
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { throw .unsafeEngine(path: path, reason: reason(errno)) }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw .unsafeEngine(path: path, reason: "it is not a folder")
    }
    guard status.st_uid == geteuid() else {
      throw .unsafeEngine(path: path, reason: "it belongs to another user")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw .unsafeEngine(path: path, reason: "others have access to it")
    }
  }

  /// Returns true if a path is a folder of this user that no other user has access to. The folders above it are not
  /// checked.
  ///
  /// - Parameter path: The path; a link is not followed.
  static func isPrivate(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      && status.st_uid == geteuid() && status.st_mode & 0o777 == 0o700
  }

  /// Checks one file or folder: it belongs to this user or to root, and only its owner can write to it. Others may
  /// write to a folder with the sticky bit, such as `/tmp`, because they cannot change our files in it.
  ///
  /// - Parameter path: The path. A link itself is checked, and must belong to this user or root.
  /// - Throws: `unsafeEngine` with the reason.
  private static func checkNotWritableByOthers(_ path: String) throws(EngineError) {
    if let weakness = FileProtection.weakness(of: path) { throw EngineError(weakness) }
  }

  /// Returns the system's text for an error number.
  ///
  /// - Parameter code: The value of `errno`.
  /// - Returns: English text, because the program sets no locale.
  static func reason(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}

extension EngineError {
  /// Creates an error for a file or folder that other users could change.
  init(_ weakness: FileProtection.Weakness) {
    let reason =
      switch weakness.reason {
      case .unsafe(.ownedBy): "it belongs to another user"
      case .unsafe(.writableByOthers): "others can write to it"
      case .system(let code): PrivateFolder.reason(code)
      }
    self = .unsafeEngine(path: weakness.path, reason: reason)
  }
}
