internal import CSystem
internal import Glibc

extension Repository {
  /// Brings to disk the names of what a commit has made, which `core.fsync` leaves out.
  ///
  /// Only for folders that have changed just now: for each one the disk may have to empty its memory.
  ///
  /// - Parameter start: When the first of it was made, in seconds since 1970.
  func synchronizeFolders(changedSince start: Int) {
    let objects = "\(commonFolder)/objects"
    for folder in ["\(objects)/pack", objects, gitFolder, commonFolder, "\(commonFolder)/refs/heads"] {
      var facts = stat()
      // Clocks of file systems tick slowly.
      guard unsafe stat(folder, &facts) == 0, facts.st_mtim.tv_sec >= start - 2 else { continue }
      let descriptor = unsafe keytree_openat(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
      guard descriptor >= 0 else { continue }
      // The change itself is on disk. A history that loses its last step to a power cut is compared and mended.
      fsync(descriptor)
      close(descriptor)
    }
  }
}
