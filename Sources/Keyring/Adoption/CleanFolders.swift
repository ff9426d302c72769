internal import FileSystem
internal import KeyringModel

/// The containers without files of other programs, as `status` last saw them, with the stamps of their files.
///
/// They are kept in `.keytree/clean-folders` on this machine, so that `status` reads only files whose stamps have
/// changed, as git does with its index. A stamp contains inode, size, and the times of the last changes, of which no
/// program can set the last one. A file is not listed here while its stamp is so recent that another change could have
/// the same one.
///
/// This only decides which files have to be read for the list of files of other programs. Nothing is released,
/// verified or changed because of it, and `check`, `adopt` and the release of a secret read the files themselves.
struct CleanFolders: Sendable {
  private static let file = "\(StoreLayout.work)/clean-folders"
  private static let temporary = "\(StoreLayout.work)/clean-folders.new"
  private static let magic = Array("keytree clean folders 1\n".utf8)
  /// The largest file that is read, in bytes: about a million items.
  private static let sizeLimit = 128 << 20

  private let keyring: Keyring
  private let clock: FileClock
  private var bytes: [UInt8] = []
  /// The stamps of the shards with which the containers were compared; nil for a shard that must be compared again.
  private var shards: [FileStamp?] = Array(repeating: nil, count: 256)
  /// The places of the containers in `bytes`, including their sizes, by path.
  private var containers: [[UInt8]: Range<Int>] = [:]

  /// Reads the containers that were clean when `status` last looked. Without a readable file there are none.
  init(of keyring: Keyring) {
    self.keyring = keyring
    clock = keyring.host.fileClock
    // Without the file everything is read again, which only takes longer.
    guard let bytes = try? keyring.tree.read(Self.file, limit: Self.sizeLimit) else { return }
    self.bytes = bytes
    if !parse() { (self.bytes, shards, containers) = ([], Array(repeating: nil, count: 256), [:]) }
  }

  private mutating func parse() -> Bool {
    guard bytes.starts(with: Self.magic) else { return false }
    var cursor = StoredCursor(bytes, in: Self.magic.count..<bytes.count)
    guard let size = cursor.number(), Int(size) == bytes.count, let count = cursor.number() else {
      return false
    }
    for _ in 0..<count {
      guard let number = cursor.number(), number < 256, let stamp = cursor.stamp() else { return false }
      shards[Int(number)] = stamp
    }
    while !cursor.isAtEnd {
      let start = cursor.offset
      guard let size = cursor.number(), let range = cursor.range(Int(size)) else { return false }
      var content = StoredCursor(bytes, in: range)
      guard let path = content.text() else { return false }
      containers[Array(path.dropLast())] = start..<range.upperBound
    }
    return true
  }

  // MARK: Looking

  /// Returns the containers and other folders that can contain files of other programs, after comparing all others
  /// with the files, and remembers those without.
  ///
  /// - Returns: Paths below `items`. Other files and folders below `items` are not in the list.
  /// - Throws: A file error.
  func suspiciousContainers() throws(KeyringError) -> Set<String> {
    let looks = try looks()
    let stamps = try changedShards()
    var suspicious = Set(looks.filter { $0.isSuspicious }.map(\.path))
    var needed = Set(stamps.filter { $0.hasChanged }.map(\.number))
    let fresh = looks.compactMap { look in look.new.map { (path: look.path, container: $0) } }
    let digests = fresh.map(\.container.digests)
    for found in digests { needed.formUnion(found.map(\.path.shard)) }
    let lines = try lines(in: needed.sorted())
    for (look, found) in zip(fresh, digests)
    where found.contains(where: { lines[$0.path.text].map { [digest = $0.digest] in $0 != digest } ?? false })
    {
      suspicious.insert(look.path)
    }
    let changed = Set(stamps.filter { $0.hasChanged }.map(\.number))
    let unchanged = Set(looks.filter { $0.new == nil }.map(\.path)).subtracting(suspicious)
    suspicious.formUnion(contradicted(lines, in: changed, among: unchanged))
    store(looks, stamps, without: suspicious)
    return suspicious
  }

  /// The result of looking at one container.
  private struct Look: Sendable {
    let path: String
    /// The place of the unchanged container in the stored bytes.
    var old: Range<Int>?
    /// The container as it was read now; nil if it is unchanged or suspicious.
    var new: CleanContainer?
    var isSuspicious: Bool { old == nil && new == nil }
  }

  private func looks() throws(KeyringError) -> [Look] {
    var looks: [Look] = []
    for itemClass in ItemClass.allCases {
      let folder = "\(StoreLayout.items)/\(itemClass.rawValue)"
      guard try files(keyring.tree.status(folder))?.kind == .directory else { continue }
      let names = try files { () throws(FileError) in try keyring.tree.folder(folder)?.nameBytes() ?? [] }
      // Pieces, because a look at one container is shorter than the distribution of work.
      let size = 128
      let found = try files(
        WorkerPool(workers: keyring.host.workers).map((names.count + size - 1) / size) {
          (piece) throws(FileError) -> [Look] in
          guard let handle = try keyring.tree.folder(folder) else { return [] }
          return names[(piece * size)...].prefix(size).map { look(at: $0, itemClass, handle) }
        })
      looks += found.joined()
    }
    return looks
  }

  private func look(
    at name: [UInt8], _ itemClass: ItemClass, _ classFolder: borrowing FolderHandle
  ) -> Look {
    let path = Array(itemClass.rawValue.utf8) + [UInt8(ascii: "/")] + name
    var look = Look(path: String(decoding: path, as: UTF8.self))
    let terminated = name + [0]
    var known = KnownDigests()
    if let range = containers[path] {
      var cursor = StoredCursor(bytes, in: (range.lowerBound + 4)..<range.upperBound)
      _ = cursor.text()
      if CleanContainer.isUnchanged(cursor, terminated[...], in: classFolder, clock: clock) {
        look.old = range
        return look
      }
      known = KnownDigests((CleanContainer.files(cursor) ?? []).map { ($0.stamp, $0.digest) })
    }
    // The survey of a suspicious container reports the error.
    look.new = try? CleanContainer(terminated, of: itemClass, in: classFolder, clock: clock, known: known)
    return look
  }

  // MARK: Comparing with the index

  private struct ShardLook: Sendable {
    let number: UInt8
    /// The current stamp; nil if the shard does not exist, or if it could change without another stamp.
    let stamp: FileStamp?
    let hasChanged: Bool
  }

  private func changedShards() throws(KeyringError) -> [ShardLook] {
    let now = clock.now()
    return try files { () throws(FileError) in
      guard let folder = try keyring.tree.folder(StoreLayout.index) else { return [] }
      var looks: [ShardLook] = []
      for number in UInt8.min...UInt8.max {
        guard let status = try folder.status(StoreLayout.shardName(number)) else { continue }
        let stamp = status.stamp.rounded(to: clock.tick)
        looks.append(
          ShardLook(
            number: number, stamp: stamp.isFresh(at: now) ? nil : stamp,
            hasChanged: stamp != shards[Int(number)]))
      }
      return looks
    }
  }

  /// Returns the digests in the lines of some shards, by the text of the item's path. The first of duplicate lines
  /// counts.
  private func lines(in numbers: [UInt8]) throws(KeyringError) -> [String: ContentDigest] {
    let tree = keyring.tree
    let found = try files(
      WorkerPool(workers: keyring.host.workers).map(numbers.count) {
        (index) throws(FileError) -> [(String, ContentDigest)] in
        let file = StoreLayout.shardFile(numbers[index], isLocal: false)
        guard let bytes = try tree.read(file, limit: StoreLayout.shardLimit) else { return [] }
        var lines: [(String, ContentDigest)] = []
        unsafe bytes.withUnsafeBytes { buffer in
          unsafe ShardScanner.candidates(in: buffer, needles: []) { line, _ in
            // The check of the index reports a line that cannot be read.
            guard let record = unsafe try? IndexLine.parse(line) else { return }
            lines.append((record.path.text, record.sealed))
          }
        }
        return lines
      })
    return Dictionary(found.joined()) { first, _ in first }
  }

  /// Returns the unchanged containers with a file whose digest is not that of its line in a changed shard.
  private func contradicted(
    _ lines: [String: ContentDigest], in changed: Set<UInt8>, among unchanged: Set<String>
  ) -> Set<String> {
    if changed.isEmpty { return [] }
    var wanted: [String: [(name: Substring, digest: ContentDigest)]] = [:]
    for (path, digest) in lines {
      let parts = path.split(separator: "/", maxSplits: 2)
      guard parts.count == 3 else { continue }
      let container = "\(parts[0])/\(parts[1])"
      if unchanged.contains(container) { wanted[container, default: []].append((parts[2], digest)) }
    }
    var found: Set<String> = []
    for (container, items) in wanted {
      guard let range = containers[Array(container.utf8)] else { continue }
      var cursor = StoredCursor(bytes, in: (range.lowerBound + 4)..<range.upperBound)
      _ = cursor.text()
      let files = (CleanContainer.files(cursor) ?? []).map { ($0.name, $0.digest) }
      let digests = Dictionary(files) { first, _ in first }
      let differs = items.contains { item in
        digests["\(item.name)\(StoreLayout.secretExtension)"].map { $0 != item.digest } ?? false
      }
      if differs { found.insert(container) }
    }
    return found
  }

  // MARK: Storing

  private func store(_ looks: [Look], _ stamps: [ShardLook], without suspicious: Set<String>) {
    let kept = looks.filter { look in
      !suspicious.contains(look.path) && (look.old != nil || look.new?.isSettled == true)
    }
    let isSame =
      kept.count == containers.count && kept.allSatisfy { $0.old != nil }
      && stamps.allSatisfy { !$0.hasChanged || $0.stamp == nil && shards[Int($0.number)] == nil }
      && stamps.count { $0.stamp != nil } == shards.count { $0 != nil }
    if isSame { return }
    var content: [UInt8] = []
    content.reserveCapacity(bytes.count)
    let settled = stamps.compactMap { look in look.stamp.map { (look.number, $0) } }
    StoredCursor.append(UInt32(settled.count), to: &content)
    for (number, stamp) in settled {
      StoredCursor.append(UInt32(number), to: &content)
      content += stamp.stored
    }
    for look in kept {
      if let old = look.old { content += bytes[old] } else if let new = look.new { content += new.stored }
    }
    StoredCursor.store(
      content, magic: Self.magic, at: Self.file, temporary: Self.temporary, in: keyring.tree)
  }
}

extension Keyring {
  /// Returns the files that other programs have added or changed, as ``foreignFiles()`` does, but reads only the files
  /// whose stamps have changed since the last call on this machine.
  ///
  /// - Throws: The errors of ``foreignFiles()``.
  package func recentForeignFiles() throws(KeyringError) -> [ForeignFile] {
    let containers = try CleanFolders(of: self).suspiciousContainers()
    return try foreignFiles(in: try StoreSurvey(of: self, containers: containers))
  }
}
