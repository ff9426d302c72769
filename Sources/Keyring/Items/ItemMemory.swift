internal import Encoding
internal import KeyringModel

/// The facts about items that this machine remembers, because a store cannot prove them.
///
/// A signature does not prove who chose a secret, because a later change of the attributes or readers signs the record
/// anew, and the id and the revision of an item are public, so that another person can sign an item that has them. The
/// removal of an item is not signed at all.
///
/// They are stored in `<state>/<keyring>/memory`, one fact in each line, and later lines override earlier ones:
///
/// - `known <place> <revision> <group>`: this user has stored the secret from this machine, or a program has used it here
///   with success.
/// - `ended <place>`: the item was removed or moved, so it is not known any more.
/// - `removed <place> <record>`: the same, and another person has removed it.
///
/// A place is the digest of the path of the item.
struct ItemMemory: Sendable {
  private let base: String
  private let file: String

  /// The size above which the older half of the lines is dropped, in bytes: about 150,000 secrets.
  private static let sizeLimit = 16 << 20

  /// Creates the memory of a keyring. Nothing is read yet.
  ///
  /// - Parameters:
  ///   - base: The folder for the state of this machine, `HostContext.stateBase`.
  ///   - keyring: The id of the keyring.
  init(base: String, keyring: KeyringID) {
    self.base = base
    file = "\(keyring.hex)/memory"
  }

  /// A fact.
  enum Fact {
    /// The secret of an item is known.
    case known(ItemRecord)
    /// The item of a path was removed or moved.
    case ended(ItemPath)
    /// Another person has removed an item.
    case removed(ItemRecord)

    fileprivate var line: [UInt8] {
      switch self {
      case .known(let record):
        Array("\(Word.known) \(ItemMemory.place(record.path)) \(record.revision.hex) \(record.group)".utf8)
      case .ended(let path): Array("\(Word.ended) \(ItemMemory.place(path))".utf8)
      case .removed(let record):
        // A record of the store has a line.
        Array("\(Word.removed) \(ItemMemory.place(record.path)) ".utf8)
          + ((try? IndexLine.encode(record)) ?? [])
      }
    }
  }

  /// The first words of lines.
  private enum Word {
    static let known = "known"
    static let ended = "ended"
    static let removed = "removed"
  }

  // MARK: Reading

  /// Returns true if the secret of an item is known.
  ///
  /// - Parameter record: The verified record of the item.
  func knows(_ record: ItemRecord) -> Bool {
    // The error does not matter: the secret then counts as one that others have stored.
    guard let lines = try? lines() else { return false }
    let line = Fact.known(record).line
    let ends = [Word.ended, Word.removed].map { Array("\($0) \(Self.place(record.path))".utf8) }
    var isKnown = false
    for other in lines {
      if other.elementsEqual(line) {
        isKnown = true
      } else if isKnown, ends.contains(where: other.starts) {
        isKnown = false
      }
    }
    return isKnown
  }

  /// Returns the items that other people have removed.
  ///
  /// - Throws: A file error.
  func removedItems() throws(KeyringError) -> [ItemRecord] {
    var removed: [[UInt8]: ArraySlice<UInt8>] = [:]
    for line in try lines() {
      let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
      guard words.count >= 2 else { continue }
      if words[0].elementsEqual(Word.ended.utf8) { removed[Array(words[1])] = nil }
      if words[0].elementsEqual(Word.removed.utf8), words.count == 3 { removed[Array(words[1])] = words[2] }
    }
    // A line that was not written completely belongs to a change that was not made.
    return removed.values.compactMap { try? IndexLine.parse(Array($0)) }
  }

  private func lines() throws(KeyringError) -> [ArraySlice<UInt8>] {
    guard let tree = try files({ () throws(FileError) in try openBase() }) else { return [] }
    let bytes = try files { () throws(FileError) in try tree.read(file, limit: 2 * Self.sizeLimit) }
    return (bytes ?? []).split(separator: UInt8(ascii: "\n"))
  }

  // MARK: Writing

  /// Adds facts. If no policy was accepted on this machine, the folder does not exist, and nothing is remembered.
  ///
  /// - Throws: A file error.
  func add(_ facts: [Fact]) throws(KeyringError) {
    if facts.isEmpty { return }
    // The line feed comes first, too, because an interrupted write may have truncated the line before.
    let bytes = facts.flatMap { [UInt8(ascii: "\n")] + $0.line } + [UInt8(ascii: "\n")]
    try files { () throws(FileError) in
      guard let tree = try openBase(), try tree.status(RelativePath.parent(of: file)) != nil else { return }
      try tree.appendFile(file, bytes)
      if let size = try tree.status(file)?.size, size > Self.sizeLimit { try dropOldLines(in: tree) }
    }
  }

  /// Ends what is remembered about items. Nothing is written if that is nothing.
  ///
  /// - Throws: A file error.
  func end(_ paths: [ItemPath]) throws(KeyringError) {
    if paths.isEmpty { return }
    let known = Set(
      try lines().compactMap { line in
        line.split(separator: UInt8(ascii: " "), maxSplits: 2).dropFirst().first.map { Array($0) }
      })
    try add(paths.filter { known.contains(Array(Self.place($0).utf8)) }.map { .ended($0) })
  }

  private func dropOldLines(in tree: FileTree) throws(FileError) {
    guard let bytes = try tree.read(file, limit: 2 * Self.sizeLimit) else { return }
    let rest = bytes.suffix(Self.sizeLimit / 2).drop { $0 != UInt8(ascii: "\n") }
    var random = SystemRandomNumberGenerator()
    try tree.replaceFileLater(file, with: Array(rest), temporary: "\(file)-\(ItemID(using: &random).hex)")
  }

  /// Opens the folder for the state; nil if it does not exist.
  private func openBase() throws(FileError) -> FileTree? {
    do {
      return try FileTree(at: base)
    } catch {
      guard error.isMissing else { throw error }
      return nil
    }
  }

  private static func place(_ path: ItemPath) -> String {
    ContentDigest(of: Array(path.text.utf8)).base64url
  }
}
