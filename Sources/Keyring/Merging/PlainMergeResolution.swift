internal import KeyringModel

/// Merges items that plain git has merged file by file, using the rules of ``StoreMerge``.
///
/// The merges are applied from the latest to the first. The version in the store is the result of the latest merge.
/// Each merge adds the version on our side that it replaced.
struct PlainMergeResolution {
  /// A version as it was signed.
  private struct Source {
    let file: RecordFile
    let message: [UInt8]
  }

  /// A version of an item, and the signed versions that it was made from.
  private struct Version {
    let record: ItemRecord
    let message: [UInt8]
    /// The record file; nil if the record still has to be signed.
    let file: RecordFile?
    /// The signer of the record; nil if the record still has to be signed.
    let signer: Fingerprint?
    let sources: [Source]

    init(_ verified: VerifiedRecord, _ message: [UInt8]) {
      (record, self.message, file) = (verified.file.record, message, verified.file)
      signer = verified.signer
      sources = [Source(file: verified.file, message: message)]
    }

    init(unsigned record: ItemRecord, _ message: [UInt8], _ sources: [Source]) {
      (self.record, self.message, self.sources) = (record, message, sources)
      (file, signer) = (nil, nil)
    }
  }

  /// The content of an item path.
  private enum Content {
    case nothing
    case version(Version)
    /// Files that are not verified; the value is the bytes of the record.
    case distrusted([UInt8])
    /// An encrypted file without a record; the value is its digest.
    case orphan(ContentDigest)

    var version: Version? {
      if case .version(let version) = self { return version }
      return nil
    }
  }

  /// One side of a merge: versions with their current paths. The path is nil for a version that is not in the store.
  private typealias Side = [(place: ItemPath?, version: Version)]

  private let keyring: Keyring
  private let reader: ItemReader
  private let pending: PendingMergeFiles
  private let past: HistoricalVersions
  /// The index lines of the items in the notes, by their paths.
  private var lines: [ItemPath: ItemRecord] = [:]
  private var contents: [ItemPath: Content] = [:]
  /// The possible paths of each item.
  private var places: [ItemID: Set<ItemPath>] = [:]
  private var touched: Set<ItemPath> = []
  private var copies: [Source] = []
  private var refused: [ItemPath] = []

  /// Prepares merges.
  ///
  /// - Throws: A file error.
  init(of merges: [PlainMerge], _ past: HistoricalVersions, in keyring: Keyring) throws(KeyringError) {
    (self.keyring, self.past) = (keyring, past)
    reader = ItemReader(keyring: keyring)
    pending = PendingMergeFiles(of: keyring.tree)
    let ids = Set(merges.flatMap { $0.note.ids })
    let paths = Set(merges.map(\.note.path))
    var query = Query()
    query.includesFields = true
    if ids.count == 1, let id = ids.first { query.predicates = [.id(id)] }
    // Verifies all signatures that are new to this machine in one process. Each record is checked separately later.
    let known = merges.flatMap { merge in
      guard case .edited(let base, let ours, let theirs) = merge.note.change else { return [RecordClaim]() }
      return [base, ours, theirs].filter { !$0.isEmpty }.map { RecordClaim($0, path: merge.note.path) }
    }
    _ = try keyring.verify(known)
    for line in try IndexSearch.run(query, in: keyring.tree).items
    where !line.isLocal && (ids.contains(line.id) || paths.contains(line.path)) {
      lines[line.path] = line
      places[line.id, default: []].insert(line.path)
    }
  }

  /// Lists the versions that are neither in the store nor in the notes.
  func wantedVersions(for merges: [PlainMerge]) throws(KeyringError) -> WantedVersions {
    var wanted = WantedVersions()
    func want(_ digest: ContentDigest, at path: ItemPath) throws(KeyringError) {
      if try message(digest, at: path) == nil { wanted.messages[digest, default: []].insert(path) }
    }
    for (path, line) in lines {
      try want(line.sealed, at: path)
      if try reader.readableRecord(at: path, isLocal: false) == nil, let bytes = try? IndexLine.encode(line) {
        wanted.records[path, default: []].insert(ContentDigest(of: bytes))
      }
    }
    for merge in merges {
      let path = merge.note.path
      switch merge.note.change {
      case .edited(_, let ours, _):
        let now = try reader.readableRecord(at: path, isLocal: false) ?? []
        for bytes in [ours, now] {
          // Bytes that are not a record name no encrypted file.
          guard let record = try? RecordFile(parsing: bytes).record else { continue }
          for place in Set([path, record.path]) { try want(record.sealed, at: place) }
        }
      case .removed(let line): wanted.records[path, default: []].insert(ContentDigest(of: line))
      }
    }
    return wanted
  }

  // MARK: Merging

  /// Applies a merge.
  ///
  /// - Throws: `KeyringError.engine`, or a file error.
  mutating func apply(_ merge: PlainMerge) throws(KeyringError) {
    let path = merge.note.path
    switch merge.note.change {
    case .edited(let base, let ours, let theirs):
      switch merge.end {
      case .taken(let acceptsOlderTheirs): try applyEdit(at: path, base, ours, theirs, acceptsOlderTheirs)
      case .replaced: try keepCopy(of: ours, at: path)
      }
    case .removed(let line):
      guard let old = try? IndexLine.parse(line) else { return }
      let base = try past.records[ContentDigest(of: line)].flatMap { bytes throws(KeyringError) in
        try verified(bytes, at: path)?.record
      }
      var found = try versions(of: old.id)
      // The files of even a single version may be missing from the store although they are in the history.
      touched.formUnion(found.compactMap(\.place))
      try removeOrphan(at: path, of: [old] + found.map(\.version.record))
      while found.count > 1 {
        // It is unknown which version comes from this machine.
        let known = [base].compactMap { $0 }
        let one = refuseForeignMoves(in: [found[0]], from: known, or: [found[1]])
        let other = refuseForeignMoves(in: [found[1]], from: known, or: [found[0]])
        try run(known, one, other, acceptsOlderTheirs: false)
        let rest = try versions(of: old.id)
        guard rest.count < found.count else { return }
        found = rest
      }
    }
  }

  /// Keeps a version as a conflict copy unless the store has it.
  private mutating func keepCopy(of ours: [UInt8], at path: ItemPath) throws(KeyringError) {
    guard let mine = try version(ours, at: path) else { return }
    for found in try versions(of: mine.record.id) where found.version.record == mine.record { return }
    copies += mine.sources
  }

  private mutating func applyEdit(
    at path: ItemPath, _ base: [UInt8], _ ours: [UInt8], _ theirs: [UInt8], _ acceptsOlderTheirs: Bool
  ) throws(KeyringError) {
    // A version without a valid signature or without its encrypted file is not merged into a record that this user
    // signs.
    guard let mine = try version(ours, at: path) else { return }
    let old = try verified(base, at: path)?.record
    // An unreadable record names no encrypted file, so the reason does not matter.
    let records = [base, ours, theirs].compactMap { try? RecordFile(parsing: $0).record }
    try removeOrphan(at: path, of: records)
    var other: Side = []
    switch try content(at: path) {
    case .nothing: break
    case .orphan:
      copies += mine.sources
      return
    case .version(let version): other = [(path, version)]
    case .distrusted(let bytes):
      guard bytes == theirs else {
        copies += mine.sources
        return
      }
      // A change that is not verified is undone.
      refused.append(path)
      contents[path] = .nothing
      touched.insert(path)
      try put(mine)
      return
    }
    var own: Side = [(nil, mine)]
    // A side that has no version of an item at this path may have renamed it.
    for id in Set([old?.id, mine.record.id, other.first?.version.record.id].compactMap { $0 }) {
      for found in try versions(of: id) where found.place != path {
        if mine.record.id == id { other.append(found) } else { own.append(found) }
      }
    }
    let known = [old].compactMap { $0 }
    other = refuseForeignMoves(in: other, from: known, or: own)
    try run(known, own, other, acceptsOlderTheirs: acceptsOlderTheirs)
  }

  /// Removes an encrypted file that git left without its record, if it belongs to one of the given versions.
  private mutating func removeOrphan(at path: ItemPath, of versions: [ItemRecord]) throws(KeyringError) {
    guard case .orphan(let digest) = try content(at: path), versions.contains(where: { $0.sealed == digest })
    else { return }
    contents[path] = .nothing
    touched.insert(path)
  }

  private mutating func run(
    _ base: [ItemRecord], _ ours: Side, _ theirs: Side, acceptsOlderTheirs: Bool
  ) throws(KeyringError) {
    func version(_ record: ItemRecord, _ side: MergeSide) -> Version? {
      (side == .ours ? ours : theirs).first { $0.version.record == record }?.version
    }
    var merge = StoreMerge()
    merge.acceptsOlderTheirs = acceptsOlderTheirs
    merge.canSign = { [keyring] record, source, side in
      version(source, side).map { keyring.canSign(for: record.group, $0.message) } ?? false
    }
    merge.prefer = { [keyring] mine, other in
      let isRight = [(mine, MergeSide.ours), (other, .theirs)].map { record, side in
        version(record, side).map { keyring.isSealed($0.message, to: record.group) } ?? false
      }
      if isRight[0] != isRight[1] { return isRight[0] ? .ours : .theirs }
      return StoreMerge().prefer(mine, other)
    }
    let result = merge.merge(
      base: base, ours: ours.map(\.version.record), theirs: theirs.map(\.version.record))
    for place in (ours + theirs).compactMap(\.place) {
      contents[place] = .nothing
      touched.insert(place)
    }
    for item in result.items {
      if let side = item.recordSide, let whole = version(item.record, side) {
        try put(whole)
        continue
      }
      let parts = (ours + theirs).map(\.version).filter { $0.record.id == item.record.id }
      let source = (item.secretSide == .ours ? ours : theirs).map(\.version).first {
        $0.record.id == item.record.id && $0.record.path == item.secretPath
          && $0.record.sealed == item.record.sealed
      }
      guard let source else { continue }
      try put(Version(unsigned: item.record, source.message, parts.flatMap(\.sources)))
    }
    for copy in result.copies {
      if let version = version(copy.record, copy.side) { copies += version.sources }
    }
  }

  /// Refuses versions that have a different group than the item, unless a member of the item's group signed them: a
  /// person who is not a member does not know the secret. The refused versions become conflict copies.
  ///
  /// - Parameters:
  ///   - side: The versions.
  ///   - base: The common ancestors.
  ///   - others: The versions of the other side, used for an item that `base` does not have.
  /// - Returns: The versions that were not refused.
  private mutating func refuseForeignMoves(
    in side: Side, from base: [ItemRecord], or others: Side
  ) -> Side {
    var kept: Side = []
    for (place, version) in side {
      let id = version.record.id
      let known = base.contains { $0.id == id } ? base : others.map(\.version.record)
      let groups = known.filter { $0.id == id }.map(\.group)
      // This user creates and signs a version that has no signer yet.
      guard let signer = version.signer, !groups.isEmpty, !groups.contains(version.record.group),
        !keyring.policy.isMember(signer, ofAny: groups)
      else {
        kept.append((place, version))
        continue
      }
      copies += version.sources
      guard let place else { continue }
      refused.append(place)
      contents[place] = .nothing
      touched.insert(place)
    }
    return kept
  }

  /// Puts a version at its path, or keeps it as conflict copies if the path is taken.
  private mutating func put(_ version: Version) throws(KeyringError) {
    let path = version.record.path
    guard case .nothing = try content(at: path) else {
      copies += version.sources
      return
    }
    contents[path] = .version(version)
    places[version.record.id, default: []].insert(path)
    touched.insert(path)
  }

  // MARK: Versions

  /// Returns the versions of an item in the store, sorted by path.
  private mutating func versions(of id: ItemID) throws(KeyringError) -> Side {
    var versions: Side = []
    for place in places[id, default: []].sorted() {
      if let version = try content(at: place).version, version.record.id == id {
        versions.append((place, version))
      }
    }
    return versions
  }

  /// Returns the content of a path after the merges so far.
  private mutating func content(at path: ItemPath) throws(KeyringError) -> Content {
    if let known = contents[path] { return known }
    let content = try storedContent(at: path)
    contents[path] = content
    if let version = content.version { places[version.record.id, default: []].insert(path) }
    return content
  }

  private func storedContent(at path: ItemPath) throws(KeyringError) -> Content {
    var bytes = try reader.readableRecord(at: path, isLocal: false)
    if bytes == nil, let line = lines[path].flatMap({ try? IndexLine.encode($0) }) {
      // Git has removed the record, but the index still has the item.
      bytes = past.records[ContentDigest(of: line)]
    }
    if let bytes {
      return try version(bytes, at: path).map { .version($0) } ?? .distrusted(bytes)
    }
    do throws(KeyringError) {
      return try reader.message(at: path, isLocal: false).map { .orphan(ContentDigest(of: $0)) } ?? .nothing
    } catch {
      // A path that is not a regular file, or a file that is too large, is left unchanged.
      guard case .itemDamaged = error else { throw error }
      return .distrusted([])
    }
  }

  /// Returns a version if its record is verified and its encrypted file exists; nil otherwise.
  private func version(_ bytes: [UInt8], at path: ItemPath) throws(KeyringError) -> Version? {
    guard let verified = try verified(bytes, at: path),
      let message = try message(verified.record.sealed, at: path),
      try keyring.fault(of: verified, message) == nil
    else { return nil }
    return Version(verified, message)
  }

  /// Returns a record if it has a valid signature for a path; nil otherwise.
  private func verified(_ bytes: [UInt8], at path: ItemPath) throws(KeyringError) -> VerifiedRecord? {
    if bytes.isEmpty { return nil }
    switch try keyring.verifier.verify(RecordClaim(bytes, path: path)) {
    case .success(let record): return record
    // The reason does not matter: the record is not used.
    case .failure: return nil
    }
  }

  private func message(_ digest: ContentDigest, at path: ItemPath) throws(KeyringError) -> [UInt8]? {
    if let kept = try pending.message(digest) ?? past.messages[digest] { return kept }
    do throws(KeyringError) {
      let bytes = try reader.message(at: path, isLocal: false)
      return bytes.flatMap { ContentDigest(of: $0) == digest ? $0 : nil }
    } catch {
      // A path that is not a regular file, or a file that is too large, is not the encrypted file.
      guard case .itemDamaged = error else { throw error }
      return nil
    }
  }

  // MARK: Writing

  /// Writes all changes to the store.
  func write(to changes: inout WriteTransaction) throws(KeyringError) -> FinishedMerges {
    var finished = FinishedMerges()
    finished.refused = refused
    var placed: Set<ContentDigest> = []
    for path in touched.sorted() {
      switch contents[path] {
      case .version(let version):
        if let file = version.file { placed.insert(ContentDigest(of: file.line)) }
        if try isStored(version, at: path) { continue }
        let item = PreparedItem(record: version.record, message: version.message)
        try changes.settle(item, version.file)
      case .nothing:
        if try !isTaken(path) { continue }
        try changes.vacate(path)
      case .distrusted, .orphan, nil: continue
      }
      finished.items += 1
    }
    for copy in copies where placed.insert(ContentDigest(of: copy.file.line)).inserted {
      changes.addConflictCopy(copy.file, message: copy.message)
      finished.copies += 1
    }
    return finished
  }

  private func isStored(_ version: Version, at path: ItemPath) throws(KeyringError) -> Bool {
    guard let file = version.file, lines[path] == version.record,
      try reader.readableRecord(at: path, isLocal: false) == file.bytes
    else { return false }
    return try reader.message(at: path, isLocal: false) == version.message
  }

  private func isTaken(_ path: ItemPath) throws(KeyringError) -> Bool {
    if lines[path] != nil { return true }
    for file in [StoreLayout.recordFile(path, isLocal: false), StoreLayout.itemFile(path, isLocal: false)]
    where try Keyring.isThere(file, in: keyring.tree) { return true }
    return false
  }
}

extension PendingMergeFiles.Note {
  /// The ids of the items in the note.
  fileprivate var ids: [ItemID] {
    switch change {
    case .edited(let base, let ours, let theirs):
      // Bytes that are not a record have no item id.
      [base, ours, theirs].compactMap { try? RecordFile(parsing: $0).record.id }
    case .removed(let line): [try? IndexLine.parse(line).id].compactMap { $0 }
    }
  }
}
