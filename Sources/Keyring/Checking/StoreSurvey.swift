internal import KeyringModel

/// Everything that lies in a store's folders, sorted into what belongs there and what does not.
struct StoreSurvey {
  /// Item files by their path in the store.
  var itemFiles: [ItemFile] = []
  /// The shards, with where they are.
  var shards: [SurveyedShard] = []
  /// Things that are no part of a store.
  var strays: [Finding] = []

  /// A file that lies where an item can be.
  struct ItemFile {
    let path: ItemPath
    let isLocal: Bool
    var file: String { StoreLayout.itemFile(path, isLocal: isLocal) }
  }

  /// A shard as it is on disk.
  struct SurveyedShard {
    let number: UInt8
    let isLocal: Bool
    var shard: Shard
    var file: String { StoreLayout.shardFile(number, isLocal: isLocal) }
  }

  /// Walks through a store.
  ///
  /// - Throws: a file error when a folder cannot be read at all.
  init(of tree: FileTree) throws(KeyringError) {
    for isLocal in [false, true] {
      do {
        try surveyIndex(tree, isLocal: isLocal)
        try surveyItems(tree, isLocal: isLocal)
      } catch {
        throw .file(error)
      }
    }
  }

  private mutating func surveyIndex(_ tree: FileTree, isLocal: Bool) throws(FileError) {
    let folder = StoreLayout.indexFolder(isLocal: isLocal)
    guard try isFolder(folder, in: tree) else { return }
    var expected: [String: UInt8] = [:]
    for number in UInt8.min...UInt8.max { expected[StoreLayout.shardName(number)] = number }
    for name in try tree.list(folder) {
      let path = "\(folder)/\(name)"
      guard let number = expected[name] else {
        strays.append(Finding(path, .stray(.name)))
        continue
      }
      guard try isFile(path, in: tree) else { continue }
      do {
        let bytes = try tree.read(path, limit: StoreLayout.shardLimit) ?? []
        let shard = Shard(parsing: bytes, number: number)
        shards.append(SurveyedShard(number: number, isLocal: isLocal, shard: shard))
      } catch {
        guard case .tooLarge(let limit) = error.reason else { throw error }
        strays.append(Finding(path, .shard(.tooLarge(size: try tree.status(path)?.size ?? 0, limit: limit))))
      }
    }
  }

  private mutating func surveyItems(_ tree: FileTree, isLocal: Bool) throws(FileError) {
    let root = StoreLayout.itemsFolder(isLocal: isLocal)
    guard try isFolder(root, in: tree) else { return }
    for itemClass in try tree.list(root) {
      let classFolder = "\(root)/\(itemClass)"
      guard ItemClass(rawValue: itemClass) != nil else {
        strays.append(Finding(classFolder, .stray(.name)))
        continue
      }
      guard try isFolder(classFolder, in: tree) else { continue }
      for container in try tree.list(classFolder) {
        let containerFolder = "\(classFolder)/\(container)"
        guard try isFolder(containerFolder, in: tree) else { continue }
        for name in try tree.list(containerFolder) {
          let file = "\(containerFolder)/\(name)"
          guard name.hasSuffix(".gpg"),
            let path = ItemPath(validating: "\(itemClass)/\(container)/\(name.dropLast(4))")
          else {
            strays.append(Finding(file, .stray(.name)))
            continue
          }
          if try isFile(file, in: tree) { itemFiles.append(ItemFile(path: path, isLocal: isLocal)) }
        }
      }
    }
  }

  /// Whether a folder is there; what stands in its place is a stray.
  private mutating func isFolder(_ path: String, in tree: FileTree) throws(FileError) -> Bool {
    guard let status = try tree.status(path) else { return false }
    if status.kind == .directory { return true }
    strays.append(Finding(path, .stray(status.kind == .regular ? .file : Self.reason(status))))
    return false
  }

  /// Whether a file of its own is there; what stands in its place is a stray.
  private mutating func isFile(_ path: String, in tree: FileTree) throws(FileError) -> Bool {
    guard let status = try tree.status(path) else { return false }
    if status.kind == .regular && status.links == 1 { return true }
    strays.append(Finding(path, .stray(Self.reason(status))))
    return false
  }

  private static func reason(_ status: FileStatus) -> StrayReason {
    switch status.kind {
    case .link: .link
    case .directory: .folder
    case .regular: .hardLink
    case .pipe, .socket, .device: .special
    }
  }
}
