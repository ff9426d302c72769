internal import KeyringModel

/// The user's choice of columns in a CSV file: `--map COLUMN=NAME`.
///
/// NAME is `secret`, `note`, `otp` (a one-time-password seed), `url`, or any attribute by its name in the index. An
/// unknown name is a custom attribute. All but the first three become public.
package struct CSVMapping: Sendable {
  private(set) var columns: [(title: String, column: CSVColumn)] = []

  /// Creates an empty mapping.
  package init() {}

  /// Adds one `COLUMN=NAME`.
  ///
  /// - Parameter text: the value of `--map`; the column is the text before the last `=`.
  /// - Returns: false if it does not have this form, or names an attribute that is reserved or not for passwords.
  package mutating func add(_ text: String) -> Bool {
    guard let equals = text.lastIndex(of: "="), equals > text.startIndex else { return false }
    let name = String(text[text.index(after: equals)...])
    guard !name.isEmpty, let column = Self.column(name) else { return false }
    columns.append((String(text[..<equals]), column))
    return true
  }

  private static func column(_ name: String) -> CSVColumn? {
    switch name {
    case "secret", "password": return .secret
    case "note": return .note
    case "otp": return .oneTimePassword
    case "url": return .url
    case "label": return .label
    case "account": return .account
    case "securityDomain": return .securityDomain
    default:
      let attribute = AttributeName(name)
      // A row is a login, not a field.
      guard attribute != .field, AttributeSchema.canBeOfPassword(attribute) else {
        return nil
      }
      return .attribute(attribute)
    }
  }
}

extension AttributeSchema {
  /// Returns true if a password of either class can have an attribute of this name.
  fileprivate static func canBeOfPassword(_ name: AttributeName) -> Bool {
    guard isCustom(name) else {
      return applies(name, to: .genericPassword) || applies(name, to: .internetPassword)
    }
    do {
      try check(name: name, value: "", class: .genericPassword)
      return true
    } catch {
      return false
    }
  }
}
