internal import Encoding
internal import Keyring
internal import KeyringModel
internal import Secrets

extension SecretService {
  // MARK: Searching

  /// `Service.SearchItems`.
  ///
  /// - Throws: `invalidArguments`, `failed`.
  package func searchItems(_ attributes: ServiceAttributes) throws -> FoundItems {
    var unlocked: [ObjectPath] = []
    var locked: [ObjectPath] = []
    // One answer for each collection: the agent may be asked again in between.
    var locks: [CollectionID: Bool] = [:]
    for item in try found(attributes, in: nil) {
      let collection = item.address.collection
      let isLocked = locks[collection] ?? self.isLocked(collection)
      locks[collection] = isLocked
      // Programs use an unlocked item rather than a locked one. An item that others can have added must not get ahead
      // of those before it in this way. Unlocking it needs no prompt.
      if isLocked || item.isShared && !locked.isEmpty {
        locked.append(ObjectPath(item.address))
      } else {
        unlocked.append(ObjectPath(item.address))
      }
    }
    return FoundItems(unlocked: unlocked, locked: locked)
  }

  /// `Collection.SearchItems`.
  ///
  /// - Throws: `noSuchObject`, `invalidArguments`, `failed`.
  package func searchItems(
    _ attributes: ServiceAttributes, in collection: CollectionID
  ) throws -> [ObjectPath] {
    guard try exists(collection) else { throw SecretServiceError.noSuchCollection }
    return try found(attributes, in: collection).map { ObjectPath($0.address) }
  }

  /// An item that a search has found.
  private struct FoundItem {
    let address: ItemAddress
    let place: SearchOrder.Place
    let isShared: Bool
    let modified: Int64
  }

  /// Returns the items that have some attributes, in the order of ``SearchOrder``, and the newest first within a group.
  ///
  /// - Parameter collection: The collection of the items; nil for all.
  private func found(_ attributes: ServiceAttributes, in collection: CollectionID?) throws -> [FoundItem] {
    guard attributes.count <= ServiceLimits.pairsPerSearch else {
      throw SecretServiceError(.invalidArguments, "A search has at most 64 attributes.")
    }
    if attributes[ItemForm.schema] == ItemForm.passphraseSchema { return [] }
    var found: [FoundItem] = []
    if collection == nil || collection == .session {
      found += memory.items(with: attributes).map { item in
        FoundItem(
          address: ItemAddress(.session, item.id), place: SearchOrder.session, isShared: false,
          modified: Int64(item.modified) * 1_000_000)
      }
    }
    if collection != .session { found += try stored(attributes, in: collection) }
    // Items of the same time stay in the order of their creation, or of their change in memory.
    let order = found.indices.sorted { left, right in
      let (first, second) = (found[left], found[right])
      if first.place != second.place { return first.place < second.place }
      return first.modified == second.modified ? left < right : first.modified > second.modified
    }
    return order.map { found[$0] }
  }

  /// Returns the items of the store that have some attributes, in any order.
  private func stored(_ attributes: ServiceAttributes, in collection: CollectionID?) throws -> [FoundItem] {
    let keyring = try keyring()
    let order = SearchOrder(groups, in: keyring, default: try self.collection(ofAlias: LocalState.mainAlias))
    do {
      return try ItemSearch(keyring: keyring).items(with: attributes) { record in
        groups.contains(record.group) && (collection ?? .group(record.group)) == .group(record.group)
          && !order.hides(record, from: attributes, local)
      }.map { record in
        FoundItem(
          address: ItemAddress(.group(record.group), record.id), place: order.place(of: record),
          isShared: order.isShared(record), modified: record.modified.microseconds)
      }
    } catch {
      throw SecretServiceError(reporting: error)
    }
  }

  // MARK: Creating and deleting

  /// `CreateItem`. The prompt of the reply is always ``ObjectPath/none``.
  ///
  /// - Returns: The item. It can be in another collection than the main one, whose item it replaces.
  /// - Throws: `noSession`, `invalidArguments`, `notSupported`, `isLocked`, `noSuchObject`, `limitsExceeded`, `failed`.
  package func createItem(
    _ properties: NewItemProperties, _ secret: WireSecret, replace: Bool, in collection: CollectionID,
    for sender: Sender
  ) throws -> Answer<ObjectPath> {
    let content = try content(properties, secret, for: sender)
    guard try exists(collection) else { throw SecretServiceError.noSuchCollection }
    guard case .group(let group) = collection else {
      return .now(ObjectPath(ItemAddress(.session, try createInMemory(content, replace: replace))))
    }
    guard !isLocked(collection) else { throw SecretServiceError.isLocked }
    // The signal for the new item compares it with the items before it.
    try readItems()
    let isUsual = try self.collection(ofAlias: LocalState.mainAlias) == collection
    return .later(
      try change(for: sender) { items in
        try items.create(content, in: group, isUsual: isUsual, replace: replace)
      } value: { change in
        switch change {
        case .unchanged(let record), .stored(let record):
          ObjectPath(ItemAddress(.group(record.group), record.id))
        case .removed: .none
        }
      })
  }

  /// `Item.Delete`. The prompt of the reply is always ``ObjectPath/none``.
  ///
  /// - Throws: `isLocked`, `noSuchObject`, `limitsExceeded`, `failed`.
  package func delete(_ item: ItemAddress, for sender: Sender) throws -> Answer<ObjectPath> {
    if item.collection == .session {
      try memory.remove(item.id)
      events.add(.itemDeleted(ObjectPath(item), collection: ObjectPath(.session)))
      queueItems(of: .session)
      queueModified(.session)
      return .now(.none)
    }
    try checkUnlocked(item)
    var target = GroupName.default
    if case .group(let main)? = try collection(ofAlias: LocalState.mainAlias) { target = main }
    return .later(
      try change(for: sender) { [target] in
        try $0.delete(item, insteadOf: target)
      } value: { _ in
        .none
      })
  }

  // MARK: Secrets

  /// `GetSecret`.
  ///
  /// - Throws: `noSession`, `isLocked`, `noSuchObject`, `limitsExceeded`, `failed`.
  package func secret(
    of item: ItemAddress, session: ObjectPath, for sender: Sender
  ) throws -> Answer<WireSecret> {
    let cipher = try senders.cipher(of: session, for: sender)
    if item.collection == .session {
      guard let found = memory[item.id] else { throw SecretServiceError.noSuchItem }
      return .now(try cipher.encrypt(found.secret, contentType: found.contentType, session: session))
    }
    try checkUnlocked(item)
    let store = store
    return .later(
      try work(.read, for: sender) {
        let result = Result {
          let (secret, type) = try ItemChanges(try store.keyring()).secret(of: item)
          return try cipher.encrypt(secret, contentType: type, session: session)
        }
        return (result, .none)
      })
  }

  /// `SetSecret`.
  ///
  /// - Throws: `noSession`, `invalidArguments`, `isLocked`, `noSuchObject`, `limitsExceeded`, `failed`.
  package func setSecret(
    _ secret: WireSecret, of item: ItemAddress, for sender: Sender
  ) throws -> Answer<Void> {
    let value = try senders.cipher(of: secret.session, for: sender).decrypt(secret)
    let type = try Self.contentType(of: secret)
    if item.collection == .session {
      return .now(
        try changeInMemory(item.id) { found in
          found.secret = value
          found.contentType = type
        })
    }
    try checkUnlocked(item)
    return .later(
      try change(for: sender) {
        try $0.setSecret(value, type, of: item)
      } value: { _ in
      })
  }

  /// `GetSecrets`. Items that are missing or locked are left out.
  ///
  /// - Throws: `noSession`, `limitsExceeded`, `failed`.
  package func secrets(
    of items: [ObjectPath], session: ObjectPath, for sender: Sender
  ) throws -> Answer<[ItemSecret]> {
    let cipher = try senders.cipher(of: session, for: sender)
    var seen: Set<ObjectPath> = []
    let paths = items.filter { seen.insert($0).inserted }
    guard paths.count <= ServiceLimits.secretsPerCall else {
      throw SecretServiceError(.limitsExceeded, "A call returns at most 64 secrets.")
    }
    var ready: [ItemSecret] = []
    var waiting: [(path: ObjectPath, address: ItemAddress)] = []
    for path in paths {
      guard case .item(let address)? = try storedObject(at: path), !isLocked(address.collection) else {
        continue
      }
      if let found = memory[address.id], address.collection == .session {
        let secret = try cipher.encrypt(found.secret, contentType: found.contentType, session: session)
        ready.append(ItemSecret(item: path, secret: secret))
      } else {
        waiting.append((path, address))
      }
    }
    if waiting.isEmpty { return .now(ready) }
    let (store, first, rest) = (store, ready, waiting)
    return .later(
      try work(.read, for: sender) {
        let result = Result {
          let items = ItemChanges(try store.keyring())
          var secrets = first
          for (path, address) in rest {
            do {
              let (secret, type) = try items.secret(of: address)
              secrets.append(
                ItemSecret(
                  item: path, secret: try cipher.encrypt(secret, contentType: type, session: session)))
            } catch let error as SecretServiceError where error.kind == .noSuchObject {
              // Another process has removed it since.
              continue
            }
          }
          return secrets
        }
        return (result, .none)
      })
  }

  // MARK: Properties

  /// The properties of an item.
  ///
  /// - Throws: `noSuchObject`, `failed`.
  package func properties(of item: ItemAddress) throws -> ItemProperties {
    if item.collection == .session {
      guard let found = memory[item.id] else { throw SecretServiceError.noSuchItem }
      return ItemProperties(
        label: found.label, attributes: found.attributes, isLocked: false, created: found.created,
        modified: found.modified)
    }
    let record = try record(item)
    return ItemProperties(
      label: record.serviceLabel, attributes: record.serviceAttributes, isLocked: isLocked(item.collection),
      created: record.created.seconds, modified: record.modified.seconds)
  }

  /// Sets the property `Label` of an item.
  ///
  /// - Throws: `invalidArguments`, `isLocked`, `noSuchObject`, `limitsExceeded`, `failed`.
  package func setLabel(
    _ label: String, of item: ItemAddress, for sender: Sender
  ) throws -> Answer<Void> {
    try Self.check(label: label)
    if item.collection == .session { return .now(try changeInMemory(item.id) { $0.label = label }) }
    try checkUnlocked(item)
    return .later(
      try change(for: sender) {
        try $0.setLabel(label, of: item)
      } value: { _ in
      })
  }

  /// Sets the property `Attributes` of an item.
  ///
  /// - Throws: `invalidArguments`, `notSupported`, `isLocked`, `noSuchObject`, `limitsExceeded`, `failed`.
  package func setAttributes(
    _ attributes: ServiceAttributes, of item: ItemAddress, for sender: Sender
  ) throws -> Answer<Void> {
    try Self.check(attributes)
    if item.collection == .session { return .now(try changeInMemory(item.id) { $0.attributes = attributes }) }
    try checkUnlocked(item)
    return .later(
      try change(for: sender) {
        try $0.setAttributes(attributes, of: item)
      } value: { _ in
      })
  }

  // MARK: Checks

  /// Checks that an item exists and is not locked.
  private func checkUnlocked(_ item: ItemAddress) throws {
    guard case .item? = try storedObject(at: ObjectPath(item)) else { throw SecretServiceError.noSuchItem }
    guard !isLocked(item.collection) else { throw SecretServiceError.isLocked }
  }

  private func content(
    _ properties: NewItemProperties, _ secret: WireSecret, for sender: Sender
  ) throws -> ItemContent {
    var attributes = properties.attributes
    if let type = properties.type, attributes[ItemForm.schema] == nil { attributes[ItemForm.schema] = type }
    try Self.check(attributes)
    try Self.check(label: properties.label)
    let value = try senders.cipher(of: secret.session, for: sender).decrypt(secret)
    return ItemContent(
      label: properties.label, attributes: attributes, secret: value,
      contentType: try Self.contentType(of: secret),
      isLocal: attributes[ItemForm.schema].map(local.isLocal(schema:)) ?? false)
  }

  private static func check(_ attributes: ServiceAttributes) throws {
    guard attributes.count <= ItemForm.maximumCount, attributes.pairs.allSatisfy(ItemForm.canHave) else {
      throw SecretServiceError(
        .invalidArguments,
        "An item has at most 56 attributes, with names of 1 to 125 bytes without control characters "
          + "and values of at most 4096 bytes.")
    }
    guard attributes[ItemForm.schema] != ItemForm.passphraseSchema else {
      throw SecretServiceError(.notSupported, "Passphrases of keys are not stored.")
    }
  }

  private static func check(label: String) throws {
    guard label.utf8.count <= ItemForm.maximumValueSize else {
      throw SecretServiceError(.invalidArguments, "The label is too long.")
    }
  }

  private static func contentType(of secret: WireSecret) throws -> String {
    guard secret.contentType.utf8.count <= ItemForm.maximumValueSize else {
      throw SecretServiceError(.invalidArguments, "The content type is too long.")
    }
    return secret.contentType.isEmpty ? ItemForm.defaultContentType : secret.contentType
  }

  // MARK: Changes

  /// Creates work that changes an item of the store.
  private func change<Value>(
    for sender: Sender, _ body: @escaping @Sendable (ItemChanges) throws -> ItemChange,
    value: @escaping @Sendable (ItemChange) -> Value
  ) throws -> Work<Value> {
    let (store, options) = (store, options)
    return try work(.write, for: sender) {
      do {
        let change = try store.change { keyring in
          let change = try body(ItemChanges(keyring))
          if case .unchanged = change { return change }
          options.storeWasChanged(keyring)
          return change
        }
        return (.success(value(change)), .item(change))
      } catch {
        return (.failure(error), .none)
      }
    }
  }

  private func createInMemory(_ content: ItemContent, replace: Bool) throws -> ItemID {
    if replace,
      let old = memory.items(with: content.attributes).first(where: { $0.attributes == content.attributes })
    {
      let isSame =
        old.label.hasSameBytes(as: content.label) && old.contentType.hasSameBytes(as: content.contentType)
        && old.secret.isEqual(to: content.secret)
      if isSame { return old.id }
      try changeInMemory(old.id) { item in
        (item.label, item.secret, item.contentType) = (content.label, content.secret, content.contentType)
      }
      return old.id
    }
    let item = try memory.add(content, at: options.date())
    let path = ObjectPath(ItemAddress(.session, item.id))
    events.add(.itemCreated(path, collection: ObjectPath(.session)))
    queueItems(of: .session)
    queueModified(.session)
    return item.id
  }

  private func changeInMemory(_ id: ItemID, _ body: (inout MemoryItems.Item) -> Void) throws {
    let item = try memory.change(id, at: options.date(), body)
    queueChange(
      of: ItemAddress(.session, id), label: item.label, item.attributes, modified: item.modified)
    queueModified(.session)
  }
}
