package import KeyringModel
internal import Secrets

/// The plan of an import of a password store, as far as the names of its files show it. Nothing is decrypted.
///
/// An entry that the store of Keytree has under the same path, or whose name an item has, counts as already there. Only
/// decryption shows whether its secret has changed, the account that its lines name, and its fields.
package struct PassForecast {
  /// The entries, and everything else in the password store. The entries have their paths instead of secrets, so that no
  /// two are the same.
  package private(set) var draft: ImportDraft
  /// The items of the store, by their paths in the password store.
  private let known: [[UInt8]: PrimaryKey]

  /// Creates a forecast without entries.
  ///
  /// - Parameters:
  ///   - listing: the contents of the password store.
  ///   - items: the items of the group of the import.
  package init(_ listing: PassListing, besides items: [ItemRecord]) {
    draft = listing.draft
    known = Dictionary(
      items.compactMap { item in
        item.attributes[.passPath]?.contentBytes.map { (path: $0, key: item.primaryKey) }
      }
    ) { first, _ in first }
  }

  /// Adds an entry that can be decrypted.
  package mutating func add(_ entry: PassEntry) {
    if let key = known[entry.path] {
      draft.findings.append(
        ImportReport.Entry(source: entry.source, part: .secret, outcome: .alreadyThere, item: key))
    } else {
      let path = SecretSlice(SecretBytes(copying: entry.path))
      var item = PassImport.place(entry, secret: path, login: nil)
      // An item that has the name counts as already there, whatever else it has.
      let key = AttributeSchema.primaryKey(of: item.itemClass)
      for name in item.attributes.names where !key.contains(name) { item.attributes[name] = nil }
      draft.add(PlannedLogin(item))
    }
  }

  /// Adds an entry that cannot be decrypted.
  ///
  /// - Parameters:
  ///   - entry: its location.
  ///   - reason: the reason, for the report.
  package mutating func add(_ entry: PassEntry, unreadable reason: String) {
    draft.append(PassImport.unreadable(entry, reason: reason))
  }
}
