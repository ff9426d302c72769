public import Foundation

extension NSMutableDictionary {
  /// Sets or removes the value of a key: how queries are often put together, and a method that Foundation has
  /// on Apple's systems only.
  ///
  /// - Parameters:
  ///   - value: The value; nil removes the key.
  ///   - key: The key.
  public func setValue(_ value: Any?, forKey key: String) {
    self[key] = value
  }
}
