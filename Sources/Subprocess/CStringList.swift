/// Strings in the form that `posix_spawn(3)` expects: NUL-terminated, in a list that a null pointer terminates.
@safe
package final class CStringList {
  /// The list, valid for the lifetime of this object.
  package let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private let count: Int

  /// Copies strings. C code treats a NUL byte within a string as its end.
  package init(_ strings: [[UInt8]]) {
    count = strings.count
    unsafe pointers = .allocate(capacity: count + 1)
    for (index, bytes) in strings.enumerated() {
      let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
      for (offset, byte) in bytes.enumerated() { unsafe copy[offset] = CChar(bitPattern: byte) }
      unsafe copy[bytes.count] = 0
      unsafe (pointers + index).initialize(to: copy)
    }
    unsafe (pointers + count).initialize(to: nil)
  }

  deinit {
    for index in 0..<count { unsafe pointers[index]?.deallocate() }
    unsafe pointers.deallocate()
  }
}
