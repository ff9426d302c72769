import Foundation
import Security

/// One of the four functions, and what it answers.
enum SecItemCall: CaseIterable {
  case add, find, update, delete

  /// Calls the function.
  ///
  /// - Parameters:
  ///   - dictionary: The attributes of a new item, or the query.
  ///   - changes: For an update alone.
  /// - Returns: The status, and the result where the function has one: something else was there before.
  func callAsFunction(
    _ dictionary: [AnyHashable: Any], changes: [AnyHashable: Any] = [:]
  ) -> (status: OSStatus, result: CFTypeRef?) {
    self(dictionary as NSDictionary, changes: changes as NSDictionary)
  }

  /// Does the same with the objects themselves.
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
