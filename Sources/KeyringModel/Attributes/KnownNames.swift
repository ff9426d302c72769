/// The table of all names that are defined at the top level of an index line.
enum KnownNames {
  /// The meaning of a name.
  enum Role: Equatable {
    case attribute(AttributeKind, ItemClass.Members)
    case record(RecordField)
  }

  /// The members of a line that are not attributes.
  enum RecordField {
    case itemClass, id, revision, created, modified, secretModified, group, sealed, custom
  }

  struct Entry {
    let name: AttributeName
    let role: Role
  }

  /// All entries, sorted by the bytes of the names.
  static let all: [Entry] = (records + passwords + others + keys)
    .map { name, role in Entry(name: name, role: role) }
    .sorted { $0.name < $1.name }

  /// The words of the names, in the order of ``all``.
  ///
  /// They contain no reference, so that threads which search at the same time do not share a reference count.
  private static let words: [Words] = all.map { entry in
    var text = entry.name.text
    guard let words = text.withUTF8({ unsafe Words(UnsafeRawBufferPointer($0)) }) else {
      preconditionFailure("\(entry.name) is longer than the longest known name may be")
    }
    return words
  }

  /// A name as numbers, which have the order of its bytes.
  private struct Words {
    static let size = 24
    let first: UInt64
    let second: UInt64
    let third: UInt64

    /// Creates the words of a name; nil if it is longer than every known name.
    init?(_ name: UnsafeRawBufferPointer) {
      guard name.count <= Self.size else { return nil }
      var words: (UInt64, UInt64, UInt64) = (0, 0, 0)
      unsafe withUnsafeMutableBytes(of: &words) { unsafe $0.copyMemory(from: name) }
      (first, second, third) = (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian)
    }

    static func < (left: Words, right: Words) -> Bool {
      if left.first != right.first { return left.first < right.first }
      if left.second != right.second { return left.second < right.second }
      return left.third < right.third
    }

    static func == (left: Words, right: Words) -> Bool {
      left.first == right.first && left.second == right.second && left.third == right.third
    }
  }

  static func role(of name: AttributeName) -> Role? {
    var text = name.text
    return text.withUTF8 { unsafe entry(for: UnsafeRawBufferPointer($0))?.role }
  }

  /// Returns the entry whose name has exactly these bytes.
  static func entry(for name: UnsafeRawBufferPointer) -> Entry? {
    // Known names have no null bytes, which fill the words of a short name.
    guard let wanted = unsafe Words(name), unsafe !name.contains(0) else { return nil }
    var low = 0
    var high = words.count
    while low < high {
      let middle = (low + high) / 2
      if words[middle] == wanted { return all[middle] }
      if words[middle] < wanted { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  private typealias Row = (AttributeName, Role)

  private static func row(
    _ name: AttributeName, _ kind: AttributeKind, _ classes: ItemClass.Members
  ) -> Row {
    (name, .attribute(kind, classes))
  }

  private static let records: [Row] = [
    (.itemClass, .record(.itemClass)),
    (.id, .record(.id)),
    (.revision, .record(.revision)),
    (.created, .record(.created)),
    (.modified, .record(.modified)),
    (.secretModified, .record(.secretModified)),
    (.group, .record(.group)),
    ("sealed", .record(.sealed)),
    ("custom", .record(.custom)),
  ]

  private static let passwords: [Row] = [
    row(.account, .string, .passwords),
    row(.service, .string, .generic),
    row(.server, .string, .internet),
    row(.securityDomain, .string, .internet),
    row(.protocol, .integer, .internet),
    row(.authenticationType, .integer, .internet),
    row(.port, .integer, .internet),
    row(.path, .string, .internet),
    row(.field, .string, .passwords),
    row(.comment, .string, .passwords),
    row(.kind, .string, .passwords),
    row(.type, .integer, .passwords),
    row(.scriptCode, .integer, .passwords),
    row(.invisible, .boolean, .passwords),
    row(.negative, .boolean, .passwords),
    row(.customIcon, .boolean, .passwords),
    row(.protected, .bytes, .passwords),
    row(.generic, .bytes, .generic),
  ]

  private static let others: [Row] = [
    row(.label, .string, .all),
    row(.alias, .string, .all),
    row(.accessible, .string, .all),
    row(.accessControl, .bytes, .all),
    row(.synchronizable, .boolean, .all),
    row(.tokenID, .string, .all),
    row(.syncViewHint, .string, .all),
    row(.creator, .integer, [.passwords, .key]),
    row(.certificateType, .integer, .certificate),
    row(.certificateEncoding, .integer, .certificate),
    row(.subject, .bytes, .certificate),
    row(.issuer, .bytes, .certificate),
    row(.serialNumber, .bytes, .certificate),
    row(.subjectKeyID, .bytes, .certificate),
    row(.publicKeyHash, .bytes, .certificate),
  ]

  private static let keys: [Row] =
    [
      row(.keyClass, .integer, .key),
      row(.applicationLabel, .bytes, .key),
      row(.applicationTag, .bytes, .key),
      row(.keyType, .integer, .key),
      row(.keySize, .integer, .key),
      row(.effectiveKeySize, .integer, .key),
      row(.startDate, .date, .key),
      row(.endDate, .date, .key),
    ]
    + [
      AttributeName.permanent, .private, .modifiable, .sensitive, .alwaysSensitive, .extractable,
      .neverExtractable, .canEncrypt, .canDecrypt, .canDerive, .canSign, .canVerify, .canSignRecover,
      .canVerifyRecover, .canWrap, .canUnwrap,
    ].map { row($0, .boolean, .key) }
}
