internal import CSystem
internal import Glibc

extension Repository {
  /// Brings to disk the names of what a commit has made, which `core.fsync` leaves out.
  ///
  /// Where a folder has not changed this costs next to nothing.
  func synchronizeFolders() {
    let objects = "\(commonFolder)/objects"
    var folders = [objects, "\(objects)/pack", gitFolder, commonFolder, "\(commonFolder)/refs/heads"]
    for number in 0..<256 {
      folders.append("\(objects)/\(number < 16 ? "0" : "")\(String(number, radix: 16))")
    }
    for folder in folders {
      let descriptor = unsafe keytree_openat(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
      guard descriptor >= 0 else { continue }
      // The change itself is on disk. A history that loses its last step to a power cut is compared and mended.
      fsync(descriptor)
      close(descriptor)
    }
  }
}
