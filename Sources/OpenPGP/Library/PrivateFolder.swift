internal import FileSystem
internal import Glibc

/// Folders that nobody else can change, made and checked.
enum PrivateFolder {
  /// Makes a folder with mode 0700, and what is missing above it, and checks the whole way down.
  ///
  /// - Parameter path: An absolute path without `.` and `..`.
  /// - Throws: `unsafeEngine` when a part of the path is not a folder, is a link that root did not make, or
  ///   can be changed by someone else; when the folder itself is not ours alone.
  static func make(_ path: String) throws(EngineError) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: true)
    guard path.hasPrefix("/"), !parts.isEmpty, !parts.contains("."), !parts.contains("..") else {
      throw .unsafeEngine(path: path, reason: "it is not an absolute path")
    }
    var current = ""
    for part in parts {
      current += "/" + part
      // An existing folder is not an error here; whatever else stands there is found by the checks.
      if unsafe mkdir(current, 0o700) != 0, errno != EEXIST {
        // A read-only or foreign parent reports its own error although the folder exists.
        var status = stat()
        if unsafe lstat(current, &status) != 0 { throw .unsafeEngine(path: current, reason: reason(errno)) }
      }
      try checkNobodyElseWrites(current)
    }
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { throw .unsafeEngine(path: path, reason: reason(errno)) }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw .unsafeEngine(path: path, reason: "it is not a folder")
    }
    guard status.st_uid == geteuid() else {
      throw .unsafeEngine(path: path, reason: "it belongs to someone else")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw .unsafeEngine(path: path, reason: "others have access to it")
    }
  }

  /// Checks one file or folder: it belongs to us or to root, and only its owner can write to it. Others may
  /// write to a folder with the sticky bit, as in `/tmp`: they cannot touch what is ours in it.
  ///
  /// - Parameter path: The path; a link is looked at itself and has to be ours or root's.
  /// - Throws: `unsafeEngine` with the reason.
  private static func checkNobodyElseWrites(_ path: String) throws(EngineError) {
    if let weakness = FileProtection.weakness(of: path) { throw EngineError(weakness) }
  }

  /// The system's text for an error number.
  ///
  /// - Parameter code: The value of `errno`.
  /// - Returns: English text, as the program sets no locale.
  static func reason(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}

extension EngineError {
  /// A file or a folder that somebody else could change.
  init(_ weakness: FileProtection.Weakness) {
    let reason =
      switch weakness.reason {
      case .unsafe(.ownedBy): "it belongs to someone else"
      case .unsafe(.writableByOthers): "others can write to it"
      case .system(let code): PrivateFolder.reason(code)
      }
    self = .unsafeEngine(path: weakness.path, reason: reason)
  }
}
