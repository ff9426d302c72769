internal import Glibc

/// The reasons why a folder is not safe for a store.
public enum UnsafeFolderReason: Sendable, Equatable {
  /// The folder belongs to another user, whose id is given.
  case ownedBy(UInt32)
  /// Other users may write to the folder.
  case writableByOthers
}

/// The rule that decides if another user could change a file or a folder (threat T33).
package enum FileProtection {
  /// The positions of a file or folder, which determine the permissions that are accepted.
  package enum Place {
    /// A file or folder of Keytree: it must belong to this user, and no other user may write to it.
    case own
    /// A parent folder: it may belong to root, and others may write to it if it has the sticky bit, like `/tmp`,
    /// because they cannot rename or remove this user's files in it.
    case above
  }

  /// Checks the owner and the permissions.
  ///
  /// - Parameters:
  ///   - owner: The user id.
  ///   - mode: The permission bits, with the sticky bit.
  ///   - isFolder: True for a folder. The sticky bit of a file has no meaning.
  ///   - place: The position, which determines what is accepted.
  /// - Returns: The reason why it is not safe; nil if it is safe.
  package static func weakness(
    owner: UInt32, mode: UInt32, isFolder: Bool, in place: Place
  ) -> UnsafeFolderReason? {
    guard owner == geteuid() || (place == .above && owner == 0) else { return .ownedBy(owner) }
    let isSticky = isFolder && mode & S_ISVTX != 0
    return mode & 0o022 == 0 || (place == .above && isSticky) ? nil : .writableByOthers
  }

  /// A file or folder that other users could change, or that cannot be examined.
  package struct Weakness: Error, Equatable {
    /// The path of the file or folder.
    package let path: String
    /// The reason why it is not safe, or the error number of the system if it cannot be examined.
    package let reason: Reason

    package enum Reason: Equatable, Sendable {
      case unsafe(UnsafeFolderReason)
      case system(Int32)
    }
  }

  /// Checks one file or parent folder. A symbolic link is not followed, and its mode is ignored, because it has no
  /// meaning.
  package static func weakness(of path: String) -> Weakness? {
    var facts = stat()
    guard unsafe lstat(path, &facts) == 0 else { return Weakness(path: path, reason: .system(errno)) }
    let kind = facts.st_mode & S_IFMT
    let mode = kind == S_IFLNK ? 0 : facts.st_mode
    return weakness(owner: facts.st_uid, mode: mode, isFolder: kind == S_IFDIR, in: .above)
      .map { Weakness(path: path, reason: .unsafe($0)) }
  }

  /// Checks every folder above a path.
  package static func weakness(above path: String) -> Weakness? {
    var current = ""
    for part in path.split(separator: "/", omittingEmptySubsequences: true).dropLast() {
      current += "/" + part
      if let weakness = weakness(of: current) { return weakness }
    }
    return nil
  }

  /// Checks that only this user or root can change a program or a folder in its path. Symbolic links in the path
  /// (`/bin` to `/usr/bin`, a version manager) are accepted if their targets are safe.
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
