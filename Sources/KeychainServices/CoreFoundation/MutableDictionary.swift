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
