internal import Keyring
internal import KeyringModel
internal import Secrets

/// A new secret that was shown to the user but is not yet the secret of its item. It is stored as a local item of the
/// same group, so that neither the old nor the new secret is lost if the terminal is closed.
struct PendingSecret {
  /// The service of the local items that store pending secrets.
  static let service = "keytree-rotation"
  /// The attribute with the revision that the new secret replaces.
  private static let replaces: AttributeName = "replaces"

  /// The local item that stores the new secret.
  let record: ItemRecord
  /// The id of the item that will get the new secret.
  let item: ItemID
  /// The revision of that item's secret when the new secret was created.
  let replaced: Revision

  private init?(_ record: ItemRecord) {
    guard record.isLocal, case .string(let digits) = record.attributes[.account],
      let item = ItemID(hex: digits),
      case .string(let state) = record.attributes[Self.replaces], let replaced = Revision(hex: state)
    else { return nil }
    (self.record, self.item, self.replaced) = (record, item, replaced)
  }

  /// Returns all pending secrets, the oldest first.
  ///
  /// - Throws: `KeyringError`.
  static func all(in index: Index) throws -> [PendingSecret] {
    let query = Query(
      itemClass: .genericPassword, predicates: [.equal(.service, .string(service))])
    return try index.find(query).items.compactMap(PendingSecret.init)
  }

  /// Stores a new secret for an item as a pending secret.
  ///
  /// - Throws: the errors of `Keyring.add`.
  static func keep(
    _ secret: borrowing SecretBytes, for record: ItemRecord, in keyring: Keyring
  ) throws -> PendingSecret {
    let item = NewItem(
      itemClass: .genericPassword,
      attributes: [
        .service: .string(service), .account: .string(record.id.hex), .label: .string(record.reference.text),
        replaces: .string(record.revision.hex),
      ], group: record.group, isLocal: true)
    let kept = try keyring.add(item, secret: secret)
    guard let pending = PendingSecret(kept) else {
      preconditionFailure("the item has the attributes of a pending secret")
    }
    return pending
  }
}
