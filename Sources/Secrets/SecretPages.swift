internal import CSystem
internal import Glibc

/// Memory pages that hold nothing but one secret.
///
/// Whole pages, because `mlock(2)` does not nest: were two secrets on one page, releasing the first would
/// unlock the second.
enum SecretPages {
  /// Takes fresh pages.
  ///
  /// - Parameter capacity: How many bytes have to fit. 0 takes nothing.
  /// - Returns: A zeroed block of at least that size.
  static func allocate(_ capacity: Int) -> UnsafeMutableRawBufferPointer {
    guard capacity > 0 else { return unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0) }
    let page = max(Int(sysconf(Int32(_SC_PAGESIZE))), 4096)
    let size = (capacity + page - 1) / page * page
    let start = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let start = unsafe start, unsafe start != MAP_FAILED else {
      preconditionFailure("out of memory for a secret of \(capacity) bytes")
    }
    // Both only make the promise stronger. Where the limit on locked memory is used up the secret can
    // still be used; it may reach the swap space then, which the threat model says.
    _ = unsafe mlock(start, size)
    _ = unsafe madvise(start, size, Int32(MADV_DONTDUMP))
    return unsafe UnsafeMutableRawBufferPointer(start: start, count: size)
  }

  /// Wipes a block and gives its pages back.
  ///
  /// - Parameter block: What `allocate` returned.
  static func release(_ block: UnsafeMutableRawBufferPointer) {
    guard let start = block.baseAddress else { return }
    unsafe keytree_wipe(start, block.count)
    // Fails only for addresses that are no mapping of ours, which the type rules out.
    _ = unsafe munmap(start, block.count)
  }
}
