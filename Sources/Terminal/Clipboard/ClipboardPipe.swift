internal import CSystem
internal import Glibc
internal import Secrets

/// A pipe that carries a secret between this process and a program, without a copy in ordinary memory.
///
/// It is filled before a program reads it, so its capacity is the size of the pipe's buffer; `pipe(7)`.
final class ClipboardPipe {
  /// The capacity of a pipe in bytes, unless the system limits this user to smaller ones.
  static let capacity = 65_536

  /// The read end of the pipe.
  let readEnd: Int32
  /// The write end of the pipe; negative once it is closed.
  private(set) var writeEnd: Int32

  /// Creates an empty pipe, or returns nil if no descriptors are left.
  init?() {
    var ends: [Int32] = [-1, -1]
    guard unsafe keytree_pipe(&ends) == 0 else { return nil }
    (readEnd, writeEnd) = (ends[0], ends[1])
  }

  /// Creates a pipe that contains exactly a secret, or returns nil if the secret does not fit.
  convenience init?(holding secret: borrowing SecretBytes) {
    self.init()
    _ = fcntl(writeEnd, F_SETFL, O_NONBLOCK)
    let count = secret.count
    let written = unsafe secret.withBytes { unsafe keytree_write_quietly(writeEnd, $0.baseAddress, count) }
    close(writeEnd)
    writeEnd = -1
    guard written == count else { return nil }
  }

  deinit {
    close(readEnd)
    if writeEnd >= 0 { close(writeEnd) }
  }

  /// Returns everything that a program has written to the pipe, or nil if it cannot be read.
  func content() -> SecretBytes? {
    close(writeEnd)
    writeEnd = -1
    // A background process of the program may still hold the write end open, so do not wait for the end of input.
    _ = fcntl(readEnd, F_SETFL, O_NONBLOCK)
    var content = SecretBytes(capacity: Self.capacity)
    while true {
      let count = unsafe content.append(room: 4096) { room in
        max(unsafe read(readEnd, room.baseAddress, room.count), 0)
      }
      if count == 0 { return content }
    }
  }
}
