import Foundation
import Glibc

/// Executable files for tests.
package enum ExecutableFile {
  /// `F_SETLEASE`, which the module Glibc does not export.
  private static let setLease: Int32 = 1024

  /// Writes a script that can be started at once.
  ///
  /// Linux does not start a file that is open for writing (`ETXTBSY`). A program that another thread starts at the same
  /// time inherits the open descriptor and keeps it until the program runs. So this function waits until no process has
  /// the file open for writing: only then does the kernel grant a read lease (fcntl(2), `F_SETLEASE`).
  ///
  /// - Parameters:
  ///   - script: The script, with its `#!` line.
  ///   - path: The path of the file; an existing file is replaced.
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
