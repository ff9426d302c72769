public import Foundation

extension NSMutableDictionary {
  /// Sets or removes the value of a key. Queries are often built with this method, which Foundation has only on Apple's
  /// systems.
  ///
  /// - Parameters:
  ///   - value: The value; nil removes the key.
  ///   - key: The key.
  public func setValue(_ value: Any?, forKey key: String) {
    self[key] = value
  }
}

extension NSDictionary {
  /// The keys and values as the original objects. Iterating over a dictionary bridges every value to Swift, and does
  /// not return for a dictionary that contains itself.
  ///
  /// A subclass may return keys without values; their value is null.
  var unbridgedEntries: [(key: Any, value: Any)] {
    if type(of: self) == NSDictionary.self || type(of: self) == NSMutableDictionary.self {
      return Array(zip(allKeys, allValues))
    }
    return allKeys.map { ($0, object(forKey: $0) ?? NSNull()) }
  }
}
