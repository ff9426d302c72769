public import Foundation

/// Adds an item to the store.
///
/// - Parameters:
///   - attributes: The class, the attributes, the data (`kSecValueData`) or the object (`kSecValueRef`), and what to
///     return of the new item.
///   - result: Takes what was asked for; nil where nothing was, and on failure.
/// - Returns: `errSecSuccess` once the item is on disk; `errSecDuplicateItem` when an item with its primary key is
///   there; `errSecParam`, `errSecNoSuchClass`, `errSecNoSuchAttr` or `errSecMissingEntitlement` for what cannot be
///   added; `errSecNotAvailable` when there is no store, or its policy is not the accepted one; or the status of what
///   went wrong with keys and files.
@discardableResult
public func SecItemAdd(
  _ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
  unsafe answer(result) { try SecItemService.shared.add(attributes) }
}

/// Finds items.
///
/// The data of all matches at once is refused before anything is looked up. Attributes and persistent references
/// alone decrypt nothing and start no process.
///
/// - Parameters:
///   - query: The class, attributes that must be equal, `kSecMatch...` conditions, a limit, and what to return.
///   - result: Takes one object, or an array of them when the limit is not one; nil on failure.
/// - Returns: `errSecSuccess`; `errSecItemNotFound` when nothing matches; as `SecItemAdd`; and for data
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
///   - query: As for `SecItemCopyMatching`; the limit does not count.
///   - attributesToUpdate: Attributes and data; anything else is `errSecNoSuchAttr`.
/// - Returns: `errSecSuccess`; `errSecItemNotFound` when nothing matches; `errSecDuplicateItem` when a primary key is
///   taken, and nothing has changed then; as `SecItemAdd`.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
  answer(nil) {
    try SecItemService.shared.update(query, attributesToUpdate)
    return nil
  }
}

/// Removes all items that match, or as many as a limit says.
///
/// - Parameter query: As for `SecItemCopyMatching`.
/// - Returns: `errSecSuccess`; `errSecItemNotFound` when nothing matches; as `SecItemAdd`.
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
    return SecItemFailure(error).status
  }
}
