internal import Arguments
internal import Keyring
internal import KeyringModel
internal import Secrets

/// The way of a new secret into the store, shared by `add` and `generate`.
///
/// Everything that can be known to fail is looked at before a person is asked for the secret, or a pipe is
/// read: the store, its policy, the attributes, the group, and whether the item exists. The library looks
/// again under its lock.
struct NewItemStorage {
  private let call: CommandCall
  private let keyring: Keyring
  private let item: NewItem
  private let existing: ItemRecord?

  /// Looks whether the item can be stored.
  ///
  /// - Parameters:
  ///   - call: names the item and its attributes.
  ///   - mayReplace: true when an item that exists gets the secret.
  ///   - isLocal: true for an item that stays on this machine.
  ///   - attribute: one more attribute, which the command gives.
  /// - Throws: a usage error, or `keyring` with the reason why nothing can be stored.
  init(
    _ call: CommandCall, mayReplace: Bool, isLocal: Bool,
    with attribute: (name: AttributeName, text: String)? = nil
  ) throws(Failure) {
    self.call = call
    let draft = try call.draft(0, with: attribute)
    // An item needs something to be found by; `-rf` is no name, but a protocol called `f`.
    let names = draft.itemClass.containerNames + [draft.itemClass.accountName]
    guard names.contains(where: { draft.attributes[$0] != nil }) else {
      throw call.misuse(.missingOperand("ITEM"))
    }
    let item = NewItem(
      itemClass: draft.itemClass, attributes: draft.attributes, group: draft.group ?? GroupName.default,
      isLocal: isLocal)
    let path = try keyringCall(item.path())
    let keyring = try call.openKeyring()
    try call.requireWritable(keyring, group: item.group)
    existing = try call.find(path, in: keyring.index)
    if existing != nil, !mayReplace { throw .keyring(.itemExists(.path(path))) }
    // The secret would go where git carries it to other machines, against what was said.
    if isLocal, existing?.isLocal == false {
      throw .other(
        .alreadyExists,
        message: "cannot keep \(ErrorReport.show(path.text)) on this machine alone: the store has it already",
        hint: "remove it first, or leave out `--local`")
    }
    self.item = item
    self.keyring = keyring
    // The person types, or the pipe is read, meanwhile.
    keyring.warmUp()
  }

  /// What messages call the item, escaped.
  var name: String {
    let path = try? item.path()  // It had one when the item was looked at.
    return ErrorReport.show(path?.text ?? "")
  }

  /// Stores the secret and says so.
  ///
  /// - Parameters:
  ///   - secret: the bytes.
  ///   - label: the label of an item that has none, where it is known only now.
  /// - Throws: `keyring` with the reason why it is not stored.
  func store(_ secret: borrowing SecretBytes, label: String? = nil) throws(Failure) {
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

  // A closure cannot borrow the secret, so `keyringCall` is of no use here.
  private func add(_ item: NewItem, _ secret: borrowing SecretBytes) throws(Failure) -> ItemRecord {
    do {
      return try keyring.add(item, secret: secret)
    } catch {
      throw .keyring(error)
    }
  }

  private func update(
    _ record: ItemRecord, _ changes: AttributeChanges, _ secret: borrowing SecretBytes
  ) throws(Failure) -> ItemRecord {
    do {
      return try keyring.update(record, changes, secret: secret)
    } catch {
      throw .keyring(error)
    }
  }
}

extension CommandCall {
  /// Refuses early what writing would refuse late: a policy that is not the accepted one, an unknown group.
  func requireWritable(_ keyring: Keyring, group: String? = nil) throws(Failure) {
    if let distrust = keyring.distrust { throw .keyring(.policyNotTrusted(distrust)) }
    let me = keyring.ownFingerprint
    if let removed = keyring.policy.people[me]?.removed { throw .keyring(.team(.removed(removed))) }
    guard let group else { return }
    guard let members = keyring.policy.groups[group] else { throw .keyring(.unknownGroup(group)) }
    if !members.contains(me) { throw .keyring(.team(.notInGroup(group))) }
  }

  /// The item at a path, if there is one.
  func find(_ path: ItemPath, in index: Index) throws(Failure) -> ItemRecord? {
    let matches = try keyringCall(index.find(Query(predicates: [.path(path)], limit: .one)))
    explain(matches.statistics)
    return matches.items.first
  }

  /// Says what became of an item: as data with `--json`, as talk in any case.
  ///
  /// - Parameters:
  ///   - action: the beginning of the sentence.
  ///   - record: the item as it is now.
  func report(_ action: String, _ record: ItemRecord) {
    if globals.json { console.write(RecordMembers.of(record)) }
    console.say("\(action) \(ErrorReport.show(record.reference.text)).")
  }
}
