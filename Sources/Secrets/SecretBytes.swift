internal import CSystem
internal import Glibc

/// Bytes with exactly one owner that are wiped when the owner is destroyed.
///
/// The bytes have their own memory pages, which are kept out of swap where the system's limit allows it (`mlock(2)`,
/// best effort) and out of core dumps (`MADV_DONTDUMP`). When the value grows, the old block is wiped. There is no
/// conversion to `String` and no description: a secret is passed on as bytes or not at all.
@safe
public struct SecretBytes: ~Copyable, @unchecked Sendable {
  // Unchecked, because the compiler considers the pointer unsafe. It is never shared: the struct cannot be copied, and
  // `withBytes` lends it only for the duration of a call.
  private var block: UnsafeMutableRawBufferPointer

  /// The number of bytes.
  public private(set) var count: Int

  /// A Boolean value that indicates whether the system keeps the bytes out of swap.
  package private(set) var isLocked: Bool

  /// The number of bytes of memory that the value occupies: whole pages.
  package var memorySize: Int { unsafe block.count }

  /// Creates an empty value that allocates no memory.
  public init() {
    unsafe block = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    isLocked = true
    count = 0
  }

  /// Creates an empty value with reserved capacity.
  ///
  /// - Parameter capacity: The number of bytes that can be added before the block has to grow.
  public init(capacity: Int) {
    precondition(capacity >= 0, "the capacity is negative")
    unsafe (block, isLocked) = SecretPages.allocate(capacity)
    count = 0
  }

  /// Copies bytes from memory that the caller owns. The caller has to wipe that memory if it contains a secret.
  ///
  /// - Parameter bytes: The bytes to copy.
  public init(copying bytes: UnsafeRawBufferPointer) {
    self.init(capacity: bytes.count)
    unsafe append(contentsOf: bytes)
  }

  /// Copies bytes from a collection.
  ///
  /// - Parameter bytes: The bytes to copy. Use this only in tests and for values that are not secret, because an array
  ///   is not wiped when it is freed.
  public init(copying bytes: some Collection<UInt8>) {
    self.init(capacity: bytes.count)
    for byte in bytes { append(byte) }
  }

  deinit { unsafe SecretPages.release(block) }

  /// True if there are no bytes.
  public var isEmpty: Bool { count == 0 }

  /// Adds one byte at the end.
  ///
  /// - Parameter byte: The byte to add.
  public mutating func append(_ byte: UInt8) {
    reserve(1)
    unsafe block[count] = byte
    count += 1
  }

  /// Adds bytes at the end.
  ///
  /// - Parameter bytes: The bytes to add. They must not be part of this value.
  public mutating func append(contentsOf bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 0 else { return }
    reserve(bytes.count)
    unsafe UnsafeMutableRawBufferPointer(rebasing: block[count...]).copyMemory(from: bytes)
    count += bytes.count
  }

  /// Adds the bytes of another secret at the end.
  ///
  /// - Parameter other: The secret to add. It is not changed.
  public mutating func append(_ other: borrowing SecretBytes) {
    unsafe append(contentsOf: UnsafeRawBufferPointer(rebasing: other.block[..<other.count]))
  }

  /// Adds bytes that a source writes directly into the block, without an intermediate copy.
  ///
  /// - Parameters:
  ///   - room: The maximum number of bytes that the source may write.
  ///   - source: Fills the buffer from its start and returns the number of bytes that it wrote.
  /// - Returns: The number of bytes that were added.
  /// - Throws: The error of the source. In this case nothing is added, and the bytes that it wrote are wiped.
  package mutating func append<E: Error>(
    room: Int, from source: (UnsafeMutableRawBufferPointer) throws(E) -> Int
  ) throws(E) -> Int {
    reserve(room)
    let free = unsafe UnsafeMutableRawBufferPointer(rebasing: block[count..<(count + room)])
    do {
      let written = try unsafe source(free)
      precondition(written >= 0 && written <= room, "the source wrote past the end of the buffer")
      count += written
      return written
    } catch {
      if let start = free.baseAddress { unsafe keytree_wipe(start, room) }
      throw error
    }
  }

  /// Calls a closure with the bytes.
  ///
  /// - Parameter body: Reads the bytes. It must not keep the pointer.
  /// - Returns: The result of the closure.
  /// - Throws: The error of the closure.
  public func withBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try unsafe body(UnsafeRawBufferPointer(rebasing: block[..<count]))
  }

  /// Copies a part into a separate secret.
  ///
  /// - Parameter range: The range of the part, in bytes.
  /// - Returns: The copy.
  public func copy(_ range: Range<Int>) -> SecretBytes {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "the range is out of bounds")
    return unsafe SecretBytes(copying: UnsafeRawBufferPointer(rebasing: block[range]))
  }

  /// Copies all bytes into a separate secret.
  ///
  /// - Returns: The copy.
  public func copy() -> SecretBytes { copy(0..<count) }

  /// Compares two secrets in a time that depends only on their lengths, not on where they differ.
  ///
  /// - Parameter other: The secret to compare with.
  /// - Returns: True if both contain the same bytes.
  public func isEqual(to other: borrowing SecretBytes) -> Bool {
    guard count == other.count else { return false }
    guard let mine = unsafe block.baseAddress, let theirs = unsafe other.block.baseAddress else {
      return true
    }
    return unsafe keytree_equal(mine, theirs, count) != 0
  }

  /// Removes and wipes the last byte. The secret must not be empty.
  public mutating func removeLast() { truncate(to: count - 1) }

  /// Shortens the secret, and wipes the removed bytes.
  ///
  /// - Parameter length: The new number of bytes, at most the current one.
  public mutating func truncate(to length: Int) {
    precondition(length >= 0 && length <= count, "the new length is out of bounds")
    if let start = unsafe block.baseAddress { unsafe keytree_wipe(start + length, count - length) }
    count = length
  }

  // Reserves capacity for more bytes. Doubling keeps the number of reallocations small, each of which wipes the old
  // block.
  private mutating func reserve(_ more: Int) {
    precondition(more >= 0, "the number of bytes is negative")
    let needed = count + more
    let room = unsafe block.count
    guard needed > room else { return }
    let wider = unsafe SecretPages.allocate(max(needed, room * 2))
    unsafe wider.block.copyMemory(from: UnsafeRawBufferPointer(rebasing: block[..<count]))
    unsafe SecretPages.release(block)
    unsafe (block, isLocked) = wider
  }
}
