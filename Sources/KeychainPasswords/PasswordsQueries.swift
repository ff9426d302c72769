internal import Foundation

#if os(Linux)
  internal import KeychainServices
#else
  internal import Security
#endif

// Converts names to the dictionaries of Apple's functions. A dictionary requests the data of at most one item.

extension Passwords {
  /// Returns the entries that every dictionary has.
  private func dictionary<P: PasswordItem>(for itemClass: P.Type) -> [String: Any] {
    var dictionary: [String: Any] = [
      kSecClass as String: P.schema.itemClass,
      // macOS has two keychains. The data protection keychain behaves like the keychains of Apple's other systems.
      kSecUseDataProtectionKeychain as String: true,
    ]
    if interaction == .notAllowed {
      dictionary[kSecUseAuthenticationUI as String] = kSecUseAuthenticationUIFail as String
    }
    return dictionary
  }

  private func group(of item: some PasswordItem) -> AccessGroup? { item.accessGroup ?? accessGroup }

  /// Returns the dictionary for a new item without its secret.
  func newItem<P: PasswordItem>(_ item: P) throws(KeychainError) -> [String: Any] {
    var dictionary = dictionary(for: P.self)
    // An attribute with its default value is left out.
    let key = item.primaryKey.filter { !$0.value.isDefault }
    for attribute in key + item.details.texts() { dictionary[attribute.key] = attribute.value.object }
    if let group = group(of: item) { dictionary[kSecAttrAccessGroup as String] = group.rawValue }
    guard item.details.isProtected else { return dictionary }
    return dictionary.merging(try item.details.protection(fallback: .whenUnlocked)) { $1 }
  }

  /// Returns the attributes that a save of an existing item changes in addition to its secret: those that the details
  /// specify.
  ///
  /// - Parameters:
  ///   - item: The name and the description of the item.
  ///   - found: The current attributes of the item.
  func description(
    of item: some PasswordItem, over found: FoundAttributes
  ) throws(KeychainError) -> [String: Any] {
    var changes: [String: Any] = [:]
    if item.details.isProtected {
      changes = try item.details.protection(fallback: found.accessibility)
    }
    for attribute in item.details.texts(for: type(of: item)) {
      changes[attribute.key] = attribute.value.object
    }
    return changes
  }

  /// Returns the query for the item with exactly this primary key, in all groups if none is named.
  func query<P: PasswordItem>(for item: P) -> [String: Any] {
    var query = dictionary(for: P.self)
    for attribute in item.primaryKey { query[attribute.key] = attribute.value.object }
    if let group = group(of: item) { query[kSecAttrAccessGroup as String] = group.rawValue }
    return query
  }

  /// Returns the query for all items that meet the conditions.
  ///
  /// - Throws: `invalidParameter` if two conditions contradict each other.
  func query<P: PasswordItem>(
    for itemClass: P.Type, _ conditions: [PasswordAttribute<P>]
  ) throws(KeychainError) -> [String: Any] {
    var query = dictionary(for: P.self)
    query[kSecAttrSynchronizable as String] = kSecAttrSynchronizableAny as String
    if let accessGroup { query[kSecAttrAccessGroup as String] = accessGroup.rawValue }
    var values: [String: PasswordAttributeValue] = [:]
    for condition in conditions {
      if let other = values[condition.key], other != condition.value { throw .invalidParameter }
      values[condition.key] = condition.value
      query[condition.key] = condition.value.object
    }
    return query
  }

  /// Returns the attributes that differ between two items, except for those that the new one does not specify.
  ///
  /// - Parameters:
  ///   - old: The attributes that the caller assumes.
  ///   - new: The new attributes.
  ///   - found: The current attributes of the item.
  func changes<P: PasswordItem>(
    from old: P, to new: P, over found: FoundAttributes
  ) throws(KeychainError) -> [String: Any] {
    let known = Set(old.primaryKey + old.details.texts())
    var changes: [String: Any] = [:]
    for attribute in new.primaryKey + new.details.texts() where !known.contains(attribute) {
      changes[attribute.key] = attribute.value.object
    }
    if let group = new.accessGroup, group != old.accessGroup {
      changes[kSecAttrAccessGroup as String] = group.rawValue
    }
    return changes.merging(try protection(from: old.details, to: new.details, over: found)) { $1 }
  }

  private func protection(
    from old: PasswordDetails, to new: PasswordDetails, over found: FoundAttributes
  ) throws(KeychainError) -> [String: Any] {
    let accessibility = new.accessibility == old.accessibility ? nil : new.accessibility
    guard new.requiresUserPresence == old.requiresUserPresence else {
      return try PasswordDetails.control(accessibility ?? found.accessibility, new.requiresUserPresence)
    }
    return accessibility.map { [kSecAttrAccessible as String: $0.rawValue] } ?? [:]
  }

  /// Returns the query for the item that a name refers to, and its current attributes; nil if there is no such item.
  ///
  /// - Throws: `ambiguousItem` if several groups contain such an item.
  func locate(
    _ item: some PasswordItem
  ) throws(KeychainError) -> (query: [String: Any], found: FoundAttributes)? {
    var query = query(for: item)
    let matches = try attributes(query)
    guard let match = matches.first else { return nil }
    guard matches.count == 1 else { throw .ambiguousItem }
    if let group = match.accessGroup { query[kSecAttrAccessGroup as String] = group.rawValue }
    return (query, match)
  }

  /// Returns the attributes of all items that a query matches.
  func attributes(_ query: [String: Any]) throws(KeychainError) -> [FoundAttributes] {
    var query = query
    query[kSecReturnAttributes as String] = true
    query[kSecMatchLimit as String] = kSecMatchLimitAll as String
    let (status, result) = functions.find(query)
    if status == errSecItemNotFound { return [] }
    try check(status)
    guard let list = result as? [[String: Any]] else { throw .other(errSecInternalComponent) }
    return list.map { FoundAttributes($0) }
  }
}
