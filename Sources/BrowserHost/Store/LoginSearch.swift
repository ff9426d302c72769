package import Keyring
internal import KeyringModel

/// Finds the logins that a browser may see, in the index alone: nothing is decrypted and no agent is asked.
package struct LoginSearch {
  /// Logins with their names, and the cost and the problems of the search.
  package struct Found {
    /// The logins.
    package let names: LoginNames
    /// The damage found in the index.
    package let problems: [IndexProblem]
    /// The cost of the search.
    package let statistics: SearchStatistics
    /// True if the store has items but no index.
    package let isIndexLost: Bool
  }

  private let index: Index
  private let protocols: Set<String>

  /// Creates a search in the index of a store.
  package init(_ index: Index, _ settings: BrowserSettings) {
    self.index = index
    protocols = settings.protocols
  }

  /// Returns all logins.
  ///
  /// - Throws: The errors of `Index.find`.
  package func all() throws(KeyringError) -> Found {
    try found([
      Query(itemClass: .internetPassword),
      Query(
        itemClass: .genericPassword, predicates: [Predicate(subject: .attribute(.url), comparison: .exists)]),
    ])
  }

  /// Finds the login with a name.
  ///
  /// - Parameter name: The name as the extension sent it.
  /// - Returns: The result, and true if a damaged line of the index might be another login with the name.
  /// - Throws: The errors of `Index.find`.
  package func login(
    named name: LoginName
  ) throws(KeyringError) -> (match: LoginNames.Match, isDamaged: Bool) {
    var queries: [Query] = []
    for (host, _) in name.places {
      let server = AttributeValue(text: host)
      queries.append(
        Query(itemClass: .internetPassword, predicates: [.equal(.server, server, ignoresCase: true)]))
      let url = Predicate(subject: .attribute(.url), comparison: .contains(server), ignoresCase: true)
      queries.append(Query(itemClass: .genericPassword, predicates: [url]))
    }
    // Without a query, the name has an invalid escape, and no login has such a name.
    guard !queries.isEmpty else { return (.none, false) }
    let found = try found(queries)
    return (found.names.match(name), !found.problems.isEmpty || found.isIndexLost)
  }

  /// - Parameter queries: At least one query.
  private func found(_ queries: [Query]) throws(KeyringError) -> Found {
    let matches = try index.find(queries)
    var problems: [IndexProblem] = []
    var statistics = matches[0].statistics
    var seen: Set<ItemPlaceKey> = []
    var logins: [WebLogin] = []
    for part in matches.dropFirst() { statistics += part.statistics }
    for part in matches {
      problems += part.problems.filter { !problems.contains($0) }
      for record in part.items where queries.count <= 2 || seen.insert(ItemPlaceKey(record)).inserted {
        if let login = WebLogin(record, protocols: protocols) { logins.append(login) }
      }
    }
    return Found(
      names: LoginNames(logins), problems: problems, statistics: statistics,
      isIndexLost: matches.contains(where: \.isIndexLost))
  }
}

/// The parts of an item that differ from those of every other one, to recognize an item that a second query has found.
private struct ItemPlaceKey: Hashable {
  let path: ItemPath
  let isLocal: Bool

  init(_ record: ItemRecord) { (path, isLocal) = (record.path, record.isLocal) }
}
