public import Foundation

/// Adds an item to the store.
///
/// - Parameters:
///   - attributes: The class, the attributes, the data (`kSecValueData`) or the object (`kSecValueRef`), and the
///     results to return for the new item.
///   - result: Receives the requested result; nil if none was requested, and on failure.
/// - Returns: `errSecSuccess` once the item is on disk; `errSecDuplicateItem` if an item with its primary key already
///   exists; `errSecParam`, `errSecNoSuchClass`, `errSecNoSuchAttr` or `errSecMissingEntitlement` for an item that
///   cannot be added; `errSecNotAvailable` if there is no store, or if its policy is not the accepted one; or the
///   status of an error with keys or files.
@discardableResult
public func SecItemAdd(
  _ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
  unsafe answer(result) { try SecItemService.shared.add(attributes) }
}

/// Finds items.
///
/// A request for the data of all matches is refused before any lookup. A request for only attributes and persistent
/// references decrypts nothing and starts no process.
///
/// - Parameters:
///   - query: The class, attributes that must be equal, `kSecMatch...` conditions, a limit, and the results to return.
///   - result: Receives one object, or an array of objects if the limit is not one; nil on failure.
/// - Returns: `errSecSuccess`; `errSecItemNotFound` if nothing matches; the errors of `SecItemAdd`; and for data
///   `errSecUserCanceled`, `errSecInteractionNotAllowed`, `errSecAuthFailed` or `errSecDecode`.
@discardableResult
public func SecItemCopyMatching(
  _ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
  unsafe answer(result) { try SecItemService.shared.find(query) }
}

/// Changes all items that match, in one transaction.
///
/// - Parameters:
///   - query: The same as for `SecItemCopyMatching`; the limit is ignored.
///   - attributesToUpdate: Attributes and data; anything else results in `errSecNoSuchAttr`.
/// - Returns: `errSecSuccess`; `errSecItemNotFound` if nothing matches; `errSecDuplicateItem` if a primary key is
///   already in use, and nothing has changed then; and the errors of `SecItemAdd`.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
  answer(nil) {
    try SecItemService.shared.update(query, attributesToUpdate)
    return nil
  }
}

/// Removes all items that match, up to the limit if there is one.
///
/// - Parameter query: The same as for `SecItemCopyMatching`.
/// - Returns: `errSecSuccess`; `errSecItemNotFound` if nothing matches; and the errors of `SecItemAdd`.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
  answer(nil) {
    try SecItemService.shared.delete(query)
    return nil
  }
}

private func answer(
  _ result: UnsafeMutablePointer<CFTypeRef?>?, _ body: () throws -> CFTypeRef?
) -> OSStatus {
  do {
    let object = try body()
    if let result = unsafe result { unsafe result.pointee = object }
    return errSecSuccess
  } catch {
    if let result = unsafe result { unsafe result.pointee = nil }
    let status = SecItemFailure(error).status
    KeychainSession.shared.failed(with: status, error)
    return status
  }
}
