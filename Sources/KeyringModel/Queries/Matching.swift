internal import Encoding

// The rules that decide if a record matches a predicate. QueryPlan derives its byte strings from these rules and
// ExactKey its hashes, so a change here needs a change there.

extension Predicate {
  /// Returns true if the condition holds for an item.
  package func matches(_ record: ItemRecord) -> Bool {
    switch subject {
    case .id(let prefix):
      let digits = prefix.utf8.map(Self.lowerASCII)
      return record.id.hex.utf8.starts(with: digits)
    case .path(let path):
      return record.path == path
    case .any:
      return record.attributes.entries.contains { matches($0.value, of: $0.name) }
    case .container: return matches(record.containerName, of: record)
    case .attribute(let name): return matches(name, of: record)
    }
  }

  private func matches(_ name: AttributeName, of record: ItemRecord) -> Bool {
    guard let value = record.value(of: name) else { return matchesAbsent(name, in: record.itemClass) }
    if matches(value, of: name) { return true }
    // A stored default value is the same as a missing value, whatever its type.
    return value.isDefault && matchesAbsent(name, in: record.itemClass)
  }

  /// Returns true if a missing attribute matches. A missing primary-key attribute counts as empty, zero or false.
  private func matchesAbsent(_ name: AttributeName, in itemClass: ItemClass) -> Bool {
    guard case .equal(let wanted) = comparison, wanted.isDefault else { return false }
    return name == .synchronizable || AttributeSchema.primaryKey(of: itemClass).contains(name)
  }

  private func matches(_ value: AttributeValue, of name: AttributeName) -> Bool {
    switch comparison {
    case .exists: return true
    case .before(let date):
      guard case .date(let value) = value else { return false }
      return value < date
    case .after(let date):
      guard case .date(let value) = value else { return false }
      return value > date
    case .equal(let wanted):
      return isEqual(value, wanted, of: name)
    case .prefix(let part):
      // The usual case does not need two arrays.
      if !ignoresCase, case .string(let value) = value, case .string(let part) = part {
        return value.utf8.starts(with: part.utf8)
      }
      return compareText(value, part) { $0.starts(with: $1) }
    case .suffix(let part):
      return compareText(value, part) { $0.reversed().starts(with: $1.reversed()) }
    case .contains(let part):
      return compareText(value, part) { ByteSearch.contains($0, $1) }
    }
  }

  private func isEqual(
    _ value: AttributeValue, _ wanted: AttributeValue, of name: AttributeName
  ) -> Bool {
    if value.isSame(as: wanted) { return true }
    if ignoresCase, value.contentBytes != nil, wanted.contentBytes != nil,
      compareText(value, wanted, { $0 == $1 })
    {
      return true
    }
    // Compare the values as they would be stored: the text `443` equals the port 443, and 1 equals true.
    let stored = AttributeSchema.normalized(name: name, value: value)
    return stored.isSame(as: AttributeSchema.normalized(name: name, value: wanted))
  }

  private func compareText(
    _ value: AttributeValue, _ part: AttributeValue, _ compare: ([UInt8], [UInt8]) -> Bool
  ) -> Bool {
    guard let value = Self.text(of: value, ignoringCase: ignoresCase),
      let part = Self.text(of: part, ignoringCase: ignoresCase)
    else { return false }
    return compare(value, part)
  }

  /// Returns the bytes for text comparisons: the content of strings and bytes, and the digits of integers.
  private static func text(of value: AttributeValue, ignoringCase: Bool) -> [UInt8]? {
    switch value {
    case .integer(let number): return Array(String(number).utf8)
    case .boolean, .date: return nil
    case .string(let text): return Array((ignoringCase ? text.lowercased() : text).utf8)
    case .bytes(let bytes):
      guard ignoringCase else { return bytes }
      // Bytes that are valid UTF-8 follow the rule of text, because the two are equal.
      if case .string(let text) = AttributeValue(text: bytes) { return Array(text.lowercased().utf8) }
      return bytes.map(lowerASCII)
    }
  }

  static func lowerASCII(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
