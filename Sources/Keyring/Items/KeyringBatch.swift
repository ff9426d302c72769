public import KeyringModel
public import Secrets

/// Attributes for an item that is in the store already.
public struct PlannedUpdate: Sendable {
  /// The item, as `find` returned it.
  public let record: ItemRecord
  /// What changes about it.
  public let changes: AttributeChanges

  /// Plans a change.
  public init(_ record: ItemRecord, _ changes: AttributeChanges) {
    self.record = record
    self.changes = changes
  }
}

/// What became of one of many items that were added together.
public enum AddOutcome: Sendable, Equatable {
  /// It was added.
  case added(ItemRecord)
  /// An item with its primary key was there already, and was left as it is.
  case exists(ItemReference)
}

extension Keyring {
  /// Adds many items in one transaction, sealing them on several threads; items that exist are left alone.
  ///
  /// - Parameters:
  ///   - items: the items.
  ///   - updates: changes to items of the store, made in the same transaction.
  ///   - secret: the secret of the item with this number; called once for each, from several threads.
  ///   - progress: told how many are sealed, in no particular order and from several threads.
  /// - Returns: what became of each item, in the same order.
  /// - Throws: as `add`; then nothing was added.
  public func addAll(
    _ items: [NewItem], updating updates: [PlannedUpdate] = [],
    secret: @escaping @Sendable (Int) -> SecretBytes,
    progress: @escaping @Sendable (Int) -> Void = { _ in }
  ) throws(KeyringError) -> [AddOutcome] {
    try addAll(items, updating: updates, subject: nil, secret: secret, progress: progress)
  }

  /// Does the same, with words of the caller's own for the history.
  package func addAll(
    _ items: [NewItem], updating updates: [PlannedUpdate], subject: String?,
    secret: @escaping @Sendable (Int) -> SecretBytes, progress: @escaping @Sendable (Int) -> Void
  ) throws(KeyringError) -> [AddOutcome] {
    var wanted: [Int] = []
    for (position, item) in items.enumerated() where try !exists(item) { wanted.append(position) }
    let positions = wanted
    let times = times(positions.count)
    let sealer = ItemSealer(keyring: self)
    let seal = { @Sendable (number: Int) throws(KeyringError) -> PreparedItem in
      let position = positions[number]
      let item = try sealer.prepare(items[position], secret: secret(position), created: times[number])
      progress(number + 1)
      return item
    }
    let prepared = try WorkerPool(workers: host.workers, startsPrograms: true).map(positions.count, seal)
    return try transaction(subject: subject) { changes throws(KeyringError) in
      var outcomes = try items.map { item throws(KeyringError) -> AddOutcome in
        .exists(.path(try item.path()))
      }
      for (number, item) in prepared.enumerated() {
        do throws(KeyringError) {
          outcomes[wanted[number]] = .added(try changes.add(item))
        } catch {
          // Somebody added it meanwhile, or it is twice in the list.
          guard case .itemExists = error else { throw error }
        }
      }
      for update in updates { try changes.update(update.record, update.changes) }
      return outcomes
    }
  }

  /// Times for items that are made together, one after the other in the order of the items: which thread is
  /// done first must not decide about the order in which they are found.
  private func times(_ count: Int) -> [Timestamp] {
    let start = host.clock().microseconds
    return (0..<Int64(count)).map { Timestamp(microseconds: start + $0) }
  }

  /// Whether an item with this primary key is in the index now.
  private func exists(_ item: NewItem) throws(KeyringError) -> Bool {
    let attributes = try item.attributes.checked(for: item.itemClass)
    let key = PrimaryKey(itemClass: item.itemClass, attributes: attributes, group: item.group)
    return try !index.findInFiles(.item(with: key)).items.isEmpty
  }
}

extension Query {
  /// The question for the one item that has a primary key.
  ///
  /// Its path alone would do, but that names no bytes to look for, so that each line of a shard would be
  /// parsed. Numbers are left out, since a line may spell them in another way.
  package static func item(with key: PrimaryKey) -> Query {
    let values = key.values.filter { $0.value.contentBytes != nil }
      .map { Predicate(subject: .attribute($0.name), comparison: .equal($0.value)) }
    return Query(itemClass: key.itemClass, predicates: [.path(ItemPath(key))] + values)
  }
}
