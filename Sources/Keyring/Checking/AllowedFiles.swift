package import KeyringModel

/// Which files may be in the history of a store: those that belong to a store, and those that its policy allows
/// (threat T45). `sync`, `clone` and `verify` all ask this one.
package struct AllowedFiles: Sendable {
  private let files: Set<String>
  /// Folders below which everything is allowed, each with `/` at its end.
  private let folders: [String]

  /// The files of a store and those beside it that a policy allows.
  ///
  /// - Parameter policy: The policy; nil where none is believed, and only files of a store are allowed.
  package init(beside policy: Policy?) { self.init(beside: policy.map { [$0] } ?? []) }

  /// The files of a store and those beside it that one of some policies allows.
  package init(beside policies: [Policy]) {
    let names = policies.reduce(into: Set()) { $0.formUnion($1.files) }
    files = names.filter { !$0.hasSuffix("/") }
    folders = names.filter { $0.hasSuffix("/") }
  }

  /// Why an entry of a tree may not be in the history.
  ///
  /// - Parameters:
  ///   - path: The path in the store; nil for one that is not UTF-8.
  ///   - mode: What git says it is, such as `100644`.
  /// - Returns: nil for a file that may be there.
  package func reason(_ path: String?, mode: String) -> StrayReason? {
    switch mode {
    case "100644", "100664": break
    case "100755": return .executable
    case "120000": return .link
    case "160000": return .repository
    default: return .special
    }
    guard let path, AllowedName.isSafePath(path) else { return .name }
    if StoreLayout.isStoreFile(path) { return nil }
    let top = path.prefix { $0 != "/" }.lowercased()
    if [StoreLayout.work, StoreLayout.local].contains(top) { return .own }
    if Self.namesOfStore.contains(top) { return .name }
    return files.contains(path) || folders.contains(where: path.hasPrefix) ? nil : .notAllowed
  }

  /// Whether a name at the top of a store is that of an allowed file, or of a folder with allowed files below it.
  func hasTop(_ name: String) -> Bool {
    files.contains(name) || files.union(folders).contains { $0.hasPrefix("\(name)/") }
  }

  /// Whether a policy can allow a name, and the name does not belong to the store itself.
  ///
  /// - Parameter name: A file, or a folder with `/` at its end.
  package static func canAllow(_ name: String) -> Bool {
    let top = name.prefix { $0 != "/" }.lowercased()
    return AllowedName.isValid(name) && !namesOfStore.contains(top)
      && ![StoreLayout.work, StoreLayout.local].contains(top)
  }

  /// The names at the top of a store, in lower case: some file systems do not tell `Items` from `items`.
  private static let namesOfStore = Set(StoreLayout.trackedFiles + StoreLayout.trackedFolders)
}
