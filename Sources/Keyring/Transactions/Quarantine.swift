internal import KeyringModel

/// The folders in `.keytree` that hold quarantined files, each named after a time.
enum Quarantine {
  /// Returns the path of a new folder, such as `.keytree/quarantine-20261120T183209123456Z`.
  static func newFolder(at time: Timestamp) -> String {
    let digits = time.rfc3339.filter { $0 != "-" && $0 != ":" && $0 != "." }
    return "\(StoreLayout.work)/\(StoreLayout.quarantinePrefix)\(digits)"
  }
}
