internal import Encoding

/// The form of a record in the index: one line of canonical JSON.
package enum IndexLine {
  /// The maximum size of a line in bytes, without its line feed.
  package static let maximumSize = 16 * 1024
  /// The maximum nesting depth of objects and arrays in a line.
  package static let maximumDepth = 4

  /// Writes a record as the canonical line.
  ///
  /// - Parameter record: The record; values are normalised (``AttributeSchema/normalized(name:value:)``).
  /// - Returns: The line without a line feed; equal records give equal bytes.
  /// - Throws: ``IndexLineError/attribute(_:)``, ``IndexLineError/invalid(_:)`` for a bad group name, and
  ///   ``IndexLineError/tooLong(limit:)``. A line that ``parse(_:)`` would not accept is never written.
  package static func encode(_ record: ItemRecord) throws(IndexLineError) -> [UInt8] {
    let line = JSONValue.object(try LineMembers.all(of: record)).canonicalBytes
    guard line.count <= maximumSize else { throw .tooLong(limit: maximumSize) }
    return line
  }

  /// Reads a line.
  ///
  /// - Parameter line: The bytes of the line without its line feed. They need not be canonical.
  /// - Returns: The record, with ``ItemRecord/isLocal`` false.
  /// - Throws: ``IndexLineError`` if the line is not a complete, valid record.
  package static func parse(_ line: UnsafeRawBufferPointer) throws(IndexLineError) -> ItemRecord {
    let limits = JSONLimits(size: maximumSize, depth: maximumDepth)
    let fields = unsafe try LineFields(line, limits: limits)
    guard let sealed = fields.sealed else { throw .missing("sealed") }
    return try fields.record(sealed: sealed)
  }

  /// Reads a line; see the overload for raw buffers.
  package static func parse(_ line: [UInt8]) throws(IndexLineError) -> ItemRecord {
    unsafe try line.span.withUnsafeBytes { buffer throws(IndexLineError) in
      unsafe try parse(buffer)
    }
  }
}

extension LineFields {
  /// Returns the record if every required member was read.
  func record(sealed: ContentDigest) throws(IndexLineError) -> ItemRecord {
    guard let itemClass else { throw .missing(.itemClass) }
    guard let id else { throw .missing(.id) }
    guard let revision else { throw .missing(.revision) }
    guard let created else { throw .missing(.created) }
    guard let modified else { throw .missing(.modified) }
    guard let secretModified else { throw .missing(.secretModified) }
    guard let group else { throw .missing(.group) }
    return ItemRecord(
      itemClass: itemClass, id: id, revision: revision, created: created, modified: modified,
      secretModified: secretModified, group: group, sealed: sealed,
      attributes: try attributes(of: itemClass), unknown: unknown)
  }
}
