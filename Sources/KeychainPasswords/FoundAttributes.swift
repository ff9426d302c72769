internal import Foundation

#if os(Linux)
  internal import KeychainServices
#else
  internal import Security
#endif

/// The attributes of an item as the keychain returned them.
struct FoundAttributes {
  private let entries: [String: Any]

  init(_ entries: [String: Any]) { self.entries = entries }

  subscript(key: CFString) -> Any? { entries[key as String] }

  /// Returns a text, which another program may have stored as bytes; nil if the value is not text.
  func text(_ key: CFString) -> String? {
    switch self[key] {
    case let text as String: text
    case let data as Data: String(validating: data, as: UTF8.self)
    default: nil
    }
  }

  /// Returns a text of the primary key: empty if it is missing, nil if the value is not text.
  func keyText(_ key: CFString) -> String? { self[key] == nil ? "" : text(key) }

  /// Returns a code of the primary key; nil if it is missing or empty.
  func code(_ key: CFString) -> String? { text(key).flatMap { $0.isEmpty ? nil : $0 } }

  func number(_ key: CFString) -> Int? { (self[key] as? NSNumber)?.intValue }

  func flag(_ key: CFString) -> Bool { (self[key] as? NSNumber)?.boolValue ?? false }

  func date(_ key: CFString) -> Date? { self[key] as? Date }

  /// The accessibility. Every keychain should return it; the fallback is the default of new items.
  var accessibility: Accessibility {
    text(kSecAttrAccessible).map { Accessibility(rawValue: $0) } ?? .whenUnlocked
  }

  var accessGroup: AccessGroup? { text(kSecAttrAccessGroup).map { AccessGroup(rawValue: $0) } }
}
