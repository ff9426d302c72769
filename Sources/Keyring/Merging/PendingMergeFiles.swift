package import KeyringModel

/// The notes of merge drivers about items that plain git has merged: `.keytree/merged`.
///
/// A driver sees one file at a time and cannot sign. It writes git's "theirs" version into the work tree and a note
/// with the versions of both sides. The next command merges the items by member, signs the result, and keeps the losing
/// versions as conflict copies.
package struct PendingMergeFiles: Sendable {
  /// A note of a driver.
  package struct Note: Equatable, Sendable {
    /// The change that a driver found.
    package enum Change: Equatable, Sendable {
      /// Both sides changed or added the record: the files of the common ancestor and of both sides. An empty array
      /// means that there is no file.
      case edited(base: [UInt8], ours: [UInt8], theirs: [UInt8])
      /// One side deleted or renamed the item, and the other side changed, renamed or deleted it as well: the index
      /// line of the common ancestor.
      case removed(line: [UInt8])
    }

    /// The path that git merged: the path of the record, or of the item that the line describes.
    package let path: ItemPath
    /// The change that the driver found.
    package let change: Change
    /// The commit that was checked out when git called the driver; empty if there was none.
    package let head: String
    /// The time of the call, in microseconds since 1970.
    package let time: Int64

    /// Creates a note.
    package init(_ path: ItemPath, _ change: Change, head: String, time: Int64 = FileClock().now() / 1000) {
      (self.path, self.change, self.head, self.time) = (path, change, head, time)
    }
  }

  static let folder = "\(StoreLayout.work)/merged"
  private static let ending = ".merge"
  private static let sizeLimit = 8 * RecordFile.maximumSize

  private let tree: FileTree

  /// Creates access to the notes of a store.
  package init(of tree: FileTree) { self.tree = tree }

  /// True if nothing is pending.
  package var isEmpty: Bool {
    get throws(KeyringError) { try files(tree.list(Self.folder)).isEmpty }
  }

  /// Stores an encrypted file that a note refers to.
  ///
  /// - Throws: A file error.
  package func keep(_ message: [UInt8]) throws(KeyringError) {
    try write("\(ContentDigest(of: message).base64url)\(StoreLayout.secretExtension)", message)
  }

  /// Writes a note.
  ///
  /// - Throws: A file error.
  package func write(_ note: Note) throws(KeyringError) {
    let bytes = note.json.canonicalBytes
    try write("\(ContentDigest(of: bytes).base64url)\(Self.ending)", bytes)
  }

  /// Returns the notes with their file names, the latest first. An incomplete note is left out: its driver failed, so
  /// git did not use its result.
  package func notes() throws(KeyringError) -> [(name: String, note: Note)] {
    var notes: [(name: String, note: Note)] = []
    for name in try files(tree.list(Self.folder)) where name.hasSuffix(Self.ending) {
      let bytes = try read("\(Self.folder)/\(name)", limit: Self.sizeLimit)
      if let bytes, let note = Note(parsing: bytes) { notes.append((name, note)) }
    }
    return notes.sorted { ($0.note.time, $0.name) > ($1.note.time, $1.name) }
  }

  /// Returns the file names of notes that a crash truncated. They are not JSON. A note that another version of Keytree
  /// wrote is JSON, so it is not included.
  package func cutOffNotes() throws(KeyringError) -> [String] {
    var names: [String] = []
    for name in try files(tree.list(Self.folder)) where name.hasSuffix(Self.ending) {
      guard let bytes = try read("\(Self.folder)/\(name)", limit: Self.sizeLimit) else { continue }
      let limits = JSONLimits(size: bytes.count, depth: 64)
      if (try? JSONValue(parsing: bytes, limits: limits)) == nil { names.append(name) }
    }
    return names
  }

  /// Returns the paths of all pending files in the store.
  package func paths() throws(KeyringError) -> [String] {
    try files(tree.list(Self.folder)).sorted().map { "\(Self.folder)/\($0)" }
  }

  /// Returns the encrypted file with a digest; nil if it is not stored.
  package func message(_ digest: ContentDigest) throws(KeyringError) -> [UInt8]? {
    let path = "\(Self.folder)/\(digest.base64url)\(StoreLayout.secretExtension)"
    let bytes = try read(path, limit: StoreLayout.sealedItemLimit)
    return bytes.flatMap { ContentDigest(of: $0) == digest ? $0 : nil }
  }

  /// Removes notes. The encrypted files are removed only if no note is left, because another merge may have written
  /// notes concurrently.
  ///
  /// - Parameter names: The names of the files of the notes.
  package func remove(_ names: [String]) throws(KeyringError) {
    for name in names { try files(tree.remove("\(Self.folder)/\(name)")) }
    let rest = try files(tree.list(Self.folder))
    if rest.contains(where: { $0.hasSuffix(Self.ending) }) { return }
    for name in rest { try files(tree.remove("\(Self.folder)/\(name)")) }
  }

  /// Returns the bytes of a file; nil if it does not exist or is too large.
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
