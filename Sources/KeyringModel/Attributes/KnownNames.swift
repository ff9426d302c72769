internal import Glibc

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
    let bytes: [UInt8]
    let role: Role
  }

  /// All entries, sorted by the bytes of the names.
  static let all: [Entry] = (records + passwords + others + keys)
    .map { name, role in Entry(name: name, bytes: Array(name.text.utf8), role: role) }
    .sorted { $0.name < $1.name }

  static func role(of name: AttributeName) -> Role? {
    var text = name.text
    return text.withUTF8 { unsafe entry(for: UnsafeRawBufferPointer($0))?.role }
  }

  /// Returns the entry whose name has exactly these bytes.
  static func entry(for name: UnsafeRawBufferPointer) -> Entry? {
    var low = 0
    var high = all.count
    while low < high {
      let middle = (low + high) / 2
      let order = unsafe compare(all[middle].bytes, name)
      if order == 0 { return all[middle] }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  private static func compare(_ left: [UInt8], _ right: UnsafeRawBufferPointer) -> Int {
    guard let start = right.baseAddress else { return left.count }
    let common = min(left.count, right.count)
    let order = unsafe memcmp(left, start, common)
    return order == 0 ? left.count - right.count : Int(order)
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
