internal import Encoding
package import KeyringModel

extension AttributeValue {
  /// The bytes in which a value is displayed: text unchanged, numbers in decimal, dates in RFC 3339. They are not
  /// escaped yet.
  package var shownBytes: [UInt8] {
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
  /// The first part of the item's name: server, service, issuer, tag or label.
  package var container: AttributeValue? { attributes[containerName] }

  /// The second part of the item's name: the account, or the corresponding attribute of the class.
  package var accountValue: AttributeValue? { attributes[itemClass.accountName] }
}
