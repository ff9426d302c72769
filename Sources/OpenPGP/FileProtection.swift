internal import Glibc

/// Why a folder is not safe to keep a store in.
public enum UnsafeFolderReason: Sendable, Equatable {
  /// It belongs to another user, whose id this is.
  case ownedBy(UInt32)
  /// Others may write to it.
  case writableByOthers
}

/// The one rule for whether somebody else could change a file or a folder (threat T33).
package enum FileProtection {
  /// Where something stands, which decides what is accepted.
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
}
