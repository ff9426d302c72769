internal import CSystem
internal import Glibc

extension Repository {
  /// Flushes the folder entries of the files that a commit has created to disk, which `core.fsync` does not do.
  ///
  /// Only folders that have just changed are flushed, because each flush may have to empty the cache of the disk.
  ///
  /// - Parameter start: The time before the commit, in seconds since 1970.
  package func synchronizeFolders(changedSince start: Int) {
    let objects = "\(commonFolder)/objects"
    for folder in ["\(objects)/pack", objects, gitFolder, commonFolder, "\(commonFolder)/refs/heads"] {
      var facts = stat()
      // The clocks of file systems are coarse.
      guard unsafe stat(folder, &facts) == 0, facts.st_mtim.tv_sec >= start - 2 else { continue }
      let descriptor = unsafe keytree_openat(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
      guard descriptor >= 0 else { continue }
      // Errors are ignored, because the change itself is already on disk. If a power failure loses the last commit, the
      // store is compared with the history and committed again.
      fsync(descriptor)
      close(descriptor)
    }
  }
}
