internal import Foundation

#if os(Linux)
  internal import KeychainServices
#else
  internal import Security
#endif

/// Apple's four functions as values, so that a test can replace them.
struct ItemFunctions: Sendable {
  var add: @Sendable (_ attributes: [String: Any]) -> OSStatus
  var find: @Sendable (_ query: [String: Any]) -> (status: OSStatus, result: Any?)
  var update: @Sendable (_ query: [String: Any], _ changes: [String: Any]) -> OSStatus
  var delete: @Sendable (_ query: [String: Any]) -> OSStatus

  /// The functions of the system.
  static let system = ItemFunctions(
    add: { SecItemAdd($0 as CFDictionary, nil) },
    find: { query in
      var result: CFTypeRef?
      let status = unsafe SecItemCopyMatching(query as CFDictionary, &result)
      return (status, result)
    },
    update: { SecItemUpdate($0 as CFDictionary, $1 as CFDictionary) },
    delete: { SecItemDelete($0 as CFDictionary) })
}

/// Throws the error for the status of a call, unless the call succeeded.
func check(_ status: OSStatus) throws(KeychainError) {
  guard status == errSecSuccess else { throw KeychainError(status: status) }
}
