internal import Glibc

// Strings in a keyring are compared by their UTF-8 bytes. Swift's own `==` also holds for canonically
// equivalent text ("é" in one scalar or in two), which would let one item stand in for another.

extension String {
  /// Returns true if both texts consist of the same UTF-8 bytes.
  package func hasSameBytes(as other: String) -> Bool {
    // Canonical inequality implies different bytes and is a memcmp for most text, so it goes first.
    utf8.count == other.utf8.count && compareBytes(to: other) == 0
  }

  /// Returns true if the UTF-8 bytes of this text sort before those of `other`.
  package func precedesInBytes(_ other: String) -> Bool {
    compareBytes(to: other) < 0
  }

  /// Below, at or above 0 where this text stands before, at or behind the other one by its bytes (memcmp).
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
