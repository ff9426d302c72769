package import KeyringModel
package import Secrets

/// A change to the attributes of an existing item.
package struct PlannedUpdate: Sendable {
  /// The item, as `find` returned it.
  package let record: ItemRecord
  /// The changes to its attributes.
  package let changes: AttributeChanges

  /// Creates a planned change.
  package init(_ record: ItemRecord, _ changes: AttributeChanges) {
    self.record = record
    self.changes = changes
  }
}

/// The result for one of several items that were added together.
package enum AddOutcome: Sendable, Equatable {
  /// The item was added.
  case added(ItemRecord)
  /// An item with the same primary key already existed and was not changed.
  case exists(ItemReference)
}

extension Keyring {
  /// Adds several items in one transaction and encrypts them on several threads. Existing items are not changed.
  ///
  /// - Parameters:
  ///   - items: The items.
  ///   - updates: Changes to existing items, made in the same transaction.
  ///   - secret: Returns the secret of the item with this index. Called once for each item to be added, from several
  ///     threads.
  ///   - progress: Called once for each encrypted item, with its number among the added items counted from 1. The calls
  ///     are made in no particular order and from several threads.
  /// - Returns: The result for each item, in the same order.
  /// - Throws: The errors of `add`. After any error except a file error no item is added.
  package func addAll(
    _ items: [NewItem], updating updates: [PlannedUpdate] = [],
    secret: @escaping @Sendable (Int) -> SecretBytes,
    progress: @escaping @Sendable (Int) -> Void = { _ in }
  ) throws(KeyringError) -> [AddOutcome] {
    try addAll(items, updating: updates, subject: nil, secret: secret, progress: progress)
  }

  /// Adds several items like `addAll(_:updating:secret:progress:)`, with the caller's own commit subject.
  package func addAll(
    _ items: [NewItem], updating updates: [PlannedUpdate], subject: String?,
    secret: @escaping @Sendable (Int) -> SecretBytes, progress: @escaping @Sendable (Int) -> Void
  ) throws(KeyringError) -> [AddOutcome] {
    var wanted: [Int] = []
    for (position, item) in items.enumerated() where try !exists(item) { wanted.append(position) }
    let positions = wanted
    let times = times(positions.count)
    let sealer = ItemEncryptor(keyring: self)
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
          // Another process added it concurrently, or the list contains it twice.
          guard case .itemExists = error else { throw error }
        }
      }
      for update in updates { try changes.update(update.record, update.changes) }
      return outcomes
    }
  }

  /// Adds items, replaces secrets and changes attributes in one transaction, or does nothing if another process has
  /// changed one of the items concurrently.
  ///
  /// - Parameters:
  ///   - additions: The new items.
  ///   - replacements: Existing items that get another secret, with changes to their attributes.
  ///   - updates: Changes to the attributes of other existing items.
  ///   - subject: The subject of the commit.
  ///   - secret: Returns the secret of the addition with this index; the replacements follow the additions.
  ///   - progress: Called once for each encrypted item, from several threads.
  /// - Returns: The records of the additions and replacements in this order; nil if nothing was changed because a new
  ///   item exists by now or an existing one has changed or was removed.
  /// - Throws: The errors of `add` and `update`. After any error except a file error nothing is changed.
  package func importAll(
    _ additions: [NewItem], replacing replacements: [PlannedUpdate], updating updates: [PlannedUpdate],
    subject: String, secret: @escaping @Sendable (Int) -> SecretBytes,
    progress: @escaping @Sendable () -> Void
  ) throws(KeyringError) -> [ItemRecord]? {
    let times = times(additions.count)
    let encryptor = ItemEncryptor(keyring: self)
    let prepare = { @Sendable (number: Int) throws(KeyringError) -> PreparedItem in
      defer { progress() }
      if number < additions.count {
        return try encryptor.prepare(additions[number], secret: secret(number), created: times[number])
      }
      let update = replacements[number - additions.count]
      return try encryptor.prepare(update, secret: secret(number))
    }
    let prepared = try WorkerPool(workers: host.workers, startsPrograms: true)
      .map(additions.count + replacements.count, prepare)
    return try transaction(subject: subject) { changes throws(KeyringError) -> [ItemRecord]? in
      for item in additions {
        guard try changes.item(like: item) == nil else { return nil }
      }
      for update in replacements + updates {
        guard try changes.isUnchanged(update.record) else { return nil }
      }
      for item in prepared[..<additions.count] { try changes.add(item) }
      for (update, item) in zip(replacements, prepared[additions.count...]) {
        try changes.replace(update.record, with: item)
      }
      for update in updates { try changes.update(update.record, update.changes) }
      return prepared.map(\.record)
    }
  }

  /// Returns increasing creation times for items that are added together, so that queries return the items in the given
  /// order, regardless of which thread finishes first.
  private func times(_ count: Int) -> [Timestamp] {
    let start = host.clock().microseconds
    return (0..<Int64(count)).map { Timestamp(microseconds: start + $0) }
  }

  /// Returns true if the index contains an item with this primary key.
  private func exists(_ item: NewItem) throws(KeyringError) -> Bool {
    try !index.findInFiles(.item(with: try item.primaryKey())).items.isEmpty
  }
}

extension WriteTransaction {
  /// Returns true if an item still exists and is equal to the given record.
  fileprivate mutating func isUnchanged(_ record: ItemRecord) throws(KeyringError) -> Bool {
    do throws(KeyringError) {
      return try latest(record) == record
    } catch {
      guard error == .itemNotFound else { throw error }
      return false
    }
  }
}

extension ItemEncryptor {
  /// Encrypts another secret for an existing item.
  ///
  /// - Parameters:
  ///   - update: The item and the changes to its attributes.
  ///   - secret: The new secret.
  /// - Throws: The errors of `Keyring.update`.
  func prepare(
    _ update: PlannedUpdate, secret: borrowing SecretBytes
  ) throws(KeyringError) -> PreparedItem {
    var record = try update.changes.applied(to: update.record)
    var generator = SystemRandomNumberGenerator()
    record.revision = Revision(using: &generator)
    record.modified = keyring.host.time(after: update.record)
    record.secretModified = record.modified
    var prepared = try prepare(record, secret: secret)
    prepared.isOwnSecret = true
    return prepared
  }
}

extension Query {
  /// Returns the query for the item with a primary key.
  ///
  /// The path alone would identify the item, but provides no bytes to search for, so every line of a shard would have
  /// to be parsed. Numbers are left out because a line may contain them in another notation.
  package static func item(with key: PrimaryKey) -> Query {
    let values = key.values.filter { $0.value.contentBytes != nil }
      .map { Predicate(subject: .attribute($0.name), comparison: .equal($0.value)) }
    return Query(itemClass: key.itemClass, predicates: [.path(ItemPath(key))] + values)
  }
}
