internal import Keyring
internal import KeyringModel
internal import Secrets

/// A new secret that somebody was told, and that is not the item's yet: an item of this machine alone, sealed like the
/// one it is for, so that a terminal that goes away loses neither the old secret nor the new one.
struct PendingSecret {
  /// The service of such items.
  static let service = "keytree-rotation"
  /// The attribute with the revision that the new secret takes the place of.
  private static let replaces: AttributeName = "replaces"

  /// The item that keeps it.
  let record: ItemRecord
  /// The item that it is for.
  let item: ItemID
  /// The state of that item's secret when this one was made.
  let replaced: Revision

  private init?(_ record: ItemRecord) {
    guard record.isLocal, case .string(let digits) = record.attributes[.account],
      let item = ItemID(hex: digits),
      case .string(let state) = record.attributes[Self.replaces], let replaced = Revision(hex: state)
    else { return nil }
    (self.record, self.item, self.replaced) = (record, item, replaced)
  }

  /// All of them, the first one first.
  ///
  /// - Throws: `KeyringError`.
  static func all(in index: Index) throws -> [PendingSecret] {
    let query = Query(
      itemClass: .genericPassword, predicates: [.equal(.service, .string(service))])
    return try index.find(query).items.compactMap(PendingSecret.init)
  }

  /// Keeps a new secret for an item.
  ///
  /// - Throws: as `Keyring.add`.
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
    guard let pending = PendingSecret(kept) else { preconditionFailure("it has what was put into it") }
    return pending
  }
}
