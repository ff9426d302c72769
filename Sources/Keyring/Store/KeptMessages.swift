package import KeyringModel

/// Messages that a merge by plain git had no place for: `.keytree/merged/<digest>.gpg`.
///
/// A merge driver is told of one file at a time and can write to that file alone, so a version of an item that gives
/// way waits here until the next command finds its line, or makes one. A file `<digest>.yields` says that a message
/// gave way to another one with the same secret, so that the line of the item follows. A file `<id>.base` has the line
/// that both sides come from, where one of them took the item away from its place and the other one's line was kept:
/// git then removes the file of that item without asking. A file `<id>.copy` says that a shard has got the line of a
/// conflict copy, whose message is somewhere else still.
package struct KeptMessages: Sendable {
  static let folder = "\(StoreLayout.work)/merged"
  private static let ending = ".gpg"
  private static let mark = ".yields"
  private static let baseMark = ".base"
  private static let copyMark = ".copy"
  let tree: FileTree

  /// Those of the store in a folder.
  package init(of tree: FileTree) { self.tree = tree }

  /// Keeps a message.
  ///
  /// - Throws: a file error.
  package func keep(_ message: [UInt8]) throws(KeyringError) {
    try write("\(ContentDigest(of: message).base64url)\(Self.ending)", message)
  }

  /// Notes that a message gave way.
  ///
  /// - Throws: a file error.
  package func note(yielding digest: ContentDigest) throws(KeyringError) {
    try write("\(digest.base64url)\(Self.mark)", [])
  }

  /// Notes what an item was where both sides come from, of which one has taken it away.
  ///
  /// - Throws: a file error.
  package func note(base: ItemRecord) throws(KeyringError) {
    // What was read from a line can be written as one.
    guard let line = try? IndexLine.encode(base) else { return }
    try write("\(base.id.hex)\(Self.baseMark)", line)
  }

  /// Notes that a shard has got the line of a conflict copy, which needs a file.
  ///
  /// - Throws: a file error.
  package func note(copy id: ItemID) throws(KeyringError) { try write("\(id.hex)\(Self.copyMark)", []) }

  /// The items whose files git may have settled without asking.
  func notedIDs() throws(KeyringError) -> Set<ItemID> {
    var ids = Set(try bases().keys)
    for name in try files(tree.list(Self.folder)) where name.hasSuffix(Self.copyMark) {
      if let id = ItemID(hex: String(name.dropLast(Self.copyMark.utf8.count))) { ids.insert(id) }
    }
    return ids
  }

  /// What is noted of items that one side has taken away from their places: what they were before.
  func bases() throws(KeyringError) -> [ItemID: ItemRecord] {
    var result: [ItemID: ItemRecord] = [:]
    for name in try files(tree.list(Self.folder)) where name.hasSuffix(Self.baseMark) {
      let line = try files { () throws(FileError) in
        try tree.read("\(Self.folder)/\(name)", limit: StoreLayout.shardLimit)
      }
      // A note that was cut off says nothing; the item is settled without it.
      guard let line, let base = try? IndexLine.parse(line) else { continue }
      result[base.id] = base
    }
    return result
  }

  /// Whether a message gave way to another one with the same secret.
  package func yields(_ digest: ContentDigest) -> Bool {
    // Without the note the choice is made as on every clone; `check` compares afterwards.
    (try? tree.status("\(Self.folder)/\(digest.base64url)\(Self.mark)")) ?? nil != nil
  }

  /// Whether anything is kept, or noted.
  package var isEmpty: Bool {
    get throws(KeyringError) { try files(tree.list(Self.folder)).isEmpty }
  }

  /// The kept messages by their digests.
  func messages() throws(KeyringError) -> [ContentDigest: [UInt8]] {
    var result: [ContentDigest: [UInt8]] = [:]
    for name in try files(tree.list(Self.folder)) where name.hasSuffix(Self.ending) {
      let message = try files { () throws(FileError) in
        try tree.read("\(Self.folder)/\(name)", limit: StoreLayout.sealedItemLimit)
      }
      // The name is a hint: what is in the file counts.
      if let message { result[ContentDigest(of: message)] = message }
    }
    return result
  }

  /// Forgets messages that have their place, and all notes.
  func remove(_ digests: [ContentDigest]) throws(KeyringError) {
    let done = Set(digests.map { $0.base64url + Self.ending })
    for name in try files(tree.list(Self.folder)) {
      let isNote = [Self.mark, Self.baseMark, Self.copyMark].contains { name.hasSuffix($0) }
      if done.contains(name) || isNote { try files(tree.remove("\(Self.folder)/\(name)")) }
    }
  }

  private func write(_ name: String, _ bytes: [UInt8]) throws(KeyringError) {
    try files { () throws(FileError) in
      try tree.makeDirectory(Self.folder)
      try tree.replaceFile("\(Self.folder)/\(name)", with: bytes, temporary: "\(Self.folder)/\(name).new")
    }
  }
}
