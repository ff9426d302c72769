internal import CSystem

/// A part of a secret that several owners share, such as one field of a file of passwords.
///
/// What was read from one source is held once, in one wiped block, and each part of it is a
/// range of that block, which is wiped when the last of them goes.
package struct SecretSlice: Sendable {
  // A class, because a noncopyable value cannot be shared by copyable ones.
  private final class Block: Sendable {
    let bytes: SecretBytes

    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
  }

  private let block: Block
  private let range: Range<Int>

  /// Takes over a whole secret.
  ///
  /// - Parameter bytes: The secret.
  package init(_ bytes: consuming SecretBytes) {
    range = 0..<bytes.count
    block = Block(bytes)
  }

  private init(block: Block, range: Range<Int>) {
    self.block = block
    self.range = range
  }

  /// Its size in bytes.
  package var count: Int { range.count }

  /// A Boolean value that indicates whether there are no bytes.
  package var isEmpty: Bool { range.isEmpty }

  /// Names a part without copying it.
  ///
  /// - Parameter part: The part, in bytes from the start of this one.
  /// - Returns: The part; it keeps the whole block alive.
  package func part(_ part: Range<Int>) -> SecretSlice {
    precondition(part.lowerBound >= 0 && part.upperBound <= count, "a part lies inside the whole")
    let start = range.lowerBound
    return SecretSlice(block: block, range: start + part.lowerBound..<start + part.upperBound)
  }

  /// Lends the bytes for the time of a call.
  ///
  /// - Parameter body: Reads the bytes. It must not keep the pointer.
  /// - Returns: What the body returns.
  /// - Throws: What the body throws.
  package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe block.bytes.withBytes { bytes throws(E) in
      try unsafe body(UnsafeRawBufferPointer(rebasing: bytes[range]))
    }
  }

  /// Copies the bytes into a secret of its own, to be sealed.
  ///
  /// - Returns: The copy.
  package func copy() -> SecretBytes { block.bytes.copy(range) }

  /// Compares two secrets in a time that depends on their lengths only.
  ///
  /// - Parameter other: What to compare with.
  /// - Returns: Whether both hold the same bytes.
  package func isEqual(to other: SecretSlice) -> Bool {
    guard count == other.count else { return false }
    return unsafe withBytes { mine in
      unsafe other.withBytes { theirs in
        guard let mine = mine.baseAddress, let theirs = theirs.baseAddress else { return true }
        return unsafe keytree_equal(mine, theirs, count) != 0
      }
    }
  }

  /// Compares with text that is no secret, such as a keyword; nothing is copied.
  ///
  /// - Parameter text: The text.
  /// - Returns: Whether these are its bytes.
  package func isEqual(toText text: String) -> Bool {
    unsafe withBytes { unsafe $0.elementsEqual(text.utf8) }
  }

  /// Copies bytes that are to become an attribute, which is public.
  ///
  /// - Returns: The bytes. They are not wiped: never call this for what has to stay secret.
  package func publicBytes() -> [UInt8] { unsafe withBytes { unsafe Array($0) } }
}
