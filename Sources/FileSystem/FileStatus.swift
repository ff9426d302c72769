package import Glibc

/// What stands at a path.
package struct FileStatus: Equatable, Sendable {
  /// The kinds of things that can stand in a folder.
  package enum Kind: String, Sendable { case regular, directory, link, pipe, socket, device }

  package let kind: Kind
  package let size: Int
  package let links: Int
  package let owner: UInt32
  /// Permission bits, including set-id and sticky.
  package let mode: UInt32

  /// What changes with the file.
  package let stamp: FileStamp

  /// Device and inode, which tell one file from another of the same name.
  package var identity: [UInt64] { stamp.identity }

  /// The status of what a path leads to, links followed; `stat(2)`.
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

  /// Why somebody else could change it; `nil` when nobody can. What a link leads to is looked at elsewhere.
  package func weakness(in place: FileProtection.Place) -> UnsafeFolderReason? {
    kind == .link
      ? nil : FileProtection.weakness(owner: owner, mode: mode, isFolder: kind == .directory, in: place)
  }

  /// Whether nobody but the owner can walk through the folder, whatever the permissions of what is in it.
  package var isClosedToOthers: Bool { mode & 0o011 == 0 }
}
