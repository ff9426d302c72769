internal import CSystem
internal import Glibc
internal import Secrets

/// A pipe that holds a secret on its way between this process and a program: no copy of it is in ordinary memory.
///
/// Nobody reads while it is filled, so it takes what the buffer of a pipe takes; `pipe(7)`.
final class ClipboardPipe {
  /// The bytes that a pipe takes, unless the system gives this user smaller ones.
  static let capacity = 65_536

  /// The end that is read.
  let readEnd: Int32
  /// The end that is written to; negative once it is closed.
  private(set) var writeEnd: Int32

  /// An empty pipe; nil when there are no descriptors left.
  init?() {
    var ends: [Int32] = [-1, -1]
    guard unsafe keytree_pipe(&ends) == 0 else { return nil }
    (readEnd, writeEnd) = (ends[0], ends[1])
  }

  /// A pipe with a secret in it and nothing behind; nil when it does not take all of it.
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

  /// What a program has written to it; nil when it cannot be read.
  func content() -> SecretBytes? {
    close(writeEnd)
    writeEnd = -1
    // What a program has left running may still hold the other end.
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
