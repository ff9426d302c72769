internal import FileSystem
internal import Glibc

/// One scan of the folders of a password store.
package struct PassScan {
  package static let suffix = Array(".gpg".utf8)

  // The maximum number of links that an item records as attributes. An item can have 64 attributes.
  private static let aliasLimit = 8

  private var items: [[[UInt8]]] = []
  private var folders: Set<[[UInt8]]> = [[]]
  private var links: [(components: [[UInt8]], target: [UInt8])] = []
  private var draft = ImportDraft()
  private var count = 0

  // Names of files and folders that pass, gopass and git use themselves.
  private static let housekeeping: Set<[UInt8]> = Set(
    [
      ".extensions", ".git", ".gitattributes", ".gitignore", ".gitkeep", ".gitmodules", ".gpg-id",
      ".gpg-id.sig",
      ".public-keys",
    ].map { Array($0.utf8) })

  /// Returns true if pass, gopass or git uses the name, so that no item can have it.
  static func isHousekeeping(_ name: [UInt8]) -> Bool {
    housekeeping.contains(name) || name.starts(with: ".gopass".utf8)
  }

  /// Reads a folder and its subfolders.
  mutating func walk(_ folder: Int32, _ components: [[UInt8]]) throws(PassTreeError) {
    guard components.count <= PassTree.depthLimit else {
      throw .tooDeep(path: PassScan.path(components), limit: PassTree.depthLimit)
    }
    for name in try PassScan.names(in: folder, components) {
      count += 1
      guard count <= PassTree.countLimit else { throw .tooMany(limit: PassTree.countLimit) }
      try visit(folder, components + [name])
    }
  }

  private mutating func visit(_ folder: Int32, _ components: [[UInt8]]) throws(PassTreeError) {
    let path = PassScan.path(components)
    let name = components.last ?? []
    // The files of pass, gopass and git are no entries, so the report does not count them.
    if PassScan.isHousekeeping(name) { return }
    var status = stat()
    let result = unsafe name.withTerminator { unsafe fstatat(folder, $0, &status, AT_SYMLINK_NOFOLLOW) }
    guard result == 0 else { throw .failed(path: path, errno: errno) }
    switch status.st_mode & S_IFMT {
    case S_IFDIR:
      let inner = PassTree.open(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard inner >= 0 else { throw .failed(path: path, errno: errno) }
      defer { _ = close(inner) }
      folders.insert(components)
      try walk(inner, components)
    case S_IFLNK:
      links.append((components, try PassScan.target(folder, name, path)))
    case S_IFREG:
      if let item = PassScan.withoutSuffix(components) {
        items.append(item)
      } else {
        draft.lose(.file(path), .strayFile)
      }
    default:
      draft.lose(.file(path), .notAFile)
    }
  }

  /// Resolves the links after all items and folders have been read.
  ///
  /// - Parameter rootPath: the path of the store as the user gave it, to recognise links with an absolute path.
  package consuming func finish(rootPath: [UInt8]) -> PassListing {
    var entries: [[[UInt8]]: PassEntry] = [:]
    for item in items { entries[item] = PassEntry(components: item) }
    for link in links.sorted(by: { PassScan.path($0.components).precedes(PassScan.path($1.components)) }) {
      let source = ImportSource.file(PassScan.path(link.components))
      let target = PassScan.resolve(link.target, from: link.components.dropLast(), rootPath)
      if let target, let item = PassScan.withoutSuffix(target), let entry = entries[item],
        entry.aliases.count < PassScan.aliasLimit
      {
        let alias = PassScan.withoutSuffix(link.components) ?? link.components
        entries[item]?.aliases.append(PassScan.path(alias))
        draft.skip(source, .alias(of: PassScan.path(item)))
      } else if let target, folders.contains(target) {
        draft.skip(source, .folderLink(to: PassScan.path(target)))
      } else {
        draft.lose(source, .link(target: link.target))
      }
    }
    let sorted = entries.values.sorted { $0.path.precedes($1.path) }
    return PassListing(entries: sorted, draft: draft)
  }

  // Returns the target of a link inside the store, using its text alone, or nil if it leads out of the store.
  private static func resolve(
    _ target: [UInt8], from folder: ArraySlice<[UInt8]>, _ rootPath: [UInt8]
  ) -> [[UInt8]]? {
    let slash = UInt8(ascii: "/")
    var components = Array(folder)
    var rest = target[...]
    if target.first == slash {
      let root = rootPath.last == slash ? rootPath : rootPath + [slash]
      guard target.starts(with: root) else { return nil }
      rest = target[root.count...]
      components = []
    }
    for component in rest.split(separator: slash) where component != [UInt8(ascii: ".")] {
      if component.elementsEqual("..".utf8) {
        guard components.popLast() != nil else { return nil }
      } else {
        components.append(Array(component))
      }
    }
    return components
  }

  private static func withoutSuffix(_ components: [[UInt8]]) -> [[UInt8]]? {
    guard let name = components.last, name.count > suffix.count, name.suffix(suffix.count) == suffix[...]
    else {
      return nil
    }
    return components.dropLast() + [Array(name.dropLast(suffix.count))]
  }

  private static func path(_ components: [[UInt8]]) -> [UInt8] {
    Array(components.joined(separator: [UInt8(ascii: "/")]))
  }

  // Returns the names in a folder, sorted. The descriptor stays open with its position unchanged.
  private static func names(
    in folder: Int32, _ components: [[UInt8]]
  ) throws(PassTreeError) -> [[UInt8]] {
    do {
      return try FolderNames.list(folder).sorted { $0.precedes($1) }
    } catch {
      throw .failed(path: path(components), errno: error.errno)
    }
  }

  // readlink(2) truncates silently, but no path is longer than this.
  private static func target(
    _ folder: Int32, _ name: [UInt8], _ path: [UInt8]
  ) throws(PassTreeError) -> [UInt8] {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe name.withTerminator { unsafe readlinkat(folder, $0, &buffer, Int(PATH_MAX)) }
    guard count >= 0 else { throw .failed(path: path, errno: errno) }
    return buffer[..<count].map { UInt8(bitPattern: $0) }
  }
}

extension [UInt8] {
  /// Returns true if these bytes come before others, compared as unsigned numbers.
  func precedes(_ other: [UInt8]) -> Bool { lexicographicallyPrecedes(other) }
}
