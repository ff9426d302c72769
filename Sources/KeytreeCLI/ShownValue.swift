internal import Encoding
internal import KeyringModel

extension AttributeValue {
  /// The bytes that a person reads for a value: text as it is, numbers in decimal, dates in RFC 3339. They
  /// are not escaped yet.
  var shownBytes: [UInt8] {
    switch self {
    case .string(let text): Array(text.utf8)
    case .integer(let number): Array(String(number).utf8)
    case .boolean(let flag): Array((flag ? "true" : "false").utf8)
    case .date(let date): Array(date.rfc3339.utf8)
    case .bytes(let bytes): bytes
    }
  }
}

extension ItemRecord {
  /// What the first part of the item's name says: server, service, issuer, tag or label.
  var container: AttributeValue? { attributes[containerName] }

  /// What the second part of the item's name says: the account, or what stands for it.
  var accountValue: AttributeValue? { attributes[itemClass.accountName] }
}
