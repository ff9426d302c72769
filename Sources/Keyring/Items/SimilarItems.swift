package import KeyringModel

/// The items of a store by the hosts and users of their accounts, for the search for other spellings of many accounts.
package struct SimilarItems {
  private var items: [String: [String: [(account: SimilarAccount, record: ItemRecord)]]] = [:]

  /// Creates the list for some items.
  package init(_ records: [ItemRecord]) {
    for record in records {
      guard let account = SimilarAccount(record.itemClass, record.attributes) else { continue }
      for host in account.hosts {
        for user in account.names { items[host, default: [:]][user, default: []].append((account, record)) }
      }
    }
  }

  /// Returns the items that may be for an account.
  func items(of account: SimilarAccount) -> [ItemRecord] {
    (account.isUncertain ? Set(items.keys) : account.hosts).flatMap {
      host -> [(account: SimilarAccount, record: ItemRecord)] in
      guard let users = items[host] else { return [] }
      // Any user may be meant if none is named.
      return account.names.contains("")
        ? users.values.flatMap(\.self) : (account.names + [""]).flatMap { users[$0] ?? [] }
    }.filter { $0.account.mayBeSame(as: account) }.map(\.record)
  }
}

extension Keyring {
  /// Returns the items of other groups that may be for the account of a new item, and that not all readers of the new item
  /// can read.
  ///
  /// - Parameters:
  ///   - item: The new item.
  ///   - items: The items of the store.
  package func items(ofOtherGroupsFor item: NewItem, among items: SimilarItems) -> [ItemRecord] {
    SimilarAccount(item.itemClass, item.attributes).map { account in
      items.items(of: account).filter { isElsewhere($0, for: item) }
    } ?? []
  }
}
