internal import CSystem
internal import Glibc

/// Memory pages that contain a single secret and nothing else.
///
/// Whole pages, because locks of `mlock(2)` do not nest: if two secrets shared a page, releasing the first would unlock
/// the second.
enum SecretPages {
  /// Allocates new pages.
  ///
  /// - Parameter capacity: The number of bytes. 0 allocates nothing.
  /// - Returns: A zeroed block of at least that size, and a Boolean value that indicates whether it is kept out of swap.
  static func allocate(_ capacity: Int) -> (block: UnsafeMutableRawBufferPointer, isLocked: Bool) {
    guard capacity > 0 else { return unsafe (UnsafeMutableRawBufferPointer(start: nil, count: 0), true) }
    #if FUZZING
      // The system calls below would take most of the time of a fuzzer.
      return unsafe (UnsafeMutableRawBufferPointer(start: calloc(1, capacity), count: capacity), true)
    #else
      return unsafe map(capacity)
    #endif
  }

  private static func map(_ capacity: Int) -> (block: UnsafeMutableRawBufferPointer, isLocked: Bool) {
    let page = max(Int(sysconf(Int32(_SC_PAGESIZE))), 4096)
    let size = (capacity + page - 1) / page * page
    let start = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let start = unsafe start, unsafe start != MAP_FAILED else {
      preconditionFailure("out of memory for a secret of \(capacity) bytes")
    }
    // Errors are ignored, because both calls are additional protection. If the limit on locked memory is exhausted, the
    // secret remains usable, but it may be swapped out, as the threat model states.
    let isLocked = unsafe mlock(start, size) == 0
    _ = unsafe madvise(start, size, Int32(MADV_DONTDUMP))
    return unsafe (UnsafeMutableRawBufferPointer(start: start, count: size), isLocked)
  }

  /// Wipes a block and frees its pages.
  ///
  /// - Parameter block: A block that `allocate` returned.
  static func release(_ block: UnsafeMutableRawBufferPointer) {
    guard let start = block.baseAddress else { return }
    unsafe keytree_wipe(start, block.count)
    #if FUZZING
      unsafe free(start)
    #else
      // Fails only for an invalid address, and `allocate` returns none.
      _ = unsafe munmap(start, block.count)
    #endif
  }
}
