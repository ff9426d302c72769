internal import CSystem
internal import Glibc

/// A descriptor that child processes do not inherit, and that is closed when its owner is destroyed.
///
/// Its number is above those of the standard streams, even if this process has closed one of them. Otherwise `dup2(2)`
/// to one stream of a child could overwrite the descriptor for another stream.
struct Descriptor: ~Copyable {
  /// The number; negative if nothing is open. `poll(2)` ignores a negative number.
  private(set) var number: Int32

  /// The first number after those of the standard streams.
  static let firstFree: Int32 = 3

  /// Creates a value without an open descriptor.
  init() { number = -1 }

  fileprivate init(_ number: Int32) { self.number = number }

  /// Opens a file with `open(2)`.
  static func opening(_ path: String, _ flags: Int32) throws(ProcessError) -> Descriptor {
    let opened = unsafe open(path, flags | O_CLOEXEC, 0o600)
    guard opened >= 0 else { throw .systemCall(action: "open", path: path, errno: errno) }
    return try Descriptor(opened).raised()
  }

  /// Duplicates a descriptor.
  static func copying(_ other: Int32) throws(ProcessError) -> Descriptor {
    let number = fcntl(other, F_DUPFD_CLOEXEC, firstFree)
    guard number >= 0 else {
      throw .systemCall(action: "copy", path: "descriptor \(other)", errno: errno)
    }
    return Descriptor(number)
  }

  /// Returns a descriptor that becomes readable when a process has ended (`pidfd_open(2)`).
  static func watching(_ process: pid_t) throws(ProcessError) -> Descriptor {
    let opened = keytree_process_descriptor(process)
    guard opened >= 0 else {
      throw .systemCall(action: "watch", path: "process \(process)", errno: errno)
    }
    return try Descriptor(opened).raised()
  }

  deinit { if isOpen { Glibc.close(number) } }

  /// True if the descriptor is open.
  var isOpen: Bool { number >= 0 }

  /// Closes the descriptor if it is open.
  mutating func close() {
    if isOpen { Glibc.close(number) }
    number = -1
  }

  /// Makes reads and writes nonblocking.
  func neverWait() { _ = fcntl(number, F_SETFL, O_NONBLOCK) }

  // Moves the descriptor above the standard streams.
  fileprivate consuming func raised() throws(ProcessError) -> Descriptor {
    if number >= Self.firstFree { return self }
    return try Self.copying(number)
  }
}

/// A pipe between this process and a child; `pipe(7)`.
struct Pipe: ~Copyable {
  /// The read end.
  let readEnd: Descriptor
  /// The write end.
  let writeEnd: Descriptor

  /// Creates a pipe.
  static func make() throws(ProcessError) -> Pipe {
    var ends: [Int32] = [-1, -1]
    guard unsafe keytree_pipe(&ends) == 0 else {
      throw .systemCall(action: "make", path: "a pipe", errno: errno)
    }
    // Both ends have an owner before the next call can fail, so they are closed in any case.
    let readEnd = Descriptor(ends[0])
    let writeEnd = Descriptor(ends[1])
    return Pipe(readEnd: try readEnd.raised(), writeEnd: try writeEnd.raised())
  }
}
