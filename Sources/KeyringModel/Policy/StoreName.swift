/// The names at the top of a store that belong to the store itself.
package enum StoreName {
  package static let policy = "policy.json"
  package static let policySignature = "policy.json.asc"
  package static let gitAttributes = ".gitattributes"
  package static let gitIgnore = ".gitignore"
  package static let keys = "keys"
  package static let items = "items"
  package static let index = "index"
  package static let conflicts = "conflicts"
  package static let local = "local"
  package static let work = ".keytree"

  /// The files whose history is kept.
  package static let trackedFiles = [policy, policySignature, gitAttributes, gitIgnore]
  /// The folders whose history is kept.
  package static let trackedFolders = [conflicts, index, items, keys]
  /// The folders that stay on each machine.
  package static let ownFolders = [local, work]

  private static let own = Set(ownFolders)
  private static let reserved = Set(trackedFiles + trackedFolders + ownFolders)

  /// Returns true if a path is, or is below, a folder that stays on each machine.
  ///
  /// - Parameter path: A path in the store, on any file system.
  package static func isOwn(_ path: String) -> Bool { own.contains(top(path)) }

  /// Returns true if a path is, or is below, a name of the store itself.
  ///
  /// - Parameter path: A path in the store, on any file system.
  package static func isReserved(_ path: String) -> Bool { reserved.contains(top(path)) }

  private static func top(_ path: String) -> String { AllowedName.folded(path.prefix { $0 != "/" }) }
}
