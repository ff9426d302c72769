internal import Glibc

/// The reasons why a folder is not safe for a store.
public enum UnsafeFolderReason: Sendable, Equatable {
  /// It belongs to another user, whose id this is.
  case ownedBy(UInt32)
  /// Others may write to it.
  case writableByOthers
}

/// The one rule for whether somebody else could change a file or a folder (threat T33).
package enum FileProtection {
  /// The positions of a folder, which determine the permissions that are accepted.
  package enum Place {
    /// Our own: it has to belong to this user, and nobody else may write.
    case own
    /// Above our own: it may belong to root, and others may write to a folder with the sticky bit, as in `/tmp`,
    /// because they cannot touch what is ours in it.
    case above
  }

  /// Looks at the owner and the permissions.
  ///
  /// - Parameters:
  ///   - owner: The user id.
  ///   - mode: The permission bits, with the sticky bit.
  ///   - isFolder: Whether it is a folder: on files the sticky bit means nothing.
  ///   - place: What is accepted.
  /// - Returns: Why it is not safe; nil when it is.
  package static func weakness(
    owner: UInt32, mode: UInt32, isFolder: Bool, in place: Place
  ) -> UnsafeFolderReason? {
    guard owner == geteuid() || (place == .above && owner == 0) else { return .ownedBy(owner) }
    let isSticky = isFolder && mode & S_ISVTX != 0
    return mode & 0o022 == 0 || (place == .above && isSticky) ? nil : .writableByOthers
  }

  /// Creates an error for a file or folder that other users could change.
  package struct Weakness: Error, Equatable {
    /// Its path.
    package let path: String
    /// The reason why it is not safe, or the error number of the system if it cannot be examined.
    package let reason: Reason

    package enum Reason: Equatable, Sendable {
      case unsafe(UnsafeFolderReason)
      case system(Int32)
    }
  }

  /// Examines one file or folder above our own. A link is examined itself; its mode means nothing.
  package static func weakness(of path: String) -> Weakness? {
    var facts = stat()
    guard unsafe lstat(path, &facts) == 0 else { return Weakness(path: path, reason: .system(errno)) }
    let kind = facts.st_mode & S_IFMT
    let mode = kind == S_IFLNK ? 0 : facts.st_mode
    return weakness(owner: facts.st_uid, mode: mode, isFolder: kind == S_IFDIR, in: .above)
      .map { Weakness(path: path, reason: .unsafe($0)) }
  }

  /// Examines every folder above a path.
  package static func weakness(above path: String) -> Weakness? {
    var current = ""
    for part in path.split(separator: "/", omittingEmptySubsequences: true).dropLast() {
      current += "/" + part
      if let weakness = weakness(of: current) { return weakness }
    }
    return nil
  }

  /// Examines a program: nobody but its owner, who is this user or root, can change it or what leads to it. Links on
  /// the
  /// way (`/bin` to `/usr/bin`, a version manager) are accepted if what they lead to is safe.
  ///
  /// - Parameter path: An absolute path.
  package static func weakness(ofProgram path: String) -> Weakness? {
    if let weakness = weakness(above: path) { return weakness }
    guard let resolved = unsafe realpath(path, nil) else {
      return Weakness(path: path, reason: .system(errno))
    }
    defer { unsafe free(resolved) }
    let target = unsafe String(cString: resolved)
    return weakness(above: target) ?? weakness(of: target)
  }
}
