/// The first line of a sealed item's plaintext: the record at the time of sealing, and the keyring.
///
/// After decryption it proves that the file is the item that the index says it is.
package struct ItemHeader: Equatable, Sendable {
  /// The format that this version writes.
  package static let format: Int64 = 1
  /// The most bytes of a header; a little more than a line, so that every valid record has a header.
  package static let maximumSize = IndexLine.maximumSize + 1024

  /// The keyring that the item belongs to.
  package let keyring: KeyringID
  // `sealed` has no meaning here (a file cannot hold its own digest) and stays a constant.
  private let snapshot: ItemRecord

  private static let noDigest = ContentDigest(of: [])

  /// Takes a snapshot of a record.
  ///
  /// - Parameters:
  ///   - record: The record; its `sealed` and `isLocal` are not part of the header.
  ///   - keyring: The keyring that the item is sealed for.
  package init(record: ItemRecord, keyring: KeyringID) {
    self.keyring = keyring
    var snapshot = record
    snapshot.sealed = ItemHeader.noDigest
    snapshot.isLocal = false
    self.snapshot = snapshot
  }

  /// The class of the item.
  package var itemClass: ItemClass { snapshot.itemClass }
  /// The identity of the item.
  package var id: ItemID { snapshot.id }
  /// The state of the secret that follows.
  package var revision: Revision { snapshot.revision }
  /// When the item was added.
  package var created: Timestamp { snapshot.created }
  /// When the item had last changed at the time of sealing.
  package var modified: Timestamp { snapshot.modified }
  /// When the secret had last changed.
  package var secretModified: Timestamp { snapshot.secretModified }
  /// The group that the item was sealed for.
  package var group: String { snapshot.group }
  /// All attributes at the time of sealing.
  package var attributes: Attributes { snapshot.attributes }
  /// What makes the item unique; must be that of its line.
  package var primaryKey: PrimaryKey { snapshot.primaryKey }
  /// Where the item must live.
  package var path: ItemPath { snapshot.path }

  /// The record that a lost index line is rebuilt from.
  ///
  /// - Parameter sealed: The digest of the sealed item's bytes.
  package func record(sealed: ContentDigest) -> ItemRecord {
    var record = snapshot
    record.sealed = sealed
    return record
  }

  /// Writes the header as canonical JSON without a line feed.
  ///
  /// - Throws: What ``IndexLine/encode(_:)`` throws for the record.
  package func encode() throws(IndexLineError) -> [UInt8] {
    var members = try LineMembers.common(of: snapshot)
    members.append(JSONMember("format", .integer(ItemHeader.format)))
    members.append(JSONMember("keyring", .string(keyring.hex)))
    let header = JSONValue.object(members).canonicalBytes
    guard header.count <= ItemHeader.maximumSize else { throw .tooLong(limit: ItemHeader.maximumSize) }
    return header
  }

  /// Reads a header.
  ///
  /// - Parameter header: The bytes of the first line, without its line feed.
  /// - Throws: ``IndexLineError``; ``IndexLineError/unknownFormat(_:)`` when a newer version wrote it.
  package static func parse(_ header: UnsafeRawBufferPointer) throws(IndexLineError) -> ItemHeader {
    let limits = JSONLimits(size: maximumSize, depth: IndexLine.maximumDepth)
    let fields = unsafe try LineFields(header, limits: limits)
    guard let format = fields.format else { throw .missing("format") }
    guard format == ItemHeader.format else { throw .unknownFormat(format) }
    guard let keyring = fields.keyring else { throw .missing("keyring") }
    guard fields.sealed == nil else { throw .misplaced("sealed") }
    return ItemHeader(record: try fields.record(sealed: noDigest), keyring: keyring)
  }

  /// Reads a header; see the other function.
  package static func parse(_ header: [UInt8]) throws(IndexLineError) -> ItemHeader {
    unsafe try header.span.withUnsafeBytes { buffer throws(IndexLineError) in
      unsafe try parse(buffer)
    }
  }
}
