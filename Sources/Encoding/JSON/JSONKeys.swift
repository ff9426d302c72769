internal import Glibc

/// The keys of an object that were read so far, to detect duplicates by their unescaped bytes.
///
/// The keys of a canonical object are sorted, so comparing each key with its predecessor is enough. Only if a key is
/// out of order are all keys collected in a set.
package struct JSONKeys {
  private var ordered: [JSONCursor.Text] = []
  private var unordered: Set<[UInt8]>?

  var isEmpty: Bool { ordered.isEmpty }

  /// Adds a key. Returns false if the object already has it.
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
