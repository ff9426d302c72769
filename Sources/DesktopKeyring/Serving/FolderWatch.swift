internal import Glibc

/// Reports changes of files in folders, with inotify(7).
final class FolderWatch {
  /// The descriptor that becomes readable when a file has changed; -1 if the system has no watches left.
  let descriptor: Int32
  private var watched: Set<Int32> = []
  /// True if a folder could not be watched, so that changes must be searched for at intervals.
  private(set) var isIncomplete: Bool

  /// The changes of interest: files that appear, disappear, or were written and closed.
  private static let events = UInt32(
    IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF)

  init() {
    descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    isIncomplete = descriptor < 0
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Watches folders, and no longer those of an earlier call. A folder that does not exist yet is noticed in its parent.
  ///
  /// - Parameter folders: The paths of the folders.
  func watch(_ folders: [String]) {
    guard descriptor >= 0 else { return }
    isIncomplete = false
    var current: Set<Int32> = []
    for folder in folders {
      guard let watch = nearest(folder) else {
        isIncomplete = true
        continue
      }
      current.insert(watch)
    }
    for watch in watched.subtracting(current) {
      // Fails if the folder is gone, and its watch with it.
      _ = inotify_rm_watch(descriptor, watch)
    }
    watched = current
  }

  /// Watches a folder, or the nearest existing folder above it.
  ///
  /// - Returns: The watch, which is the same for the same folder; nil if the system refuses it.
  private func nearest(_ folder: String) -> Int32? {
    var path = folder
    while true {
      let watch = unsafe inotify_add_watch(descriptor, path, Self.events)
      if watch >= 0 { return watch }
      guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return nil }
      path = String(path[..<slash])
    }
  }

  /// Takes the changes that were reported.
  ///
  /// - Returns: True if there was any, or if the system lost some.
  func takeChanges() -> Bool {
    guard descriptor >= 0 else { return false }
    // The names are not needed: everything is compared.
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    var changed = false
    while unsafe read(descriptor, &bytes, bytes.count) > 0 { changed = true }
    return changed
  }
}
