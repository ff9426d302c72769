internal import KeyringModel

/// A list of everything in a store's folders, divided into files that belong there and findings for everything else.
struct StoreSurvey: Sendable {
  /// The item paths that have at least one file.
  var items: [ItemFiles] = []
  /// The paths of encrypted files below `items` whose names Keytree does not use, as other programs create them.
  var foreignFiles: [String] = []
  /// The paths of the files of conflict copies.
  var conflictFiles: [String] = []
  /// The shards.
  var shards: [SurveyedShard] = []
  /// Findings for entries that do not belong to a store, and for entries that other users can change.
  var findings: [Finding] = []
  /// True if other users can enter the store's folder. If they cannot, permissions inside it do not matter.
  private let isOpenToOthers: Bool

  /// The files at the path of an item.
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
  struct SurveyedShard: Sendable {
    let number: UInt8
    let isLocal: Bool
    var shard: Shard
    var file: String { StoreLayout.shardFile(number, isLocal: isLocal) }
  }

  /// Lists the content of a store.
  ///
  /// - Throws: A file error when a folder cannot be read; `KeyringError.policyNotTrusted` when the policy in the store
  ///   cannot be read.
  init(of keyring: Keyring) throws(KeyringError) {
    let tree = keyring.tree
    let stored = try TrustedPolicy.read(in: tree).policy
    isOpenToOthers = try !files(tree.rootStatus()).isClosedToOthers
    do throws(FileError) {
      try surveyTop(tree, AllowedFiles(beside: keyring.policy))
      // People who were removed, or who are only in a policy that is not accepted yet, may also have a key file.
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

  /// Lists only the items of the store, without those of this machine.
  ///
  /// - Throws: A file error when a folder cannot be read.
  init(itemsOf keyring: Keyring) throws(KeyringError) {
    isOpenToOthers = false
    do throws(FileError) {
      try surveyItems(keyring.tree, isLocal: false)
    } catch {
      throw .file(error)
    }
  }

  /// Lists only the items and the files of other programs in some containers, and the files of other programs outside of
  /// containers. The shards are listed only if there is such an item.
  ///
  /// - Parameter containers: The containers, each with its class: `internet-password/github.com`. Anything else in the
  ///   folder of a class can be named, too.
  /// - Throws: A file error when a folder cannot be read.
  init(of keyring: Keyring, containers: Set<String>) throws(KeyringError) {
    isOpenToOthers = false
    do throws(FileError) {
      try surveyItems(keyring.tree, isLocal: false, containers: containers.sorted())
      guard !items.isEmpty else { return }
      // The file of an item on this machine only can be at the path of another item, too.
      for isLocal in [false, true] { try surveyIndex(keyring.tree, isLocal: isLocal) }
    } catch {
      throw .file(error)
    }
  }

  /// Checks the top-level folder and the folder `local`. Other methods check their subfolders.
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

  /// Returns true if a top-level entry belongs to the user, to git or to the hosting service. Links and `.gitmodules`
  /// are excluded, because they refer to files elsewhere.
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
    var numbers: [UInt8] = []
    for name in try tree.list(folder) {
      let path = "\(folder)/\(name)"
      guard let number = expected[name] else {
        findings.append(Finding(path, .stray(.name)))
        continue
      }
      if try isFile(path, in: tree) { numbers.append(number) }
    }
    let found = numbers
    let results = try WorkerPool(workers: 0).map(found.count) { (index) throws(FileError) in
      try Self.shard(found[index], tree, isLocal: isLocal)
    }
    for result in results {
      switch result {
      case .success(let shard): shards.append(shard)
      case .failure(let finding): findings.append(finding.finding)
      }
    }
  }

  /// A finding as an error.
  private struct FailedRead: Error {
    let finding: Finding
  }

  /// Reads a shard.
  ///
  /// - Returns: The shard, or the finding that it is too large.
  private static func shard(
    _ number: UInt8, _ tree: FileTree, isLocal: Bool
  ) throws(FileError) -> Result<SurveyedShard, FailedRead> {
    let path = StoreLayout.shardFile(number, isLocal: isLocal)
    do {
      let bytes = try tree.read(path, limit: StoreLayout.shardLimit) ?? []
      let shard = Shard(parsing: bytes, number: number)
      return .success(SurveyedShard(number: number, isLocal: isLocal, shard: shard))
    } catch {
      guard case .tooLarge(let limit) = error.reason else { throw error }
      let size = try tree.status(path)?.size ?? 0
      return .failure(FailedRead(finding: Finding(path, .shard(.tooLarge(size: size, limit: limit)))))
    }
  }

  /// Lists the folders of items.
  ///
  /// - Parameter containers: The only containers to list, each with its class; nil for all.
  private mutating func surveyItems(
    _ tree: FileTree, isLocal: Bool, containers: [String]? = nil
  ) throws(FileError) {
    let root = StoreLayout.itemsFolder(isLocal: isLocal)
    guard try isFolder(root, in: tree) else { return }
    for itemClass in try tree.list(root) {
      let classFolder = "\(root)/\(itemClass)"
      if classFolder == StoreLayout.passRecipients, try isFile(classFolder, in: tree) { continue }
      guard let known = ItemClass(rawValue: itemClass) else {
        try surveyForeign(classFolder, tree, isLocal: isLocal)
        continue
      }
      guard try isFolder(classFolder, in: tree) else { continue }
      let names =
        if let containers {
          containers.filter { $0.hasPrefix("\(itemClass)/") }.map(RelativePath.name)
        } else {
          try tree.list(classFolder)
        }
      // Pieces, because a look at one container is shorter than the distribution of work.
      let size = 128
      let isOpenToOthers = isOpenToOthers
      let parts = try WorkerPool(workers: 0).map((names.count + size - 1) / size) {
        (piece) throws(FileError) -> StoreSurvey in
        var part = StoreSurvey(isOpenToOthers: isOpenToOthers)
        for name in names[(piece * size)...].prefix(size) {
          try part.surveyEntry("\(itemClass)/\(name)", of: known, tree, isLocal: isLocal)
        }
        return part
      }
      for part in parts {
        items += part.items
        foreignFiles += part.foreignFiles
        findings += part.findings
      }
    }
  }

  /// Creates an empty list for a part of a store.
  private init(isOpenToOthers: Bool) { self.isOpenToOthers = isOpenToOthers }

  /// Lists what is at one path in the folder of a class, which should be a container.
  private mutating func surveyEntry(
    _ entry: String, of itemClass: ItemClass, _ tree: FileTree, isLocal: Bool
  ) throws(FileError) {
    let path = "\(StoreLayout.itemsFolder(isLocal: isLocal))/\(entry)"
    if !isLocal, StoreLayout.isForeignFile(path), try tree.status(path)?.kind == .regular {
      try surveyForeign(path, tree, isLocal: isLocal)
    } else if try isFolder(path, in: tree) {
      try surveyContainer(entry, of: itemClass, tree, isLocal: isLocal)
    }
  }

  /// Lists the accounts of one server or service, and the folders of their fields.
  private mutating func surveyContainer(
    _ container: String, of itemClass: ItemClass, _ tree: FileTree, isLocal: Bool
  ) throws(FileError) {
    let root = StoreLayout.itemsFolder(isLocal: isLocal)
    var found: [ItemPath: ItemFiles] = [:]
    // The folder is opened only once, so that the paths of its many files do not have to be resolved one by one.
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
            try surveyForeign("\(root)/\(path)", tree, isLocal: isLocal)
          }
        }
      } else {
        try surveyForeign("\(root)/\(path)", tree, isLocal: isLocal)
      }
    }
    items += found.values.sorted { $0.path < $1.path }
  }

  /// Lists the encrypted files of other programs at a path, at any depth. Everything else there is a stray; a folder
  /// without such files is one stray.
  private mutating func surveyForeign(
    _ path: String, _ tree: FileTree, isLocal: Bool
  ) throws(FileError) {
    var found = ForeignEntries()
    if isLocal { found.strays = [path] } else { try found.add(path, in: tree, depth: 0) }
    if found.files.isEmpty {
      // An empty folder is what remains after an adoption, and git does not keep it.
      if !found.strays.isEmpty { findings.append(Finding(path, .stray(.name))) }
      return
    }
    for path in found.files where try isFile(path, in: tree) { foreignFiles.append(path) }
    findings += found.strays.map { Finding($0, .stray(.name)) }
  }

  /// The entries of a folder that Keytree did not create.
  private struct ForeignEntries {
    /// The encrypted files.
    var files: [String] = []
    /// Everything else.
    var strays: [String] = []

    /// The largest depth of folders; a deeper one is a stray.
    private static let depthLimit = 64

    mutating func add(_ path: String, in tree: FileTree, depth: Int) throws(FileError) {
      let kind = try tree.status(path)?.kind
      if kind == .directory, depth < Self.depthLimit, StoreLayout.isForeignFolder(path) {
        for name in try tree.list(path) { try add("\(path)/\(name)", in: tree, depth: depth + 1) }
      } else if kind == .regular, StoreLayout.isForeignFile(path) {
        files.append(path)
      } else {
        strays.append(path)
      }
    }
  }

  /// Returns the item path of a file below the folder of items; nil for any other name.
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

  /// Returns true if a folder exists. Anything else at the path is reported as a stray.
  private mutating func isFolder(_ path: String, in tree: FileTree) throws(FileError) -> Bool {
    guard let status = try tree.status(path) else { return false }
    noteWeakness(status, path)
    if status.kind == .directory { return true }
    findings.append(Finding(path, .stray(status.kind == .regular ? .file : Self.reason(status))))
    return false
  }

  /// Returns true if a regular file with one name exists. Anything else at the path is reported as a stray.
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
