internal import CSystem
internal import Glibc
internal import OpenPGP

/// Opening the folder of a store, and making sure that it is the user's own.
package enum StoreFolder {
  /// Opens a store's folder.
  ///
  /// - Throws: `KeyringError.noStore` when there is no policy in it, `.unsafeFolder` when others could write
  ///   to it or to a folder above it (threat T33).
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

  /// Refuses a store whose own folders or policy others can change: they can where they may enter the store.
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

  /// Refuses a folder that another user owns or can change, directly or by renaming one above it.
  package static func checkOwner(_ path: String, _ tree: FileTree) throws(KeyringError) {
    if let weakness = try files(tree.rootStatus()).weakness(in: .own) {
      throw .unsafeFolder(path: path, weakness)
    }
    for folder in try files(foldersAbove(path)) {
      // Not opened: a folder that may only be passed through cannot be read.
      guard let weakness = try files(FileStatus(of: folder)).weakness(in: .above) else { continue }
      throw .unsafeFolder(path: folder, weakness)
    }
  }

  /// The real folders above a path, links resolved, from the nearest to the root.
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
  /// Makes a folder, and those above it that are missing, for the user alone.
  package static func makeFolder(_ path: String, faults: FaultPlan? = nil) throws(KeyringError) {
    try files { () throws(FileError) in
      let absolute = path.hasPrefix("/")
      let root = try FileTree(at: absolute ? "/" : ".", faults: faults)
      // Links in the part that exists are the user's own way to her folders; only below it are they ours.
      var existing = path
      // What cannot be opened, for whatever reason, is made or refused below.
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
