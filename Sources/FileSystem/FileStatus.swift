package import Glibc

/// The metadata of a file, folder or other entry at a path.
package struct FileStatus: Equatable, Sendable {
  /// The kinds of directory entries.
  package enum Kind: String, Sendable { case regular, directory, link, pipe, socket, device }

  package let kind: Kind
  package let size: Int
  package let links: Int
  package let owner: UInt32
  /// Permission bits, including the set-id and sticky bits.
  package let mode: UInt32

  /// The metadata that shows whether the file has changed.
  package let stamp: FileStamp

  /// Device and inode, which distinguish files that had the same name at different times.
  package var identity: [UInt64] { stamp.identity }

  /// Reads the status of a path, following links, with `stat(2)`.
  package init(of path: String) throws(FileError) {
    var info = stat()
    guard unsafe stat(path, &info) == 0 else { throw .current("stat", path) }
    self.init(info)
  }

  package init(_ info: stat) {
    stamp = FileStamp(info)
    switch info.st_mode & S_IFMT {
    case S_IFREG: kind = .regular
    case S_IFDIR: kind = .directory
    case S_IFLNK: kind = .link
    case S_IFIFO: kind = .pipe
    case S_IFSOCK: kind = .socket
    default: kind = .device
    }
    size = Int(info.st_size)
    links = Int(info.st_nlink)
    owner = info.st_uid
    mode = info.st_mode & 0o7777
  }

  /// Returns the reason why another user could change the entry; `nil` if none can. The target of a link is checked
  /// separately.
  package func weakness(in place: FileProtection.Place) -> UnsafeFolderReason? {
    kind == .link
      ? nil : FileProtection.weakness(owner: owner, mode: mode, isFolder: kind == .directory, in: place)
  }

  /// True if only the owner can access entries of the folder, whatever their permissions.
  package var isClosedToOthers: Bool { mode & 0o011 == 0 }
}
