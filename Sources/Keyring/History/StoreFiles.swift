/// The files of a store that are committed.
package struct StoreFiles {
  /// The maximum size of a committed file in bytes.
  package static let sizeLimit = max(StoreLayout.shardLimit, StoreLayout.sealedItemLimit)

  private let tree: FileTree

  init(in tree: FileTree) { self.tree = tree }

  /// Returns the tracked files and folders as paths in a repository.
  static func roots(below prefix: String) -> [String] {
    (StoreLayout.trackedFiles + StoreLayout.trackedFolders).map { prefix + $0 }
  }

  /// Returns the files with names that ``StoreLayout/isStoreFile(_:)`` accepts. Any other file, such as the backup copy
  /// of an editor, may contain a secret in plain text.
  func all() throws -> Set<String> {
    var found: Set<String> = []
    for path in StoreLayout.trackedFiles where try tree.status(path)?.kind == .regular {
      found.insert(path)
    }
    for folder in StoreLayout.trackedFolders where try tree.status(folder)?.kind == .directory {
      try collect(folder, into: &found)
    }
    return found
  }

  private func collect(_ folder: String, into found: inout Set<String>) throws {
    for name in try tree.list(folder) {
      let path = "\(folder)/\(name)"
      if name == ".git" { continue }
      switch try tree.status(path)?.kind {
      case .directory: try collect(path, into: &found)
      case .regular where StoreLayout.isStoreFile(path): found.insert(path)
      default: continue
      }
    }
  }
}
