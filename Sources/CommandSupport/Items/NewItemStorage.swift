internal import Arguments
package import Keyring
package import KeyringModel
package import Secrets
internal import Terminal

/// The storage of a new secret, for `add` and `generate`.
///
/// Before the prompt for the secret or the first read of a pipe, it checks the store, its policy, the attributes, the
/// group and that the item does not exist, neither in its group nor, if no group was given, in another one. The library
/// checks all but the last again under its lock.
package struct NewItemStorage {
  private let call: CommandCall
  private let keyring: Keyring
  private let item: NewItem
  private let existing: ItemRecord?

  /// Checks that the item can be stored.
  ///
  /// - Parameters:
  ///   - call: the command line with the item and its attributes.
  ///   - mayReplace: true if the secret of an existing item may be replaced.
  ///   - isLocal: true for an item that stays on this machine.
  ///   - field: the field to store; nil for the one of the command line, if any.
  /// - Throws: a usage error, or `KeyringError` with the reason why the item cannot be stored.
  package init(
    _ call: CommandCall, mayReplace: Bool, isLocal: Bool, field: String? = nil
  ) throws {
    self.call = call
    var given = try call.givenAttributes()
    if let field { given.field = field }
    let name = try call.itemName(0)
    let ofField = given.field == nil ? nil : try NewField(call, name, given)
    // Usage errors can be reported without a store.
    let draft = ofField?.needsLogin == true ? nil : try call.newItemDraft(name, given)
    let keyring = try call.openKeyring()
    let login = try ofField?.login(in: keyring.index)
    let place = try login.map { login in try call.draft(fieldOf: login.item, given) } ?? draft
    guard let place else { throw CommandError.noMatch(call.nameForMessages(0)) }
    let item = NewItem(
      place.checked, group: place.group ?? GroupName.default,
      // The fields of an item that stays on this machine stay here as well.
      isLocal: isLocal || login?.item.isLocal == true)
    let path = try item.path()
    existing =
      try call.find(path, in: keyring.index)
      // The same field, if it exists in another group.
      ?? login?.fields.first { $0.field == given.field }
    // A field is in the group of its login, unless another group was given.
    if given.group == nil, login == nil {
      try call.refuseOtherGroups(item, existing: existing, mayReplace: mayReplace, in: keyring)
    }
    try call.requireWritable(keyring, group: existing?.group ?? item.group)
    if let existing, !mayReplace { throw call.exists(existing) }
    // Otherwise git would transfer the secret to other machines, despite `--local`.
    if isLocal, existing?.isLocal == false {
      throw CommandError.other(
        .alreadyExists,
        message: "cannot keep \(item.name) only on this machine: it is already in the store",
        hint: "remove it first, or omit `--local`")
    }
    self.item = item
    self.keyring = keyring
    // The engine starts while the user types or the pipe is read.
    keyring.warmUp()
  }

  /// The name of the item for messages, escaped.
  package var name: String {
    existing.map { call.name(of: $0) } ?? item.name
  }

  /// Stores the secret and reports it.
  ///
  /// - Parameters:
  ///   - secret: the bytes.
  ///   - label: the label for an item without one, if it becomes known only now.
  /// - Throws: `KeyringError` with the reason why it is not stored.
  package func store(_ secret: borrowing SecretBytes, label: String? = nil) throws {
    defer { call.explain(keyring.engineStatistics) }
    var item = item
    if let label, item.attributes[.label] == nil, existing?.attributes[.label] == nil {
      item.attributes[.label] = .string(label)
    }
    if let existing {
      let changes = AttributeChanges(set: item.attributes)
      call.report("Replaced the secret of", try update(existing, changes, secret))
    } else {
      call.report("Added", try add(item, secret))
    }
  }

  private func add(_ item: NewItem, _ secret: borrowing SecretBytes) throws -> ItemRecord {
    try keyring.add(item, secret: secret)
  }

  private func update(
    _ record: ItemRecord, _ changes: AttributeChanges, _ secret: borrowing SecretBytes
  ) throws -> ItemRecord {
    try keyring.update(record, changes, secret: secret)
  }
}

/// The login that a new field belongs to: the item with the name, if it exists.
private struct NewField {
  private let call: CommandCall
  private let selection: ItemSelection
  private let group: String?
  /// True if the name is a reference or an id, which cannot describe an item that does not exist.
  let needsLogin: Bool

  /// Creates the search for the login from a name and attributes.
  ///
  /// - Throws: a usage error.
  init(_ call: CommandCall, _ name: ItemName?, _ given: GivenAttributes) throws {
    self.call = call
    selection = try call.selection(name, of: given.place)
    group = given.group
    needsLogin = name?.isByIdentity == true
  }

  /// Returns the login, or nil if no item has the name.
  ///
  /// - Throws: `ambiguous`, also if items of several groups have the name and no group is given.
  func login(in index: Index) throws -> Login? {
    let name = call.nameForMessages(0)
    let matches = try call.find(selection, in: index)
    guard matches.problems.isEmpty else { throw CommandError.noMatchButDamage(name) }
    let places = Set(matches.items.map(\.loginPlace))
    let inGroup = matches.items.filter { $0.group == group }
    guard let item = inGroup.first ?? matches.items.first else { return nil }
    guard places.count == 1, matches.items.count == 1 || !inGroup.isEmpty else {
      throw CommandError.ambiguous(name, candidates: call.names(of: matches.items))
    }
    if item.field != nil { throw call.misuse(.other("a field cannot have fields")) }
    return try call.login(of: item, in: index)
  }
}

extension CommandCall {
  /// Returns the draft for a name and attributes, which must include a container or an account: `-rf` is not a name,
  /// but a protocol called `f`.
  ///
  /// - Throws: a usage error, or `KeyringError` for an attribute that the class cannot have.
  fileprivate func newItemDraft(_ name: ItemName?, _ given: GivenAttributes) throws -> ItemDraft {
    let draft = try draft(name, given)
    let names = draft.itemClass.containerNames + [draft.itemClass.accountName]
    guard names.contains(where: { draft.attributes[$0] != nil }) else {
      throw misuse(.missingOperand("ITEM"))
    }
    return draft
  }

  /// Returns the error for a new item whose name an item has. The hint is the command that replaces its secret.
  fileprivate func exists(_ item: ItemRecord) -> CommandError {
    let (name, command) = (spokenName(of: item), path.map(\.name).joined(separator: " "))
    return .other(
      .alreadyExists, message: "cannot store \(name.text): it already exists",
      hint: "`keytree \(command) --update \(name.commandLine)` replaces its secret; or choose another name")
  }

  /// Throws the errors that writing would throw later: a policy that is not trusted, an unknown group, or a user who
  /// is not a member.
  package func requireWritable(_ keyring: Keyring, group: String? = nil) throws {
    if let distrust = keyring.distrust { throw KeyringError.policyNotTrusted(distrust) }
    let me = keyring.ownFingerprint
    if let removed = keyring.policy.people[me]?.removed { throw KeyringError.team(.removed(removed)) }
    if let group { _ = try keyring.signer(for: [group]) }
  }

  /// Returns the item at a path, if it exists.
  package func find(_ path: ItemPath, in index: Index) throws -> ItemRecord? {
    let matches = try index.find(Query(predicates: [.path(path)], limit: .one))
    explain(matches.statistics)
    return matches.items.first
  }

  /// Reports the result for an item: as data with `--json`, and always as diagnostics.
  ///
  /// - Parameters:
  ///   - action: the beginning of the sentence.
  ///   - record: the item after the change.
  ///   - isStored: false if the item was removed.
  package func report(_ action: String, _ record: ItemRecord, isStored: Bool = true) {
    if globals.json { console.write(RecordMembers.of(record)) }
    console.say("\(action) \(name(of: record)).")
    if isStored { warnOfFutureDate(of: record) }
  }
}
