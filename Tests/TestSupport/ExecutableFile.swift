import Foundation
import Glibc

/// Files that tests let other programs start.
package enum ExecutableFile {
  /// `F_SETLEASE`, which the module Glibc leaves out.
  private static let setLease: Int32 = 1024

  /// Writes a script that can be started at once.
  ///
  /// Linux does not start a file that is open for writing (`ETXTBSY`), and a program that another thread starts at the
  /// same time has the file open until it runs. So this waits until nobody writes to it: only then does the kernel grant
  /// a lease for reading (fcntl(2), `F_SETLEASE`).
  ///
  /// - Parameters:
  ///   - script: The script, with its `#!` line.
  ///   - path: The path of the file; an older one is replaced.
  package static func write(_ script: String, to path: String) throws {
    try Data(script.utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    defer { close(file) }
    while fcntl(file, setLease, F_RDLCK) != 0 {
      guard errno == EAGAIN else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
      usleep(1000)
    }
    _ = fcntl(file, setLease, F_UNLCK)
  }
}
