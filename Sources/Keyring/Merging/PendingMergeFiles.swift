package import KeyringModel

/// The notes of merge drivers about items that plain git has merged: `.keytree/merged`.
///
/// A driver sees one file at a time and cannot sign. It puts the version of the other side into the work tree and notes
/// what both sides have. The next command merges the items by member, signs the result, and keeps the versions that give
/// way as conflict copies.
package struct PendingMergeFiles: Sendable {
  /// A note of a driver.
  package struct Note: Equatable, Sendable {
    /// What a driver saw.
    package enum Change: Equatable, Sendable {
      /// Both sides changed or added the record: the files of the common ancestor and of both sides, empty for none.
      case edited(base: [UInt8], ours: [UInt8], theirs: [UInt8])
      /// One side deleted or renamed the item, and the other side changed, renamed or deleted it as well: the index line
      /// of the common ancestor.
      case removed(line: [UInt8])
    }

    /// The path that git merged: that of the record, or of the item that the line describes.
    package let path: ItemPath
    /// What the driver saw.
    package let change: Change
    /// The commit that was checked out when git called the driver; empty for none.
    package let head: String
    /// When that was, in microseconds since 1970.
    package let time: Int64

    /// Describes what a driver saw.
    package init(_ path: ItemPath, _ change: Change, head: String, time: Int64 = FileClock().now() / 1000) {
      (self.path, self.change, self.head, self.time) = (path, change, head, time)
    }
  }

  static let folder = "\(StoreLayout.work)/merged"
  private static let ending = ".merge"
  private static let sizeLimit = 8 * RecordFile.maximumSize

  private let tree: FileTree

  /// The notes of the store in a folder.
  package init(of tree: FileTree) { self.tree = tree }

  /// True if nothing is pending.
  package var isEmpty: Bool {
    get throws(KeyringError) { try files(tree.list(Self.folder)).isEmpty }
  }

  /// Keeps an encrypted file.
  ///
  /// - Throws: a file error.
  package func keep(_ message: [UInt8]) throws(KeyringError) {
    try write("\(ContentDigest(of: message).base64url)\(StoreLayout.secretExtension)", message)
  }

  /// Writes a note.
  ///
  /// - Throws: a file error.
  package func write(_ note: Note) throws(KeyringError) {
    let bytes = note.json.canonicalBytes
    try write("\(ContentDigest(of: bytes).base64url)\(Self.ending)", bytes)
  }

  /// The notes by the names of their files, the latest first. A note that was cut off is left out: its driver did not
  /// succeed, so git did not take its result.
  package func notes() throws(KeyringError) -> [(name: String, note: Note)] {
    var notes: [(name: String, note: Note)] = []
    for name in try files(tree.list(Self.folder)) where name.hasSuffix(Self.ending) {
      let bytes = try read("\(Self.folder)/\(name)", limit: Self.sizeLimit)
      if let bytes, let note = Note(parsing: bytes) { notes.append((name, note)) }
    }
    return notes.sorted { ($0.note.time, $0.name) > ($1.note.time, $1.name) }
  }

  /// The names of the files of notes that were cut off by a crash: they are no JSON. What another version has written
  /// is JSON, and is not among them.
  package func cutOffNotes() throws(KeyringError) -> [String] {
    var names: [String] = []
    for name in try files(tree.list(Self.folder)) where name.hasSuffix(Self.ending) {
      guard let bytes = try read("\(Self.folder)/\(name)", limit: Self.sizeLimit) else { continue }
      let limits = JSONLimits(size: bytes.count, depth: 64)
      if (try? JSONValue(parsing: bytes, limits: limits)) == nil { names.append(name) }
    }
    return names
  }

  /// The paths in the store of everything that is pending.
  package func paths() throws(KeyringError) -> [String] {
    try files(tree.list(Self.folder)).sorted().map { "\(Self.folder)/\($0)" }
  }

  /// The encrypted file with a digest; nil if it is not kept.
  package func message(_ digest: ContentDigest) throws(KeyringError) -> [UInt8]? {
    let path = "\(Self.folder)/\(digest.base64url)\(StoreLayout.secretExtension)"
    let bytes = try read(path, limit: StoreLayout.sealedItemLimit)
    return bytes.flatMap { ContentDigest(of: $0) == digest ? $0 : nil }
  }

  /// Removes notes. The encrypted files are removed with the last note; another merge may have written notes meanwhile.
  ///
  /// - Parameter names: The names of the files of the notes.
  package func remove(_ names: [String]) throws(KeyringError) {
    for name in names { try files(tree.remove("\(Self.folder)/\(name)")) }
    let rest = try files(tree.list(Self.folder))
    if rest.contains(where: { $0.hasSuffix(Self.ending) }) { return }
    for name in rest { try files(tree.remove("\(Self.folder)/\(name)")) }
  }

  /// The bytes of a file; nil for one that does not exist or is too large.
  private func read(_ path: String, limit: Int) throws(KeyringError) -> [UInt8]? {
    do throws(FileError) {
      return try tree.read(path, limit: limit)
    } catch {
      if case .tooLarge = error.reason { return nil }
      throw .file(error)
    }
  }

  private func write(_ name: String, _ bytes: [UInt8]) throws(KeyringError) {
    try files { () throws(FileError) in
      try tree.makeDirectory(Self.folder)
      try tree.replaceFile("\(Self.folder)/\(name)", with: bytes, temporary: "\(Self.folder)/\(name).new")
    }
  }
}

extension PendingMergeFiles.Note {
  fileprivate var json: JSONValue {
    func text(_ bytes: [UInt8]) -> JSONValue {
      .string(String(decoding: Base64.encode(bytes, as: .standard), as: UTF8.self))
    }
    let parts: [JSONMember]
    switch change {
    case .edited(let base, let ours, let theirs):
      parts = [
        JSONMember("base", text(base)), JSONMember("ours", text(ours)), JSONMember("theirs", text(theirs)),
      ]
    case .removed(let line): parts = [JSONMember("line", text(line))]
    }
    return .object(
      parts + [
        JSONMember("head", .string(head)), JSONMember("path", .string(path.text)),
        JSONMember("time", .integer(time)),
      ])
  }

  fileprivate init?(parsing bytes: [UInt8]) {
    let limits = JSONLimits(size: bytes.count, depth: 2)
    guard let value = try? JSONValue(parsing: bytes, limits: limits) else { return nil }
    func file(_ name: String) -> [UInt8]? {
      guard let text = value.text(name).map({ Array($0.utf8) }) else { return nil }
      return unsafe text.span.withUnsafeBytes { unsafe Base64.decode($0, as: .standard) }
    }
    guard let path = value.text("path").flatMap({ ItemPath(validating: $0) }), let head = value.text("head"),
      case .integer(let time) = value["time"],
      head.isEmpty || (head.utf8.count >= 40 && head.allSatisfy { "0123456789abcdef".contains($0) })
    else { return nil }
    if let base = file("base"), let ours = file("ours"), let theirs = file("theirs") {
      self.init(path, .edited(base: base, ours: ours, theirs: theirs), head: head, time: time)
    } else if let line = file("line") {
      self.init(path, .removed(line: line), head: head, time: time)
    } else {
      return nil
    }
  }
}
