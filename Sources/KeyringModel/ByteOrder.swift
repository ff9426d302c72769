// Strings in a keyring are compared by their UTF-8 bytes. Swift's own `==` also holds for canonically
// equivalent text ("é" in one scalar or in two), which would let one item stand in for another.

extension String {
  /// Whether both texts consist of the same UTF-8 bytes.
  func hasSameBytes(as other: String) -> Bool {
    // Canonical inequality implies different bytes and is a memcmp for most text, so it goes first.
    self == other && utf8.elementsEqual(other.utf8)
  }

  /// Whether the UTF-8 bytes of this text sort before those of `other`.
  func precedesInBytes(_ other: String) -> Bool {
    utf8.lexicographicallyPrecedes(other.utf8)
  }
}
