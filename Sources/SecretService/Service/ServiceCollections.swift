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
  /// - Throws: `invalidArguments`, `noSuchObject`, `notSupported` for the alias `session`, `limitsExceeded`, `failed`.
  package func setAlias(_ alias: String, to path: ObjectPath) throws {
    try Self.checkAlias(alias)
    var collection: CollectionID?
    if path != .none {
      guard case .collection(let found)? = try storedObject(at: path) else {
        throw SecretServiceError.noSuchCollection
      }
      collection = found
    }
    try set(alias, to: collection)
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
