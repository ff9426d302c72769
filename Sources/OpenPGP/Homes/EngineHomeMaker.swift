internal import CGPGME
internal import Encoding
internal import FileSystem
internal import Glibc
internal import KeyringModel

/// Finds the engine home of a keyring, and makes it if it does not exist.
struct EngineHomeMaker: Sendable {
  /// The folders and the search path on this machine.
  private(set) var locations: EngineLocations
  /// The folder's name: 16 digits of a digest over the input of the home.
  let name: String
  /// The people's key files.
  let keys: [Fingerprint: [UInt8]]

  /// Computes the name. Reads no file.
  ///
  /// - Parameters:
  ///   - locations: The folders and the search path. The user's home is part of the name, because it decides which
  ///     agent is used.
  ///   - keyringID: The keyring.
  ///   - keys: The people's key files.
  init(locations: EngineLocations, keyringID: String, keys: [Fingerprint: [UInt8]]) {
    self.locations = locations
    self.keys = keys
    // Lengths separate the fields: different fields cannot result in the same bytes.
    var content = Array("keytree engine home \(EngineHome.layout)\n".utf8)
    func add(_ field: some Collection<UInt8>) {
      content += Array("\(field.count) ".utf8)
      content += field
    }
    add(Array(keyringID.utf8))
    add(Array((locations.userHome ?? "").utf8))
    for (fingerprint, bytes) in keys.sorted(by: { $0.key < $1.key }) {
      add(Array(fingerprint.text.utf8))
      add(bytes)
    }
    var number: UInt64 = 0
    for byte in ContentDigest(of: content).bytes.prefix(8) { number = number << 8 | UInt64(byte) }
    name = Hex.text(of: number, uppercase: false)
  }

  /// The path of the home.
  var path: String { "\(locations.runtimeBase)/\(name)" }

  /// Loads the home, and makes it if it does not exist, differs from what was written, or was made by a GnuPG that could
  /// not read all keys. If several processes need it at once, one makes it and the others wait. If the disk is full, the
  /// home is made in memory.
  ///
  /// - Parameters:
  ///   - isCurrent: Returns false for a home that is intact but has to be made again, because the machine has changed.
  ///   - tools: Returns the tools that run GnuPG. Called only if the home has to be made.
  /// - Returns: The home, locked against removal.
  /// - Throws: `unsafeEngine` for the folder; `foreignSubkey` if a key has the primary key of another one; an engine error.
  func home(
    where isCurrent: (EngineHome) -> Bool = { _ in true }, tools: () throws(EngineError) -> EngineTools
  ) throws(EngineError) -> EngineHome {
    do {
      let (home, isNew) = try ownHome(where: isCurrent, tools: tools)
      // If the disk was full, the home was made in memory.
      if isNew {
        for base in FallbackFolders.lasting where base != locations.runtimeBase {
          StaleHomes.removeSpare(name, in: base)
        }
      }
      return home
    } catch {
      guard FallbackFolders.isFull(locations.runtimeBase) else { throw error }
      for base in FallbackFolders.inMemory
      where base != locations.runtimeBase && !FallbackFolders.isFull(base) {
        var spare = self
        spare.locations.runtimeBase = base
        // Another user may own the spare folder. The first error is the one to report.
        if let (home, _) = try? spare.ownHome(where: isCurrent, tools: tools) { return home }
      }
      throw error
    }
  }

  /// Loads or makes the home, and reports whether it was made.
  private func ownHome(
    where isCurrent: (EngineHome) -> Bool, tools: () throws(EngineError) -> EngineTools
  ) throws(EngineError) -> (home: EngineHome, isNew: Bool) {
    let base = locations.runtimeBase
    guard base.hasPrefix("/"), base.utf8.contains(where: { $0 != UInt8(ascii: "/") }) else {
      throw .unsafeEngine(path: base, reason: "it is not an absolute path")
    }
    // Another process may remove a folder between two steps. Each round starts with the current state.
    for _ in 0..<10 {
      try PrivateFolder.make(base)
      if let home = try load(), isCurrent(home), try isUpToDate(home, tools) { return (home, false) }
      // Processes that use a damaged home keep its lock, so the makers have a lock of their own.
      let making = try HomeLock(path: StaleHomes.makers(in: base))
      guard making.take(.exclusive, within: Self.patience) else { throw busy }
      guard making.isCurrent else { continue }
      // Another process may have made the home while this one waited.
      if let home = try load(), isCurrent(home), try isUpToDate(home, tools) { return (home, false) }
      let home = try make(try tools())
      StaleHomes.remove(in: base, except: name)
      return (home, true)
    }
    throw busy
  }

  /// Returns false if another version of GnuPG made the home and could not read all keys, so that this one may read more.
  private func isUpToDate(
    _ home: EngineHome, _ tools: () throws(EngineError) -> EngineTools
  ) throws(EngineError) -> Bool {
    if home.table.unreadable.isEmpty { return true }
    return home.engineVersion == Array(try tools().program.version.utf8)
  }

  private static let patience = 60.0

  private var busy: EngineError { .unsafeEngine(path: path, reason: "other processes keep changing it") }

  /// Loads the home.
  ///
  /// - Returns: nil if it has to be made.
  /// - Throws: `unsafeEngine` when the lock cannot be taken.
  private func load() throws(EngineError) -> EngineHome? {
    guard PrivateFolder.isPrivate(path) else { return nil }
    let lock: HomeLock
    do throws(EngineError) {
      lock = try HomeLock(home: path)
    } catch {
      // The folder was removed, or the lock is not a file. A disk that is read-only keeps the home from being made, too.
      return nil
    }
    guard lock.take(.shared, within: Self.patience) else { throw busy }
    guard lock.isCurrent, let home = EngineHome(path: path, files: keys, lock: lock) else { return nil }
    updateLastUse()
    return home
  }

  /// Makes the home in a new folder. Processes that use the old one, if there is one, find that it has changed.
  private func make(_ tools: EngineTools) throws(EngineError) -> EngineHome {
    StaleHomes.discard(path)
    try PrivateFolder.make(path)
    let lock = try HomeLock(home: path)
    guard lock.take(.shared, within: Self.patience) else { throw busy }
    do {
      return try fill(tools, lock)
    } catch {
      // On a full disk an incomplete home would waste space.
      FolderRemoval.removeContent(of: path)
      throw error
    }
  }

  private func fill(_ tools: EngineTools, _ lock: HomeLock) throws(EngineError) -> EngineHome {
    try SmallFile.write(EngineConfiguration.bytes(signer: nil), to: path + "/gpg.conf")
    // Without this file GnuPG 2.4 may write `use-keyboxd` here for a new home, and a daemon would then hold the keys.
    try SmallFile.write([], to: path + "/common.conf")
    // This comes before the redirect exists, so that a secret key in a key file cannot get into the user's agent.
    let listed = try importKeys(tools)
    let socket = AgentRedirect.end(of: try tools.gpgconf.places(home: locations.userHome).agentSocket)
    let redirect = AgentRedirect(path: try tools.gpgconf.places(home: path).agentSocket)
    try redirect.point(to: socket)
    try SmallFile.write(KeyTableFile.encode(listed), to: EngineHome.table(path))
    try SmallFile.write(Array(tools.program.version.utf8), to: EngineHome.version(path))
    let seal = try HomeSeal(of: path, redirect: redirect, socket: socket)
    // An import leaves a copy of the empty keybox.
    for name in FolderNames.text(at: path) where !seal.isExpected(name, in: path) {
      _ = unsafe unlink("\(path)/\(name)")
    }
    // Without this check, a home that another process has begun could be marked as finished.
    guard lock.isCurrent else { throw busy }
    try seal.write(to: path)
    return EngineHome(path: path, keys: listed, files: keys, seal: seal, lock: lock)
  }

  // The table is made from the keys that gpg has imported, not from the content of the files.
  private func importKeys(_ tools: EngineTools) throws(EngineError) -> [PublicKey] {
    if let foreign = ForeignSubkey(ofPrimaryKeyIn: KeyPackets.certificates(in: keys.values)) {
      throw .foreignSubkey(foreign)
    }
    let contents = importable
    var imported: [Fingerprint] = []
    // The files of each person are one file here.
    let first = KeyContent(
      joining: contents.compactMap { RevocationPackets.withoutSoftRevocations(in: [$0.keys]) })
    if !first.bytes.isEmpty { imported = try tools.importKeys(first, home: path) }
    if !contents.isEmpty {
      imported += try tools.importKeys(KeyContent(joining: contents.map(\.keys)), home: path)
    }
    // This also makes an empty keybox, if there are no keys.
    var listed = try tools.keys(home: path)
    // A key that gpg cannot read may have kept it from reading the others, or gpg could not write to the home.
    let present = Set(listed.map(\.fingerprint))
    let missing = contents.filter { !present.contains($0.person) }
    if !missing.isEmpty {
      imported += try tools.importKeys(eachOf: missing.map(\.keys), home: path)
      listed = try tools.keys(home: path)
    }
    guard listed.allSatisfy({ keys[$0.fingerprint] != nil }) else {
      throw .unsafeEngine(path: path, reason: "it has the key of another person")
    }
    try requireWhole(listed, imported)
    return listed
  }

  /// The keys of the people in the order of their fingerprints. A file may have other keys, too. They are left out, because
  /// such a key could claim the subkey of another person. A key that would keep GnuPG busy for too long is also left out:
  /// the table then says that it cannot be read.
  private var importable: [(person: Fingerprint, keys: KeyContent)] {
    keys.sorted { $0.key < $1.key }.compactMap { person, file in
      do throws(EngineError) {
        return (person, try KeyContent(file, of: [person]))
      } catch {
        return nil
      }
    }
  }

  /// Checks that a listing has all keys that were imported, with all subkeys in their files: libgpgme does not notice that
  /// gpg was killed while it was listing them.
  private func requireWhole(_ listed: [PublicKey], _ imported: [Fingerprint]) throws(EngineError) {
    let subkeys = Dictionary(
      listed.map { ($0.fingerprint, Set($0.subkeys.map(\.fingerprint))) }, uniquingKeysWith: { $1 })
    let isWhole = imported.allSatisfy { person in
      guard let file = keys[person] else { return true }
      return subkeys[person]?.isSuperset(of: KeyPackets.fingerprints(in: file)) ?? false
    }
    if !isWhole { throw .incomplete(detail: "it did not list all keys") }
  }

  // Homes that were not used for a week are removed. The time of the stamp is the time of the last use.
  private func updateLastUse() {
    var status = stat()
    guard unsafe stat(HomeSeal.path(in: path), &status) == 0 else { return }
    if time(nil) - status.st_mtim.tv_sec > 86_400 {
      // If this fails, the home only looks older than it is.
      _ = unsafe utimensat(AT_FDCWD, HomeSeal.path(in: path), nil, 0)
    }
  }
}
