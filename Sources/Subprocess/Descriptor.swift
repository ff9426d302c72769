internal import CSystem
internal import Glibc

/// A descriptor of this process that no other program inherits, closed with its owner.
///
/// Its number is above those of the standard streams, also when this process has closed one of them: otherwise
/// what is put in the place of one stream of a child could be the source of another.
struct Descriptor: ~Copyable {
  /// The number; negative when nothing is open, which `poll(2)` passes over.
  private(set) var number: Int32

  /// The number after those of the standard streams.
  static let firstFree: Int32 = 3

  /// Nothing open.
  init() { number = -1 }

  fileprivate init(_ number: Int32) { self.number = number }

  /// Opens a file; `open(2)`. A file that is created is private to the user.
  static func opening(_ path: String, _ flags: Int32) throws(ProcessError) -> Descriptor {
    let opened = unsafe open(path, flags | O_CLOEXEC, 0o600)
    guard opened >= 0 else { throw .systemCall(action: "open", path: path, errno: errno) }
    return try Descriptor(opened).raised()
  }

  /// A second descriptor for what another one is open for.
  static func copying(_ other: Int32) throws(ProcessError) -> Descriptor {
    let number = fcntl(other, F_DUPFD_CLOEXEC, firstFree)
    guard number >= 0 else {
      throw .systemCall(action: "copy", path: "descriptor \(other)", errno: errno)
    }
    return Descriptor(number)
  }

  /// A descriptor that becomes readable when a process has ended; `pidfd_open(2)`.
  static func watching(_ process: pid_t) throws(ProcessError) -> Descriptor {
    let opened = keytree_process_descriptor(process)
    guard opened >= 0 else {
      throw .systemCall(action: "watch", path: "process \(process)", errno: errno)
    }
    return try Descriptor(opened).raised()
  }

  deinit { if isOpen { Glibc.close(number) } }

  /// A Boolean value that indicates whether it has not been closed.
  var isOpen: Bool { number >= 0 }

  /// Closes it now, if it is open.
  mutating func close() {
    if isOpen { Glibc.close(number) }
    number = -1
  }

  /// Lets reads and writes return when there is nothing to read, or no room.
  func neverWait() { _ = fcntl(number, F_SETFL, O_NONBLOCK) }

  // Above the standard streams.
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

  /// Makes a pipe.
  static func make() throws(ProcessError) -> Pipe {
    var ends: [Int32] = [-1, -1]
    guard unsafe keytree_pipe(&ends) == 0 else {
      throw .systemCall(action: "make", path: "a pipe", errno: errno)
    }
    // Both have an owner before anything can fail.
    let readEnd = Descriptor(ends[0])
    let writeEnd = Descriptor(ends[1])
    return Pipe(readEnd: try readEnd.raised(), writeEnd: try writeEnd.raised())
  }
}
