internal import Foundation

#if os(Linux)
  internal import KeychainServices
#else
  internal import Security
#endif

// Names as the dictionaries of Apple's functions. A dictionary asks for the data of one item at most.

extension Passwords {
  /// Returns the members of every dictionary.
  private func dictionary<P: PasswordItem>(for itemClass: P.Type) -> [String: Any] {
    var dictionary: [String: Any] = [
      kSecClass as String: P.schema.itemClass,
      // macOS has two keychains; this is the one that behaves as all others do.
      kSecUseDataProtectionKeychain as String: true,
    ]
    if interaction == .notAllowed {
      dictionary[kSecUseAuthenticationUI as String] = kSecUseAuthenticationUIFail as String
    }
    return dictionary
  }

  private func group(of item: some PasswordItem) -> AccessGroup? { item.accessGroup ?? accessGroup }

  /// A new item without its secret.
  func newItem<P: PasswordItem>(_ item: P) throws(KeychainError) -> [String: Any] {
    var dictionary = dictionary(for: P.self)
    // What a missing attribute stands for is not written down.
    let key = item.primaryKey.filter { !$0.value.isDefault }
    for attribute in key + item.details.texts() { dictionary[attribute.key] = attribute.value.object }
    if let group = group(of: item) { dictionary[kSecAttrAccessGroup as String] = group.rawValue }
    guard item.details.isProtected else { return dictionary }
    return dictionary.merging(try item.details.protection(fallback: .whenUnlocked)) { $1 }
  }

  /// Returns the attributes that a save of an existing item changes besides its secret: those given in the
  /// details.
  ///
  /// - Parameters:
  ///   - item: Names the item, and describes it.
  ///   - found: What is known of the item.
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

  /// The query for the item with exactly this primary key, in all groups when none is named.
  func query<P: PasswordItem>(for item: P) -> [String: Any] {
    var query = dictionary(for: P.self)
    for attribute in item.primaryKey { query[attribute.key] = attribute.value.object }
    if let group = group(of: item) { query[kSecAttrAccessGroup as String] = group.rawValue }
    return query
  }

  /// The query for all items that fulfil conditions.
  ///
  /// - Throws: `invalidParameter` when two conditions contradict each other.
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

  /// Returns the attributes that differ between two items, except for those that the new one leaves open.
  ///
  /// - Parameters:
  ///   - old: What the item is taken for.
  ///   - new: What it shall be.
  ///   - found: What is known of the item.
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

  /// The query for the one item that a name means, and what is known of it; nil when there is none.
  ///
  /// - Throws: `ambiguousItem` when several groups have one.
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

  /// The attributes of everything that a query matches.
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
