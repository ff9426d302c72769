internal import KeyringModel
internal import OpenPGP
internal import Secrets

/// The plaintext of a sealed item: a header line that says what it is, then the secret's exact bytes.
struct SealedItem: ~Copyable {
  /// What the item says about itself.
  let header: ItemHeader
  /// The secret, byte for byte.
  let secret: SecretBytes

  /// The plaintext for a header and a secret.
  static func plaintext(header: ItemHeader, secret: borrowing SecretBytes) throws(IndexLineError)
    -> SecretBytes
  {
    let line = try header.encode()
    var plaintext = SecretBytes(capacity: line.count + 1 + secret.count)
    unsafe line.withUnsafeBytes { unsafe plaintext.append(contentsOf: $0) }
    plaintext.append(UInt8(ascii: "\n"))
    plaintext.append(secret)
    return plaintext
  }

  /// Takes a plaintext apart.
  ///
  /// - Throws: `ItemDamage.noHeader` when it does not begin with a header line, `.unknownFormat` when a newer
  ///   version wrote it.
  init(plaintext: borrowing SecretBytes) throws(ItemDamage) {
    let line: [UInt8]? = unsafe plaintext.withBytes { bytes in
      guard let end = unsafe bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
      return unsafe Array(bytes[..<end])
    }
    guard let line else { throw .noHeader }
    do {
      header = try ItemHeader.parse(line)
    } catch {
      if case .unknownFormat(let format) = error { throw .unknownFormat(format) }
      throw .noHeader
    }
    secret = plaintext.copy(line.count + 1..<plaintext.count)
  }

  /// Holds the item against what was asked for (DESIGN section 3; threats T9, T10, T16).
  ///
  /// - Parameters:
  ///   - record: the line of the index that led here: a hint, which may lie.
  ///   - keyring: the keyring that was opened.
  ///   - query: the caller's question; its conditions on the primary key must hold on the header itself.
  /// - Throws: in what the item differs.
  func verify(
    against record: ItemRecord, keyring: KeyringID, query: Query?
  ) throws(BindingMismatch) {
    guard header.keyring == keyring else { throw .keyring }
    // A conflict copy is the message of a side of a merge as it was, which knows nothing of its being a copy.
    guard header.id == record.id || record.isConflictCopy && record.id.isCopy(of: header.id) else {
      throw .item
    }
    let own = header.primaryKey
    let wanted = record.primaryKey
    guard own == wanted, header.path.original == record.path.original else {
      throw .primaryKey(own.difference(from: wanted) ?? .itemClass)
    }
    if let query {
      for predicate in query.predicates
      where !predicate.holdsOnPrimaryKey(of: header.record(sealed: record.sealed)) {
        throw .primaryKey(predicate.primaryKeyName ?? .itemClass)
      }
    }
    // A newer secret beside an older line is what a plain `git merge` leaves; the item speaks. An older
    // one is a roll-back, and another revision of the same time was written into the line by somebody.
    if header.revision == record.revision { return }
    if header.secretModified < record.secretModified { throw .olderSecret(header.secretModified) }
    if header.secretModified == record.secretModified { throw .revision }
  }
}

extension Predicate {
  /// The primary-key attribute that this predicate is about, if it is about one alone.
  var primaryKeyName: AttributeName? {
    guard case .attribute(let name) = subject else { return nil }
    return name
  }

  /// Whether the predicate holds on a record, or is not about a primary-key attribute of its class.
  func holdsOnPrimaryKey(of record: ItemRecord) -> Bool {
    let names = AttributeSchema.primaryKey(of: record.itemClass) + [.group, .synchronizable]
    guard let name = primaryKeyName, names.contains(name) else { return true }
    return Query(predicates: [self]).matches(record)
  }
}

extension PrimaryKey {
  /// The first attribute in which two keys differ; nil when they are equal.
  func difference(from other: PrimaryKey) -> AttributeName? {
    if self == other { return nil }
    if itemClass != other.itemClass { return .itemClass }
    for name in AttributeSchema.primaryKey(of: itemClass) where self[name] != other[name] { return name }
    return isSynchronizable != other.isSynchronizable ? .synchronizable : .group
  }
}
