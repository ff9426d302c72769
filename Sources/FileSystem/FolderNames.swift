internal import CSystem
internal import Glibc

/// Lists the names in a folder with `readdir(3)`.
package enum FolderNames {
  /// The error of a listing.
  package struct Failure: Error {
    /// The error number of the system.
    package let errno: Int32
  }

  /// Lists an open folder. Its descriptor stays open, and its position does not change.
  ///
  /// - Parameter folder: The folder's descriptor.
  /// - Returns: The names as bytes, without `.` and `..`, in the order of the system.
  /// - Throws: The error of the system.
  package static func list(_ folder: Int32) throws(Failure) -> [[UInt8]] {
    try entries(folder).map(\.name)
  }

  /// A name in a folder.
  package struct Entry {
    /// The name, which need not be UTF-8.
    package let name: [UInt8]
    /// The type of the entry: `DT_REG`, `DT_DIR` and so on; `DT_UNKNOWN` if the file system does not report it.
    package let type: Int
  }

  /// Lists an open folder with the types of its entries. Its descriptor stays open, and its position does not change.
  ///
  /// - Parameter folder: The folder's descriptor.
  /// - Returns: The entries without `.` and `..`, in the order of the system.
  /// - Throws: The error of the system.
  package static func entries(_ folder: Int32) throws(Failure) -> [Entry] {
    // fdopendir(3) takes ownership of the descriptor and moves its position, so it gets a separate one.
    let own = unsafe keytree_openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    guard own >= 0 else { throw Failure(errno: errno) }
    guard let stream = unsafe fdopendir(own) else {
      let failure = Failure(errno: errno)
      close(own)
      throw failure
    }
    defer { unsafe closedir(stream) }
    var entries: [Entry] = []
    while true {
      errno = 0
      guard let entry = unsafe readdir(stream) else {
        guard errno == 0 else { throw Failure(errno: errno) }
        return entries
      }
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
      if name == [dot] || name == [dot, dot] { continue }
      unsafe entries.append(Entry(name: name, type: Int(entry.pointee.d_type)))
    }
  }

  /// Lists a folder by its path.
  ///
  /// - Returns: The names that are valid UTF-8, because others cannot be passed back to the system as text. Empty if
  ///   the folder cannot be listed.
  package static func text(at path: String) -> [String] {
    let folder = unsafe keytree_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
    guard folder >= 0 else { return [] }
    defer { close(folder) }
    return text(folder)
  }

  /// Lists an open folder.
  ///
  /// - Returns: The names, as `text(at:)` returns them.
  package static func text(_ folder: Int32) -> [String] {
    guard let names = try? list(folder) else { return [] }
    return names.compactMap { String(validating: $0, as: UTF8.self) }
  }

  private static let dot = UInt8(ascii: ".")
}
