internal import Glibc

/// Returns freed memory to the system.
///
/// GPGME forks the test process twice for each gpg, and a fork copies the page tables of all memory that the process
/// ever used. In a long run this takes longer than the tests themselves.
enum FreedMemory {
  private typealias Option = @convention(c) (Int32, Int32) -> Int32
  private typealias Trim = @convention(c) (Int) -> Int32

  // <malloc.h> is not part of the Glibc module.
  private static let option = unsafe dlsym(nil, "mallopt").map { unsafe unsafeBitCast($0, to: Option.self) }
  private static let trim = unsafe dlsym(nil, "malloc_trim").map { unsafe unsafeBitCast($0, to: Trim.self) }

  /// Sets the limits of the allocator once.
  private static let limits: Void = {
    // M_ARENA_MAX: freed memory in the arena of a thread that has ended is not reused by other threads.
    _ = option?(-8, 2)
    // M_TRIM_THRESHOLD and M_MMAP_THRESHOLD: large blocks are returned at once.
    _ = option?(-1, 128 << 10)
    _ = option?(-3, 128 << 10)
  }()

  /// Returns the memory that earlier tests have freed.
  static func release() {
    limits
    _ = trim?(0)
  }
}
