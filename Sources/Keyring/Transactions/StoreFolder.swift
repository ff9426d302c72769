internal import CSystem
internal import Glibc
internal import OpenPGP

/// Opens and creates store folders, and checks that only the user can change them.
package enum StoreFolder {
  /// Opens a store's folder.
  ///
  /// - Throws: `KeyringError.noStore` if it contains no policy, `.unsafeFolder` if another user could write to it or
  ///   to one of its parent folders (threat T33).
  package static func open(_ path: String, faults: FaultPlan? = nil) throws(KeyringError) -> FileTree {
    let tree: FileTree
    do {
      tree = try FileTree(at: path, faults: faults)
    } catch {
      throw error.isMissing ? .noStore(path: path) : .file(error)
    }
    try checkOwner(path, tree)
    guard try files(tree.status(StoreLayout.policy)) != nil else { throw .noStore(path: path) }
    try checkContent(path, tree)
    return tree
  }

  /// Refuses a store whose subfolders or policy other users can change. They can do so only if they may enter the
  /// store's folder.
  private static func checkContent(_ path: String, _ tree: FileTree) throws(KeyringError) {
    if try files(tree.rootStatus()).isClosedToOthers { return }
    let names = [
      StoreLayout.policy, StoreLayout.policySignature, StoreLayout.keys, StoreLayout.index, StoreLayout.items,
      StoreLayout.local, StoreLayout.work,
    ]
    for name in names {
      guard let weakness = try files(tree.status(name))?.weakness(in: .own) else { continue }
      throw .unsafeFolder(path: "\(path)/\(name)", weakness)
    }
  }

  /// Refuses a folder that another user owns, or can change directly or by renaming one of its parent folders.
  package static func checkOwner(_ path: String, _ tree: FileTree) throws(KeyringError) {
    if let weakness = try files(tree.rootStatus()).weakness(in: .own) {
      throw .unsafeFolder(path: path, weakness)
    }
    for folder in try files(foldersAbove(path)) {
      // The folder is not opened, because a folder with search permission only cannot be read.
      guard let weakness = try files(FileStatus(of: folder)).weakness(in: .above) else { continue }
      throw .unsafeFolder(path: folder, weakness)
    }
  }

  /// Returns the parent folders of a path with links resolved, from the nearest one to the root.
  private static func foldersAbove(_ path: String) throws(FileError) -> [String] {
    guard let resolved = unsafe realpath(path, nil) else { throw .current("resolve", path) }
    defer { unsafe free(resolved) }
    var current = unsafe String(cString: resolved)
    var result: [String] = []
    while current != "/" {
      let parent = RelativePath.parent(of: current)
      current = parent.isEmpty ? "/" : parent
      result.append(current)
    }
    return result
  }
}

extension StoreFolder {
  /// Creates a folder and its missing parent folders, accessible only to the user.
  package static func makeFolder(_ path: String, faults: FaultPlan? = nil) throws(KeyringError) {
    try files { () throws(FileError) in
      let absolute = path.hasPrefix("/")
      let root = try FileTree(at: absolute ? "/" : ".", faults: faults)
      // The user may have links in the existing part of the path. The part created here must not contain links.
      var existing = path
      // If a folder cannot be opened for another reason, creating it below reports the error.
      while !existing.isEmpty, (try? FileTree(at: existing)) == nil {
        existing = RelativePath.parent(of: existing)
      }
      let missing = String(decoding: path.utf8.dropFirst(existing.utf8.count), as: UTF8.self)
        .split(separator: "/").joined(separator: "/")
      let base = existing.isEmpty ? root : try FileTree(at: existing, faults: faults)
      guard !missing.isEmpty else { return }
      try base.makeDirectory(missing)
      var made = missing
      while !made.isEmpty {
        made = RelativePath.parent(of: made)
        try base.synchronizeDirectory(made)
      }
    }
  }
}
