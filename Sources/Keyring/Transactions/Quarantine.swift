internal import KeyringModel

/// Where things go that nobody asked to delete: a folder in `.keytree` named after the time.
enum Quarantine {
  /// A new folder's path, such as `.keytree/quarantine-20261120T183209123456Z`.
  static func newFolder(at time: Timestamp) -> String {
    let digits = time.rfc3339.filter { $0 != "-" && $0 != ":" && $0 != "." }
    return "\(StoreLayout.work)/\(StoreLayout.quarantinePrefix)\(digits)"
  }
}
