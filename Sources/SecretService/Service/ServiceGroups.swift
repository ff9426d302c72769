internal import Encoding
internal import Keyring
internal import KeyringModel
internal import OpenPGP

// Creating and deleting collections changes the groups of the keyring, so only admins can do it, after a question to the
// user.
extension SecretService {
  // MARK: Creating

  /// `CreateCollection`.
  ///
  /// - Parameters:
  ///   - label: The property `Label`; nil if it was not given.
  ///   - alias: The alias, or the empty string.
  ///   - sender: The caller.
  /// - Returns: The collection that the alias already names, or a prompt.
  /// - Throws: `invalidArguments`, `notSupported`, `limitsExceeded`, `failed`.
  package func createCollection(
    label: String?, alias: String, for sender: Sender
  ) throws -> (collection: ObjectPath, prompt: ObjectPath) {
    if !alias.isEmpty {
      if let existing = try collection(ofAlias: alias) {
        if let label { try setLocalLabel(label, of: existing) }
        return (ObjectPath(existing), .none)
      }
      try Self.checkAlias(alias)
    }
    guard (label ?? "").utf8.count <= ItemForm.maximumValueSize else {
      throw SecretServiceError(.invalidArguments, "The label is too long.")
    }
    let keyring = try keyring()
    try Self.requireAdmin(keyring)
    let group = Self.groupName(for: label ?? alias, besides: Set(keyring.policy.groups.keys))
    return (.none, try add(.createGroup(group, label: label ?? "", alias: alias), for: sender))
  }

  private static func requireAdmin(_ keyring: Keyring) throws {
    guard keyring.distrust == nil, keyring.policy.admins.contains(keyring.ownFingerprint) else {
      throw SecretServiceError(
        .notSupported, "Only an admin of the keyring can create and delete collections.")
    }
  }

  /// Returns the name of a new group for a label.
  static func groupName(for label: String, besides taken: Set<String>) -> String {
    var name = ""
    for byte in label.utf8 {
      let character = String(UnicodeScalar(byte))
      // The first character of a name is a letter or digit.
      if GroupName.isValid(name + character) {
        name += character
      } else if !name.isEmpty, !name.hasSuffix("-") {
        name += "-"
      }
    }
    name = String(name.prefix(GroupName.maximumSize - 8))
    while name.hasSuffix("-") { name.removeLast() }
    if name.isEmpty { name = "collection" }
    var result = name
    var number = 1
    while taken.contains(result) {
      number += 1
      result = "\(name)-\(number)"
    }
    return result
  }

  func startCreation(_ id: PromptID, of group: String, for sender: Sender) throws -> Work<Void> {
    let (store, options) = (store, options)
    return try question(
      id, "Create the group \"\(group)\" in Keytree, with you as its only member?", for: sender
    ) { _ in
      try store.change { keyring in
        guard keyring.policy.groups[group] == nil else {
          throw SecretServiceError(.failed, "The group was created by another program.")
        }
        try options.commitPending()
        let changed = try keyring.make(
          try keyring.plan([.create(group: group), .join(keyring.ownFingerprint, group: group)]),
          subject: "create group \(group)")
        options.storeWasChanged(changed)
      }
    } effect: { isDone in
      .createdGroup(id, group: isDone ? group : nil)
    }
  }

  func finishCreation(_ id: PromptID, _ group: String?) {
    guard let prompt = prompts[id], case .createGroup(_, let label, let alias) = prompt.action else { return }
    guard let group else { return complete(id, isDismissed: true, prompt.emptyResult) }
    let collection = CollectionID.group(group)
    do {
      _ = try keyring()
      if !alias.isEmpty { try set(alias, to: collection) }
      if !label.isEmpty { try setLocalLabel(label, of: collection) }
    } catch {
      // The collection exists.
      options.report(error)
    }
    complete(id, isDismissed: false, .path(ObjectPath(collection)))
  }

  // MARK: Deleting

  /// `Collection.Delete`.
  ///
  /// - Returns: A prompt.
  /// - Throws: `noSuchObject`, `isLocked`, `notSupported` for the collections `default` and `session`, for a group with
  ///   other members or with items that the service does not serve, and if the user is not an admin; `limitsExceeded`,
  ///   `failed`.
  package func delete(_ collection: CollectionID, for sender: Sender) throws -> ObjectPath {
    guard try exists(collection) else { throw SecretServiceError.noSuchCollection }
    guard case .group(let group) = collection, group != GroupName.default else {
      throw SecretServiceError(.notSupported, "This collection cannot be deleted.")
    }
    let keyring = try keyring()
    try Self.requireAdmin(keyring)
    guard !isLocked(collection) else { throw SecretServiceError.isLocked }
    _ = try Self.deletableItems(of: group, in: keyring)
    return try add(.deleteGroup(group), for: sender)
  }

  /// Returns the items of a group that can be deleted with it.
  private static func deletableItems(of group: String, in keyring: Keyring) throws -> [ItemRecord] {
    guard keyring.policy.groups[group] == [keyring.ownFingerprint] else {
      throw SecretServiceError(.notSupported, "The group has other members.")
    }
    var query = Query(predicates: [.equal(.group, .string(group))])
    query.includesFields = true
    let matches: Matches
    do {
      matches = try keyring.find(query)
    } catch {
      throw SecretServiceError(reporting: error)
    }
    guard matches.problems.isEmpty, !matches.isIndexLost else {
      throw SecretServiceError(.failed, "The index of the store is damaged.")
    }
    guard matches.items.allSatisfy(\.isServed) else {
      throw SecretServiceError(.notSupported, "The group has items that are not secrets of programs.")
    }
    return matches.items
  }

  func startDeletion(_ id: PromptID, of group: String, for sender: Sender) throws -> Work<Void> {
    let (store, agent, options) = (store, agent, options)
    let items = try Self.deletableItems(of: group, in: try keyring())
    let count = items.count
    let words = count == 1 ? "its item" : "its \(count) items"
    return try question(
      id,
      count == 0
        ? "Delete the group \"\(group)\" in Keytree?"
        : "Delete the group \"\(group)\" in Keytree with \(words)?",
      for: sender
    ) { cancellation in
      // The policy is signed after the items are gone, so the passphrases are asked for first.
      try agent.roundTrip(cancellation)
      try store.change { keyring in
        let current = try Self.deletableItems(of: group, in: keyring)
        // The user has agreed to delete these items only.
        guard Set(current.map(\.id)).isSubset(of: items.map(\.id)) else {
          throw SecretServiceError(.failed, "Items were added to the group.")
        }
        try keyring.delete(current)
        options.storeWasChanged(keyring)
        try options.commitPending()
        let changed = try keyring.make(
          try keyring.plan([.delete(group: group)]), subject: "delete group \(group)")
        options.storeWasChanged(changed)
      }
    } effect: { isDone in
      .deletedGroup(id, isDeleted: isDone)
    }
  }

  func finishDeletion(_ id: PromptID, isDeleted: Bool) {
    if isDeleted {
      // If the store cannot be opened now, the next call reports it.
      _ = try? keyring()
      if case .deleteGroup(let group)? = prompts[id]?.action {
        do {
          try forgetLocalState(of: .group(group))
        } catch {
          // The collection is gone.
          options.report(error)
        }
      }
    }
    complete(id, isDismissed: !isDeleted, .nothing)
  }

  // MARK: Questions

  /// Creates work that asks the user a question, and then makes a change.
  private func question(
    _ id: PromptID, _ text: String, for sender: Sender,
    _ change: @escaping @Sendable (Cancellation) throws -> Void,
    effect: @escaping @Sendable (_ isDone: Bool) -> WorkEffect
  ) throws -> Work<Void> {
    let cancellation = Cancellation()
    let (agent, options) = (agent, options)
    let work: Work<Void> = try work(.agent, for: sender) {
      do {
        guard try agent.confirm(text, cancellation), !cancellation.isCancelled else {
          return (.success(()), effect(false))
        }
        try change(cancellation)
        return (.success(()), effect(true))
      } catch {
        if !error.isCancelled { options.report(error) }
        return (.success(()), effect(false))
      }
    }
    prompts[id]?.cancellation = cancellation
    return work
  }
}
