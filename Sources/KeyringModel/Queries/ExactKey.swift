/// Hashes for looking up records by exact values: text and bytes, the id, and the path.
///
/// As with a ``QueryPlan``, a lookup finds every match but may find more: a record that matches a condition has the
/// condition's key, and a record with the key must still be checked with `Predicate.matches`. The keys follow the rules
/// of `Predicate.matches`, so a change to one needs a change to the other.
package enum ExactKey {
  /// Returns the key of a condition; nil if the condition does not require an exact value.
  ///
  /// - Parameter predicate: Any condition.
  package static func of(_ predicate: Predicate) -> UInt32? {
    switch predicate.subject {
    case .any, .container: return nil
    case .id(let prefix): return id(prefix)
    case .path(let path): return hash(.path, .string(path.text))
    case .attribute(let name):
      guard !predicate.ignoresCase, case .equal(let value) = predicate.comparison else { return nil }
      switch KnownNames.role(of: name) {
      case .attribute(.string, _), .attribute(.bytes, _), nil: return hash(.attribute(name), value)
      // Values of other types can be equal in several forms. The members of the record itself have no keys.
      case .attribute, .record: return nil
      }
    }
  }

  /// Returns the keys of a record, which may include duplicates.
  ///
  /// - Parameter record: Any record.
  package static func all(of record: ItemRecord) -> [UInt32] {
    var keys: [UInt32] = []
    keys.reserveCapacity(2 + record.attributes.count)
    if let key = hash(.path, .string(record.path.text)) { keys.append(key) }
    keys.append(hash(.id(record.id)))
    for entry in record.attributes.entries {
      if let key = hash(.attribute(entry.name), entry.value) { keys.append(key) }
    }
    return keys
  }

  private enum Subject: Hashable {
    case id(ItemID)
    case path
    case attribute(AttributeName)
  }

  private static func id(_ digits: String) -> UInt32? {
    let digits = digits.utf8.map(Predicate.lowerASCII)
    return ItemID(hex: String(decoding: digits, as: UTF8.self)).map { hash(.id($0)) }
  }

  private static func hash(_ subject: Subject) -> UInt32 {
    var hasher = Hasher()
    hasher.combine(subject)
    return UInt32(truncatingIfNeeded: hasher.finalize())
  }

  /// Returns the hash of text or bytes; nil for other types and for an empty value, which equals a missing one.
  private static func hash(_ subject: Subject, _ value: AttributeValue) -> UInt32? {
    var hasher = Hasher()
    hasher.combine(subject)
    switch value {
    case .string(var text):
      if text.isEmpty { return nil }
      text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    case .bytes(let bytes):
      if bytes.isEmpty { return nil }
      unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    case .integer, .boolean, .date: return nil
    }
    return UInt32(truncatingIfNeeded: hasher.finalize())
  }
}
