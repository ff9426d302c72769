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

  /// A text, which another program may have stored as bytes; nil for what is no text.
  func text(_ key: CFString) -> String? {
    switch self[key] {
    case let text as String: text
    case let data as Data: String(validating: data, as: UTF8.self)
    default: nil
    }
  }

  /// A text of the primary key: empty where there is none, nil where there is something else.
  func keyText(_ key: CFString) -> String? { self[key] == nil ? "" : text(key) }

  /// A text of the primary key that stands for a code: nil where there is none.
  func code(_ key: CFString) -> String? { text(key).flatMap { $0.isEmpty ? nil : $0 } }

  func number(_ key: CFString) -> Int? { (self[key] as? NSNumber)?.intValue }

  func flag(_ key: CFString) -> Bool { (self[key] as? NSNumber)?.boolValue ?? false }

  func date(_ key: CFString) -> Date? { self[key] as? Date }

  /// Every keychain says it; what an item has that was given nothing, should one not.
  var accessibility: Accessibility {
    text(kSecAttrAccessible).map { Accessibility(rawValue: $0) } ?? .whenUnlocked
  }

  var accessGroup: AccessGroup? { text(kSecAttrAccessGroup).map { AccessGroup(rawValue: $0) } }
}
