internal import Glibc

// Strings in a store are compared by their UTF-8 bytes. Swift's `==` is also true for canonically equivalent text ("é"
// as one scalar or as two), which would let one item pass for another.

extension String {
  /// Returns true if both texts consist of the same UTF-8 bytes.
  package func hasSameBytes(as other: String) -> Bool {
    // Texts of different lengths need no comparison of bytes.
    utf8.count == other.utf8.count && compareBytes(to: other) == 0
  }

  /// Returns true if the UTF-8 bytes of this text sort before those of `other`.
  package func precedesInBytes(_ other: String) -> Bool {
    compareBytes(to: other) < 0
  }

  /// Returns a number below, equal to or above 0 if this text sorts before, equals or sorts after the other one by its
  /// bytes (memcmp).
  private func compareBytes(to other: String) -> Int {
    var (left, right) = (self, other)
    return left.withUTF8 { left in
      right.withUTF8 { right in
        let size = min(left.count, right.count)
        let order =
          if let a = left.baseAddress, let b = right.baseAddress { unsafe memcmp(a, b, size) } else {
            CInt(0)
          }
        return order == 0 ? left.count - right.count : Int(order)
      }
    }
  }
}

/// Bytes that are compared often, such as the names of items in a list.
package struct OrderedBytes: Comparable, Sendable {
  /// The bytes.
  package let bytes: [UInt8]
  /// The first eight bytes as a number, which decides most comparisons.
  private let start: UInt64

  /// Creates the value.
  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    start = (0..<8).reduce(0) { $0 << 8 | UInt64($1 < bytes.count ? bytes[$1] : 0) }
  }

  /// Orders by the bytes; a prefix comes first.
  package static func < (left: OrderedBytes, right: OrderedBytes) -> Bool {
    if left.start != right.start { return left.start < right.start }
    let order = unsafe memcmp(left.bytes, right.bytes, min(left.bytes.count, right.bytes.count))
    return order == 0 ? left.bytes.count < right.bytes.count : order < 0
  }
}
