internal import Encoding

/// The members of a line that this version does not know, by name. A line can have thousands of them, so each lookup
/// must be cheap (threat T46).
package struct UnknownMembers {
  /// The members, keyed by the bytes of their names. As `String` keys, different names that are canonically equivalent
  /// would collide.
  private let members: [[UInt8]: JSONMember]

  /// Collects the unknown members of a record.
  package init(of record: ItemRecord) {
    members = Dictionary(record.unknown.map { (Array($0.name.utf8), $0) }) { first, _ in first }
  }

  /// The member with this name.
  ///
  /// - Parameter name: The bytes of the name.
  subscript(name: [UInt8]) -> JSONMember? { members[name] }

  /// Returns the names in this value or in another one, sorted.
  func names(with other: UnknownMembers) -> [[UInt8]] {
    Set(members.keys).union(other.members.keys).sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Returns the names of the members that differ from those of another record, sorted by their bytes.
  package func differences(from other: UnknownMembers) -> [String] {
    names(with: other).filter { self[$0] != other[$0] }.map { String(decoding: $0, as: UTF8.self) }
  }
}
