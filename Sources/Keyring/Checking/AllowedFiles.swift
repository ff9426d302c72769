package import KeyringModel

/// The set of files that the history of a store may contain: those that belong to a store, and those that its policy
/// allows (threat T45). `sync`, `clone` and `verify` all use it.
package struct AllowedFiles: Sendable {
  private let files: Set<String>
  /// Folders below which everything is allowed, each with `/` at its end.
  private let folders: [String]

  /// Creates the set for one policy.
  ///
  /// - Parameter policy: The policy; nil if no policy is trusted. Then only files of a store are allowed.
  package init(beside policy: Policy?) { self.init(beside: policy.map { [$0] } ?? []) }

  /// Creates the set for several policies. A file is allowed if any of them allows it.
  package init(beside policies: [Policy]) {
    let names = policies.reduce(into: Set()) { $0.formUnion($1.files) }
    files = names.filter { !$0.hasSuffix("/") }
    folders = names.filter { $0.hasSuffix("/") }
  }

  /// Returns the reason why an entry of a tree must not be in the history.
  ///
  /// - Parameters:
  ///   - path: The path in the store; nil if it is not UTF-8.
  ///   - mode: The mode of the entry in git, such as `100644`.
  /// - Returns: The reason; nil if the file is allowed.
  package func reason(_ path: String?, mode: String) -> StrayReason? {
    switch mode {
    case "100644", "100664", "100755": break
    case "120000": return .link
    case "160000": return .repository
    default: return .special
    }
    guard let path, AllowedName.isSafePath(path) else { return .name }
    if mode == "100755" { return .executable }
    if StoreLayout.isStoreFile(path) { return nil }
    if StoreName.isOwn(path) { return .own }
    if StoreName.isReserved(path) { return .name }
    return files.contains(path) || folders.contains(where: path.hasPrefix) ? nil : .notAllowed
  }

  /// Returns true if a name at the top of a store is an allowed file, or a folder with allowed files below it.
  func hasTop(_ name: String) -> Bool {
    files.contains(name) || files.union(folders).contains { $0.hasPrefix("\(name)/") }
  }

  /// Returns the folder to refuse instead of a folder with too many files: the one around it that has no place for other
  /// files: directly in an allowed folder, in a folder of items, or at the top.
  ///
  /// - Parameter path: The path of the folder in the store.
  package func strayFolder(of path: String) -> String {
    let parts = path.split(separator: "/")
    guard let top = parts.first.map(String.init) else { return path }
    let allowed = folders.filter { "\(path)/".hasPrefix($0) }.map { $0.split(separator: "/").count }.max()
    if let allowed { return parts.prefix(allowed + 1).joined(separator: "/") }
    if hasTop(top) { return path }
    // `items/CLASS/FOLDER`; the other folders have no folders below them.
    let depth = top == StoreLayout.items ? 3 : StoreLayout.trackedFolders.contains(top) ? 2 : 1
    return parts.prefix(depth).joined(separator: "/")
  }
}
