import Foundation
import Glibc

/// Executable files for tests.
package enum ExecutableFile {
  /// `F_SETLEASE`, which the module Glibc does not export.
  private static let setLease: Int32 = 1024

  /// Writes a script that can be started at once.
  ///
  /// - Parameters:
  ///   - script: The script, with its `#!` line.
  ///   - path: The path of the file; an existing file is replaced.
  ///   - mode: The permissions.
  package static func write(_ script: String, to path: String, mode: Int = 0o700) throws {
    try Data(script.utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    try waitForWriters(of: path)
  }

  /// Copies a program that can be started at once.
  ///
  /// - Parameters:
  ///   - program: The path of the program.
  ///   - path: The path of the copy, which does not exist.
  package static func copy(_ program: String, to path: String) throws {
    try FileManager.default.copyItem(atPath: program, toPath: path)
    try waitForWriters(of: path)
  }

  /// Waits until no process has a file open for writing.
  ///
  /// Linux does not start a file that is open for writing (`ETXTBSY`). A program that another thread starts at the same
  /// time inherits the open descriptor and keeps it until the program runs. Only without writers does the kernel grant a
  /// read lease (fcntl(2), `F_SETLEASE`).
  private static func waitForWriters(of path: String) throws {
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
