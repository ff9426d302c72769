internal import Encoding
internal import Keyring
internal import KeyringModel

extension SecretService {
  /// The property `Collections`.
  package var collections: [ObjectPath] { groups.map { ObjectPath(.group($0)) } + [ObjectPath(.session)] }

  /// `ReadAlias`.
  ///
  /// - Returns: The collection, or ``ObjectPath/none``.
  /// - Throws: `failed` if the store cannot be opened.
  package func readAlias(_ alias: String) throws -> ObjectPath {
    try collection(ofAlias: alias).map { ObjectPath($0) } ?? .none
  }

  /// `SetAlias`.
  ///
  /// - Parameters:
  ///   - alias: The alias.
  ///   - path: The collection; ``ObjectPath/none`` removes the alias.
  /// - Throws: `invalidArguments`, `noSuchObject`, `notSupported` for the alias `session` and for a collection that
  ///   others can read who could not read the last one, `limitsExceeded`, `failed`.
  package func setAlias(_ alias: String, to path: ObjectPath) throws {
    try Self.checkAlias(alias)
    var collection: CollectionID?
    if path != .none {
      guard case .collection(let found)? = try storedObject(at: path) else {
        throw SecretServiceError.noSuchCollection
      }
      try checkReaders(of: found, for: alias)
      collection = found
    }
    try set(alias, to: collection)
  }

  /// Checks that an alias does not get more readers. Programs store their next secrets in the collection of an alias,
  /// and any program can move it.
  ///
  /// An alias without a collection can only get one that the user alone can read. Otherwise an alias could be removed
  /// and set again, or moved in several steps.
  private func checkReaders(of collection: CollectionID, for alias: String) throws {
    let old = try self.collection(ofAlias: alias)
    if collection == old { return }
    let allowed = try old.map(readers) ?? []
    guard try readers(of: collection).isSubset(of: allowed) else {
      throw SecretServiceError(.notSupported, "The alias cannot be moved to a collection with more readers.")
    }
  }

  /// Returns the other people who can read a collection.
  private func readers(of collection: CollectionID) throws -> Set<Fingerprint> {
    guard case .group(let group) = collection else { return [] }
    let keyring = try keyring()
    return Set(keyring.policy.groups[group] ?? []).subtracting([keyring.ownFingerprint])
  }

  /// Forgets what clients have set for a collection that was deleted, so that another group with its name inherits
  /// nothing.
  func forgetLocalState(of collection: CollectionID) throws {
    let names = local.aliases.filter { $0.collection == collection }.map(\.name)
    if names.isEmpty, local.labels[collection] == nil { return }
    try changeLocalState { state in
      state.labels[collection] = nil
      // Removing an alias never exceeds the limit.
      for name in names { _ = state.set(name, to: nil) }
    }
  }

  static func checkAlias(_ alias: String) throws {
    guard (1...LocalState.maximumAliasSize).contains(alias.utf8.count) else {
      throw SecretServiceError(.invalidArguments, "An alias has 1 to 64 bytes.")
    }
    guard alias != CollectionID.session.pathName else {
      throw SecretServiceError(.notSupported, "The alias \"session\" cannot be changed.")
    }
  }

  func set(_ alias: String, to collection: CollectionID?) throws {
    if local.collection(of: alias) == collection { return }
    try changeLocalState { state in
      guard state.set(alias, to: collection) else {
        throw SecretServiceError(.limitsExceeded, "There are too many aliases.")
      }
    }
  }

  /// The properties of a collection, except `Items`.
  ///
  /// - Throws: `noSuchObject`, `failed`.
  package func properties(of collection: CollectionID) throws -> CollectionProperties {
    guard try exists(collection) else { throw SecretServiceError.noSuchCollection }
    try readItems()
    let times = times(of: collection)
    return CollectionProperties(
      label: label(of: collection), isLocked: isLocked(collection), created: times.created,
      modified: times.modified)
  }

  /// The property `Items` of a collection.
  ///
  /// - Throws: `noSuchObject`, `failed`.
  package func items(of collection: CollectionID) throws -> [ObjectPath] {
    guard try exists(collection) else { throw SecretServiceError.noSuchCollection }
    switch collection {
    case .session: return memory.all.map { ObjectPath(ItemAddress(.session, $0.id)) }
    case .group(let group):
      try readItems()
      return known.items(of: group).map { ObjectPath(ItemAddress(collection, $0.id)) }
    }
  }

  /// Sets the property `Label` of a collection, on this machine only.
  ///
  /// - Throws: `noSuchObject`, `isLocked`, `invalidArguments`, `failed`.
  package func setLabel(_ label: String, of collection: CollectionID) throws {
    guard try exists(collection) else { throw SecretServiceError.noSuchCollection }
    guard !isLocked(collection) else { throw SecretServiceError.isLocked }
    try setLocalLabel(label, of: collection)
  }

  func setLocalLabel(_ label: String, of collection: CollectionID) throws {
    guard label.utf8.count <= ItemForm.maximumValueSize else {
      throw SecretServiceError(.invalidArguments, "The label is too long.")
    }
    if self.label(of: collection).hasSameBytes(as: label) { return }
    try changeLocalState { $0.labels[collection] = label }
    events.add(.collectionProperties(ObjectPath(collection), [.label(label)]))
    events.add(.collectionChanged(ObjectPath(collection)))
  }

  private func label(of collection: CollectionID) -> String {
    if let label = local.labels[collection] { return label }
    return switch collection {
    case .session: collection.pathName
    case .group(let group): group
    }
  }

  func times(of collection: CollectionID) -> (created: UInt64, modified: UInt64) {
    switch collection {
    case .session: return (started, memory.modified ?? started)
    case .group(let group):
      let items = known.groups[group]?.values
      // The keyring was created when its first member was added.
      // If the store cannot be opened now, the next call reports it.
      let people = (try? keyring())?.policy.people.values.map(\.added.seconds)
      let start = people?.min() ?? started
      return (
        items?.lazy.map(\.created).min()?.seconds ?? start,
        items?.lazy.map(\.modified).max()?.seconds ?? start
      )
    }
  }

  /// Changes the local state, and writes it before the change is used.
  private func changeLocalState(_ body: (inout LocalState) throws -> Void) throws {
    var new = local
    try body(&new)
    do {
      try new.write(in: stateFolder)
    } catch {
      throw SecretServiceError(.failed, "The state of the service cannot be written.", cause: error)
    }
    local = new
  }
}
