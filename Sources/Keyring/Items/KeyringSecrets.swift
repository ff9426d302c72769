public import KeyringModel
public import Secrets

extension Keyring {
  /// Finds items and decrypts their secrets, up to the query's limit.
  ///
  /// Items are decrypted one after the other, so that only one secret is in memory at a time. An error ends the call,
  /// after `body` may have been called for earlier items.
  ///
  /// - Parameters:
  ///   - query: The query. ``Query/Returns/secret`` is implied. Each item's signed record must fulfil its conditions,
  ///     as in `secret(for:matching:)`.
  ///   - body: Receives an item and its secret, in the order of creation. The secret is wiped when `body` returns.
  /// - Returns: The items, and the problems found during the search.
  /// - Throws: `KeyringError.invalidQuery` before any file is read, with `secretOfAllMatches` if the limit is `.all`;
  ///   the errors of `find(_:)`, `secret(for:matching:)` and `body`.
  @discardableResult
  public func forEachSecret(
    matching query: Query, _ body: (ItemRecord, borrowing SecretBytes) throws(KeyringError) -> Void
  ) throws(KeyringError) -> Matches {
    var query = query
    query.returns.insert(.secret)
    let matches = try find(query)
    for record in matches.items {
      let secret = try secret(for: record, matching: query)
      try body(record, secret)
    }
    return matches
  }

  /// Keeps a secret that was just stored in memory, as if it had been read, if the host keeps secrets.
  ///
  /// - Parameters:
  ///   - secret: The secret. It must not belong to an item for which the user is asked each time.
  ///   - record: The item with this secret.
  package func keep(_ secret: borrowing SecretBytes, of record: ItemRecord) {
    keptSecrets?.keep(secret, of: record.sealed)
  }
}
