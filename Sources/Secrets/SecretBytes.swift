internal import CSystem
internal import Glibc

/// Bytes that belong to exactly one owner and are wiped when that owner lets go of them.
///
/// The bytes live in memory pages of their own, kept out of swap where the system's limit allows it
/// (`mlock(2)`, best effort) and out of core dumps (`MADV_DONTDUMP`). Growth wipes the block it leaves.
/// There is no conversion to `String` and no description: a secret is passed on as bytes or not at all.
@safe
public struct SecretBytes: ~Copyable, @unchecked Sendable {
  // Unchecked, because the pointer is unsafe in the eyes of the compiler. It is never shared: the struct
  // cannot be copied, and `withBytes` lends it only for the time of a call.
  private var block: UnsafeMutableRawBufferPointer

  /// The number of bytes.
  public private(set) var count: Int

  /// Holds nothing and takes no memory.
  public init() {
    unsafe block = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    count = 0
  }

  /// Holds nothing yet, with room for what is to come.
  ///
  /// - Parameter capacity: How many bytes can be added before the block has to grow.
  public init(capacity: Int) {
    precondition(capacity >= 0, "a capacity is never negative")
    unsafe block = SecretPages.allocate(capacity)
    count = 0
  }

  /// Copies bytes from memory that the caller still owns, and has to wipe if they were secret there.
  ///
  /// - Parameter bytes: What to copy.
  public init(copying bytes: UnsafeRawBufferPointer) {
    self.init(capacity: bytes.count)
    unsafe append(contentsOf: bytes)
  }

  /// Copies bytes out of a collection, which stays as it is.
  ///
  /// - Parameter bytes: What to copy. Meant for tests and for values that are not secret by themselves:
  ///   an array is not wiped when it goes.
  public init(copying bytes: some Collection<UInt8>) {
    self.init(capacity: bytes.count)
    for byte in bytes { append(byte) }
  }

  deinit { unsafe SecretPages.release(block) }

  /// A Boolean value that indicates whether there are no bytes.
  public var isEmpty: Bool { count == 0 }

  /// Adds one byte at the end.
  ///
  /// - Parameter byte: What to add.
  public mutating func append(_ byte: UInt8) {
    reserve(1)
    unsafe block[count] = byte
    count += 1
  }

  /// Adds bytes at the end.
  ///
  /// - Parameter bytes: What to add. They must not lie inside this value.
  public mutating func append(contentsOf bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 0 else { return }
    reserve(bytes.count)
    unsafe UnsafeMutableRawBufferPointer(rebasing: block[count...]).copyMemory(from: bytes)
    count += bytes.count
  }

  /// Adds the bytes of another secret at the end.
  ///
  /// - Parameter other: What to add. It keeps its bytes.
  public mutating func append(_ other: borrowing SecretBytes) {
    unsafe append(contentsOf: UnsafeRawBufferPointer(rebasing: other.block[..<other.count]))
  }

  /// Lets a source write straight into the block, so that no copy of the bytes is made on the way.
  ///
  /// - Parameters:
  ///   - room: How many bytes the source may write at most.
  ///   - source: Fills the buffer from its start and returns how many bytes it wrote.
  /// - Returns: How many bytes were added.
  /// - Throws: Whatever the source throws. Nothing was added then, and what it wrote is wiped.
  package mutating func append<E: Error>(
    room: Int, from source: (UnsafeMutableRawBufferPointer) throws(E) -> Int
  ) throws(E) -> Int {
    reserve(room)
    let free = unsafe UnsafeMutableRawBufferPointer(rebasing: block[count..<(count + room)])
    do {
      let written = try unsafe source(free)
      precondition(written >= 0 && written <= room, "a source wrote past the room it was given")
      count += written
      return written
    } catch {
      if let start = free.baseAddress { unsafe keytree_wipe(start, room) }
      throw error
    }
  }

  /// Lends the bytes for the time of a call.
  ///
  /// - Parameter body: Reads the bytes. It must not keep the pointer.
  /// - Returns: What the body returns.
  /// - Throws: What the body throws.
  public func withBytes<R: ~Copyable, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try unsafe body(UnsafeRawBufferPointer(rebasing: block[..<count]))
  }

  /// Copies a part into a secret of its own.
  ///
  /// - Parameter range: The part, in bytes from the start.
  /// - Returns: The copy.
  public func copy(_ range: Range<Int>) -> SecretBytes {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "a part lies inside the whole")
    return unsafe SecretBytes(copying: UnsafeRawBufferPointer(rebasing: block[range]))
  }

  /// Copies all bytes into a second secret.
  ///
  /// - Returns: The copy.
  public func copy() -> SecretBytes { copy(0..<count) }

  /// Compares two secrets in a time that depends on their lengths only, never on where they differ.
  ///
  /// - Parameter other: What to compare with.
  /// - Returns: Whether both hold the same bytes.
  public func isEqual(to other: borrowing SecretBytes) -> Bool {
    guard count == other.count else { return false }
    guard let mine = unsafe block.baseAddress, let theirs = unsafe other.block.baseAddress else {
      return true
    }
    return unsafe keytree_equal(mine, theirs, count) != 0
  }

  /// Removes the last byte, and wipes the place where it was. There must be one.
  public mutating func removeLast() { truncate(to: count - 1) }

  /// Shortens the secret, and wipes what is cut off.
  ///
  /// - Parameter length: How many bytes stay, at most as many as there are.
  public mutating func truncate(to length: Int) {
    precondition(length >= 0 && length <= count, "a secret is never made longer by cutting it")
    if let start = unsafe block.baseAddress { unsafe keytree_wipe(start + length, count - length) }
    count = length
  }

  // Makes room for more bytes. Doubling keeps the number of moves, each of which wipes, small.
  private mutating func reserve(_ more: Int) {
    precondition(more >= 0, "room is never negative")
    let needed = count + more
    let room = unsafe block.count
    guard needed > room else { return }
    let wider = unsafe SecretPages.allocate(max(needed, room * 2))
    unsafe wider.copyMemory(from: UnsafeRawBufferPointer(rebasing: block[..<count]))
    unsafe SecretPages.release(block)
    unsafe block = wider
  }
}
