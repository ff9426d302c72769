import Glibc
import Synchronization
import TestSupport
import Testing

/// A thread with its own descriptors, so that a test can count and close them while other tests open theirs.
enum OwnDescriptors {
  private final class Result<R: Sendable>: Sendable {
    let value = Mutex<R?>(nil)
  }

  /// Runs a body on such a thread, which has only the standard streams, and returns the result.
  static func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) throws -> R {
    let result = Result<R>()
    try ThreadGroup.run(1) { _ in
      try separate()
      let value = try body()
      result.value.withLock { $0 = value }
    }
    return try #require(result.value.withLock { $0 })
  }

  /// The open descriptors of this thread.
  static var numbers: [Int32] {
    guard let stream = unsafe opendir("/proc/thread-self/fd") else { return [] }
    defer { unsafe closedir(stream) }
    var numbers: [Int32] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if let number = Int32(name), unsafe number != dirfd(stream) { numbers.append(number) }
    }
    return numbers.sorted()
  }

  // unshare(2), which Glibc declares for C programs only as a GNU extension.
  private static func separate() throws {
    typealias Unshare = @convention(c) (Int32) -> Int32
    let address = try unsafe #require(dlsym(nil, "unshare"))
    let unshare = unsafe unsafeBitCast(address, to: Unshare.self)
    // CLONE_FILES.
    try #require(unshare(0x400) == 0)
    // Descriptors of other tests must not stay open as long as this thread lives.
    for number in numbers where number > 2 { close(number) }
  }
}
