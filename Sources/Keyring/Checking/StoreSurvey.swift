internal import KeyringModel

/// Everything that lies in a store's folders, sorted into what belongs there and what does not.
struct StoreSurvey {
  /// The places where something lies that can be an item.
  var items: [ItemFiles] = []
  /// The files of conflict copies, by their paths in the store.
  var conflictFiles: [String] = []
  /// The shards, with where they are.
  var shards: [SurveyedShard] = []
  /// Things that are no part of a store, and things that others can change.
  var findings: [Finding] = []
  /// Whether others can enter the store at all; where they cannot, permissions in it mean nothing.
  private let isOpenToOthers: Bool

  /// The files that lie at a place where an item can be.
  struct ItemFiles: Sendable {
    let path: ItemPath
    let isLocal: Bool
    var hasSecret = false
    var hasRecord = false
    /// The encrypted file.
    var file: String { StoreLayout.itemFile(path, isLocal: isLocal) }
    /// The record.
    var recordFile: String { StoreLayout.recordFile(path, isLocal: isLocal) }
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
  /// - Throws: a file error when a folder cannot be read at all; `KeyringError.policyNotTrusted` when the policy in
  ///   the store cannot be.
  init(of keyring: Keyring) throws(KeyringError) {
    let tree = keyring.tree
    let stored = try TrustedPolicy.read(in: tree).policy
    isOpenToOthers = try !files(tree.rootStatus()).isClosedToOthers
    do throws(FileError) {
      try surveyTop(tree, AllowedFiles(beside: keyring.policy))
      // Whom a policy names that is not accepted yet, or who was removed from it, may have a file.
      try surveyKeys(tree, of: Set(keyring.policy.people.keys).union(stored.people.keys))
      for isLocal in [false, true] {
        try surveyIndex(tree, isLocal: isLocal)
        try surveyItems(tree, isLocal: isLocal)
      }
      try surveyConflicts(tree)
    } catch {
      throw .file(error)
    }
  }

  /// The store's own folder and that of this machine's items, whose parts are looked at elsewhere.
  private mutating func surveyTop(_ tree: FileTree, _ allowed: AllowedFiles) throws(FileError) {
    let known: Set<String> = [
      StoreLayout.policy, StoreLayout.policySignature, StoreLayout.keys, StoreLayout.index, StoreLayout.items,
      StoreLayout.conflicts, StoreLayout.local, StoreLayout.work,
    ]
    for name in try tree.list("") where !known.contains(name) {
      if name == StoreLayout.gitIgnore || name == StoreLayout.gitAttributes {
        _ = try isFile(name, in: tree)
      } else if !allowed.hasTop(name), try !isOwn(name, in: tree) {
        findings.append(Finding(name, .stray(.notAllowed)))
      }
    }
    guard try isFolder(StoreLayout.local, in: tree) else { return }
    let parts: Set<String> = [StoreLayout.indexFolder(isLocal: true), StoreLayout.itemsFolder(isLocal: true)]
    for name in try tree.list(StoreLayout.local) {
      let path = "\(StoreLayout.local)/\(name)"
      if !parts.contains(path) { findings.append(Finding(path, .stray(.name))) }
    }
  }

  /// Whether something at the top belongs to the person: git, and where it is kept, want files of their own there.
  /// Links and modules of git are not among them, because they lead elsewhere.
  private func isOwn(_ name: String, in tree: FileTree) throws(FileError) -> Bool {
    guard name.hasPrefix(".") || name.hasPrefix("README"), name != ".gitmodules" else { return false }
    return try tree.status(name)?.kind != .link
  }

  private mutating func surveyKeys(_ tree: FileTree, of people: Set<Fingerprint>) throws(FileError) {
    guard try isFolder(StoreLayout.keys, in: tree) else { return }
    let known = Set(people.map(StoreLayout.keyFile))
    for name in try tree.list(StoreLayout.keys) {
      let path = "\(StoreLayout.keys)/\(name)"
      guard known.contains(path) else {
        findings.append(Finding(path, .stray(.name)))
        continue
      }
      _ = try isFile(path, in: tree)
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
        findings.append(Finding(path, .stray(.name)))
        continue
      }
      guard try isFile(path, in: tree) else { continue }
      do {
        let bytes = try tree.read(path, limit: StoreLayout.shardLimit) ?? []
        let shard = Shard(parsing: bytes, number: number)
        shards.append(SurveyedShard(number: number, isLocal: isLocal, shard: shard))
      } catch {
        guard case .tooLarge(let limit) = error.reason else { throw error }
        findings.append(
          Finding(path, .shard(.tooLarge(size: try tree.status(path)?.size ?? 0, limit: limit))))
      }
    }
  }

  private mutating func surveyItems(_ tree: FileTree, isLocal: Bool) throws(FileError) {
    let root = StoreLayout.itemsFolder(isLocal: isLocal)
    guard try isFolder(root, in: tree) else { return }
    for itemClass in try tree.list(root) {
      let classFolder = "\(root)/\(itemClass)"
      if classFolder == StoreLayout.passRecipients, try isFile(classFolder, in: tree) { continue }
      guard let known = ItemClass(rawValue: itemClass) else {
        findings.append(Finding(classFolder, .stray(.name)))
        continue
      }
      guard try isFolder(classFolder, in: tree) else { continue }
      for container in try tree.list(classFolder) where try isFolder("\(classFolder)/\(container)", in: tree)
      {
        try surveyContainer("\(itemClass)/\(container)", of: known, tree, isLocal: isLocal)
      }
    }
  }

  /// The accounts of one server or service, and the folders of their fields.
  private mutating func surveyContainer(
    _ container: String, of itemClass: ItemClass, _ tree: FileTree, isLocal: Bool
  ) throws(FileError) {
    let root = StoreLayout.itemsFolder(isLocal: isLocal)
    var found: [ItemPath: ItemFiles] = [:]
    // Opened once: there are many files, and each path would be walked again.
    guard let folder = try tree.folder("\(root)/\(container)") else { return }
    for name in try folder.names() {
      let path = "\(container)/\(name)"
      let status = try folder.status(name)
      if let item = Self.item(path) {
        note(item, path, status, &found, isLocal: isLocal)
      } else if status?.kind == .directory, itemClass == .genericPassword || itemClass == .internetPassword,
        ItemPath(validating: path) != nil
      {
        if let status { noteWeakness(status, "\(root)/\(path)") }
        guard let fields = try tree.folder("\(root)/\(path)") else { continue }
        for field in try fields.names() {
          let path = "\(path)/\(field)"
          if let item = Self.item(path), item.field != nil {
            note(item, path, try fields.status(field), &found, isLocal: isLocal)
          } else {
            findings.append(Finding("\(root)/\(path)", .stray(.name)))
          }
        }
      } else {
        findings.append(Finding("\(root)/\(path)", .stray(.name)))
      }
    }
    items += found.values.sorted { $0.path < $1.path }
  }

  /// The item that a file below the folder of items is of; nil for any other name.
  private static func item(_ path: String) -> ItemPath? {
    StoreLayout.itemPath(ofFile: "\(StoreLayout.items)/\(path)")
  }

  private mutating func note(
    _ item: ItemPath, _ path: String, _ status: FileStatus?, _ found: inout [ItemPath: ItemFiles],
    isLocal: Bool
  ) {
    guard isFile(status, "\(StoreLayout.itemsFolder(isLocal: isLocal))/\(path)") else { return }
    var files = found[item] ?? ItemFiles(path: item, isLocal: isLocal)
    if path.hasSuffix(StoreLayout.secretExtension) { files.hasSecret = true } else { files.hasRecord = true }
    found[item] = files
  }

  private mutating func surveyConflicts(_ tree: FileTree) throws(FileError) {
    guard try isFolder(StoreLayout.conflicts, in: tree) else { return }
    for id in try tree.list(StoreLayout.conflicts) {
      let folder = "\(StoreLayout.conflicts)/\(id)"
      guard try isFolder(folder, in: tree) else { continue }
      for name in try tree.list(folder) {
        let path = "\(folder)/\(name)"
        if !StoreLayout.isConflictFile(path) {
          findings.append(Finding(path, .stray(.name)))
        } else if try isFile(path, in: tree) {
          conflictFiles.append(path)
        }
      }
    }
  }

  /// Whether a folder is there; what stands in its place is a stray.
  private mutating func isFolder(_ path: String, in tree: FileTree) throws(FileError) -> Bool {
    guard let status = try tree.status(path) else { return false }
    noteWeakness(status, path)
    if status.kind == .directory { return true }
    findings.append(Finding(path, .stray(status.kind == .regular ? .file : Self.reason(status))))
    return false
  }

  /// Whether a file of its own is there; what stands in its place is a stray.
  private mutating func isFile(_ path: String, in tree: FileTree) throws(FileError) -> Bool {
    isFile(try tree.status(path), path)
  }

  private mutating func isFile(_ status: FileStatus?, _ path: String) -> Bool {
    guard let status else { return false }
    noteWeakness(status, path)
    if status.kind == .regular && status.links == 1 { return true }
    findings.append(Finding(path, .stray(Self.reason(status))))
    return false
  }

  private mutating func noteWeakness(_ status: FileStatus, _ path: String) {
    guard isOpenToOthers, let weakness = status.weakness(in: .own) else { return }
    findings.append(Finding(path, .unsafe(weakness)))
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
