public import KeyringModel
public import Secrets

extension Keyring {
  /// Finds items and decrypts their secrets: of exactly those that the query's limit lets through.
  ///
  /// One after the other is decrypted and handed out, so that no two secrets are in memory at once. An error stops
  /// it; `body` may have been called for items before.
  ///
  /// - Parameters:
  ///   - query: which items; ``Query/Returns/secret`` is taken as asked for. Its conditions on primary-key attributes
  ///     must hold on what each item says about itself, as in `secret(for:matching:)`.
  ///   - body: takes an item and its secret, in the order of creation. The secret is wiped when it returns.
  /// - Returns: the items, and what was noticed while they were looked for.
  /// - Throws: `KeyringError.invalidQuery` before any file is read, with `secretOfAllMatches` when the limit is
  ///   `.all`; as `find(_:)` and `secret(for:matching:)`; what `body` throws.
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
}
