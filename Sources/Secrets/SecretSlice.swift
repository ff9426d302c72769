internal import CSystem

/// A part of a secret that has several owners, such as one field of a password file.
///
/// All parts of a source are ranges of the same block, which is wiped when the last part is freed.
package struct SecretSlice: Sendable {
  // A class, because copyable values cannot share a noncopyable one.
  private final class Block: Sendable {
    let bytes: SecretBytes

    init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
  }

  private let block: Block
  private let range: Range<Int>

  /// Creates a slice of a whole secret, which it takes ownership of.
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

  /// The number of bytes.
  package var count: Int { range.count }

  /// The number of bytes of memory that the whole secret occupies.
  package var memorySize: Int { block.bytes.memorySize }

  /// True if there are no bytes.
  package var isEmpty: Bool { range.isEmpty }

  /// Returns a part without copying it.
  ///
  /// - Parameter part: The range of the part within this slice, in bytes.
  /// - Returns: The part, which keeps the whole block alive.
  package func part(_ part: Range<Int>) -> SecretSlice {
    precondition(part.lowerBound >= 0 && part.upperBound <= count, "the range is out of bounds")
    let start = range.lowerBound
    return SecretSlice(block: block, range: start + part.lowerBound..<start + part.upperBound)
  }

  /// Calls a closure with the bytes.
  ///
  /// - Parameter body: Reads the bytes. It must not keep the pointer.
  /// - Returns: The result of the closure.
  /// - Throws: The error of the closure.
  package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try unsafe block.bytes.withBytes { bytes throws(E) in
      try unsafe body(UnsafeRawBufferPointer(rebasing: bytes[range]))
    }
  }

  /// Copies the bytes into a separate secret, for encryption.
  ///
  /// - Returns: The copy.
  package func copy() -> SecretBytes { block.bytes.copy(range) }

  /// Compares two secrets in a time that depends only on their lengths.
  ///
  /// - Parameter other: The secret to compare with.
  /// - Returns: True if both contain the same bytes.
  package func isEqual(to other: SecretSlice) -> Bool {
    guard count == other.count else { return false }
    return unsafe withBytes { mine in
      unsafe other.withBytes { theirs in
        guard let mine = mine.baseAddress, let theirs = theirs.baseAddress else { return true }
        return unsafe keytree_equal(mine, theirs, count) != 0
      }
    }
  }

  /// Compares the bytes with text that is not secret, such as a keyword, without copying them.
  ///
  /// - Parameter text: The text.
  /// - Returns: True if the bytes are the UTF-8 form of the text.
  package func isEqual(toText text: String) -> Bool {
    unsafe withBytes { unsafe $0.elementsEqual(text.utf8) }
  }

  /// Copies the bytes of a public attribute.
  ///
  /// - Returns: The bytes. They are not wiped, so never call this for a secret.
  package func publicBytes() -> [UInt8] { unsafe withBytes { unsafe Array($0) } }
}
