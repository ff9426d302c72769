internal import Encoding
internal import KeyringModel

extension AttributeValue {
  /// The value as text for a field of another program; nil for bytes that are not text or contain a NUL.
  var fieldText: [UInt8]? {
    switch self {
    case .string(let text): text.utf8.contains(0) ? nil : Array(text.utf8)
    case .bytes(let bytes): String(validating: bytes, as: UTF8.self) == nil || bytes.contains(0) ? nil : bytes
    case .integer(let number): Array(String(number).utf8)
    case .boolean(let flag): Array(flag ? "true".utf8 : "false".utf8)
    case .date(let date): Array(date.rfc3339.utf8)
    }
  }
}
