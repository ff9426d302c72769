/// Hashes under which a record can be looked up by what it equals: its texts and bytes, its id, its path.
///
/// Sound, never exact, as a ``QueryPlan``: a record that matches a condition with a key has that key; one that has
/// it is still asked. It follows the rules of `Predicate.matches`: whoever changes one looks at the other.
package enum ExactKey {
  /// The key of a condition; nil when equality of texts does not decide about it.
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
      // Values of other types are the same in several forms; those of the record itself are known by other means.
      case .attribute, .record: return nil
      }
    }
  }

  /// The keys of a record; one can be there twice.
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

  /// The hash of a text or of bytes; nil for other types, and for an empty one, which equals what is not there.
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
