internal import Glibc

/// The keys of one object so far, to tell duplicates by their unescaped bytes.
///
/// Canonical objects have their keys in order, where a comparison with the last one is enough. Only when
/// a key is out of order are all of them collected in a set.
package struct JSONKeys {
  private var ordered: [JSONCursor.Text] = []
  private var unordered: Set<[UInt8]>?

  var isEmpty: Bool { ordered.isEmpty }

  /// Adds a key; false when the object has it already.
  mutating func insert(_ key: JSONCursor.Text, of cursor: JSONCursor) -> Bool {
    if unordered == nil {
      guard let last = ordered.last else {
        ordered.reserveCapacity(16)
        ordered.append(key)
        return true
      }
      let order = unsafe cursor.withBytes(of: last) { last in
        unsafe cursor.withBytes(of: key) { unsafe Self.compare(last, $0) }
      }
      if order < 0 {
        ordered.append(key)
        return true
      }
      unordered = Set(ordered.map { unsafe cursor.withBytes(of: $0) { unsafe Array($0) } })
    }
    let bytes = unsafe cursor.withBytes(of: key) { unsafe Array($0) }
    return unordered?.insert(bytes).inserted ?? true
  }

  private static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    guard let leftStart = left.baseAddress, let rightStart = right.baseAddress else {
      return left.count - right.count
    }
    let order = unsafe memcmp(leftStart, rightStart, min(left.count, right.count))
    return order == 0 ? left.count - right.count : Int(order)
  }
}
