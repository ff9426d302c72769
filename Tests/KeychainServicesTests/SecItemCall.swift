import Foundation
import Security

/// One of the four functions.
enum SecItemCall: CaseIterable {
  case add, find, update, delete

  /// Calls the function.
  ///
  /// - Parameters:
  ///   - dictionary: The attributes of a new item, or the query.
  ///   - changes: The changes of an update.
  /// - Returns: The status, and the result if the function has one. The result is another object before the call.
  func callAsFunction(
    _ dictionary: [AnyHashable: Any], changes: [AnyHashable: Any] = [:]
  ) -> (status: OSStatus, result: CFTypeRef?) {
    self(dictionary as NSDictionary, changes: changes as NSDictionary)
  }

  /// Calls the function with Foundation dictionaries.
  func callAsFunction(
    _ dictionary: NSDictionary, changes: NSDictionary = [:]
  ) -> (status: OSStatus, result: CFTypeRef?) {
    var result: CFTypeRef? = NSObject()
    switch self {
    case .add: return (unsafe SecItemAdd(dictionary, &result), result)
    case .find: return (unsafe SecItemCopyMatching(dictionary, &result), result)
    case .update: return (SecItemUpdate(dictionary, changes), nil)
    case .delete: return (SecItemDelete(dictionary), nil)
    }
  }
}
