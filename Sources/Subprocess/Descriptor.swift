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

  /// Opens a file; `open(2)`.
  init(opening path: String, _ flags: Int32) throws(ProcessError) {
    let opened = unsafe open(path, flags | O_CLOEXEC)
    guard opened >= 0 else { throw .systemCall(action: "open", path: path, errno: errno) }
    number = try Self.raise(opened)
  }

  /// A second descriptor for what another one is open for.
  init(copying other: Int32) throws(ProcessError) { number = try Self.copy(other) }

  fileprivate init(_ number: Int32) { self.number = number }

  deinit { if isOpen { Glibc.close(number) } }

  /// A descriptor that becomes readable when a process has ended; not open where the kernel offers none.
  static func watching(_ process: pid_t) -> Descriptor {
    let opened = keytree_process_descriptor(process)
    // No descriptors are left when it cannot be raised, which is no reason to fail either.
    guard opened >= 0, let number = try? raise(opened) else { return Descriptor() }
    return Descriptor(number)
  }

  /// Whether it has not been closed.
  var isOpen: Bool { number >= 0 }

  /// Closes it now, if it is open.
  mutating func close() {
    if isOpen { Glibc.close(number) }
    number = -1
  }

  /// Lets reads and writes return when there is nothing to read, or no room.
  func neverWait() { _ = fcntl(number, F_SETFL, O_NONBLOCK) }

  // Moves what was opened above the standard streams; it is closed when that fails.
  fileprivate static func raise(_ opened: Int32) throws(ProcessError) -> Int32 {
    guard opened < firstFree else { return opened }
    defer { Glibc.close(opened) }
    return try copy(opened)
  }

  private static func copy(_ other: Int32) throws(ProcessError) -> Int32 {
    let number = fcntl(other, F_DUPFD_CLOEXEC, firstFree)
    guard number >= 0 else {
      throw .systemCall(action: "copy", path: "descriptor \(other)", errno: errno)
    }
    return number
  }
}

/// A pipe between this process and a child; `pipe(7)`.
struct Pipe: ~Copyable {
  /// What is read from.
  let readEnd: Descriptor
  /// What is written to.
  let writeEnd: Descriptor

  /// Makes a pipe.
  init() throws(ProcessError) {
    var ends: [Int32] = [-1, -1]
    guard unsafe keytree_pipe(&ends) == 0 else {
      throw .systemCall(action: "make", path: "a pipe", errno: errno)
    }
    do throws(ProcessError) {
      ends[0] = try Descriptor.raise(ends[0])
    } catch {
      close(ends[1])
      throw error
    }
    do throws(ProcessError) {
      ends[1] = try Descriptor.raise(ends[1])
    } catch {
      close(ends[0])
      throw error
    }
    readEnd = Descriptor(ends[0])
    writeEnd = Descriptor(ends[1])
  }
}
