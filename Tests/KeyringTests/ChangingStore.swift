import Glibc
import Keyring
import KeyringModel
import Secrets
import TestSupport

/// A store that is changed at random, by the library and by direct writes to its files.
struct ChangingStore {
  let store = StandInStore()
  let writer: Keyring
  private let tree: FileTree
  private var generator: SeededGenerator
  /// True if a file was overwritten in place since a test last reset this.
  var isOverwritten = false

  init(seed: UInt64) throws {
    writer = try store.create()
    tree = try store.tree()
    generator = SeededGenerator(seed: seed)
    for _ in 0..<40 { try add() }
  }

  /// Makes one change. Some changes are refused because of an earlier one; then the store is unchanged.
  mutating func change() throws {
    do {
      switch Int.random(in: 0..<14, using: &generator) {
      case 0...2: try add()
      case 3: try update(.label)
      case 4: try update(.account)
      case 5: try delete()
      case 6, 7: try rewriteShard(inPlace: false)
      case 8, 9: try rewriteShard(inPlace: true)
      case 10: try damageShard()
      case 11: try misplaceShard()
      case 12: try moveIndex()
      default: try repair()
      }
    } catch is KeyringError {
    } catch is FileError {
    }
  }

  /// Returns a query about the current items.
  mutating func query() -> Query {
    let records = (try? writer.find(Query()).items) ?? []
    return Sample.randomQuery(about: records, using: &generator)
  }

  // MARK: Changes by the library

  private mutating func add() throws {
    let record = Sample.randomRecord(using: &generator)
    let isLocal = Int.random(in: 0..<4, using: &generator) == 0
    let item = NewItem(itemClass: record.itemClass, attributes: record.attributes, isLocal: isLocal)
    do { try writer.add(item, secret: SecretBytes(text: "s")) } catch KeyringError.itemExists {}
  }

  private mutating func update(_ name: AttributeName) throws {
    guard let record = try writer.find(Query()).items.randomElement(using: &generator) else { return }
    var set = Attributes()
    set[name] = Sample.value(.string, using: &generator)
    try writer.update(record, AttributeChanges(set: set))
  }

  private mutating func delete() throws {
    guard let record = try writer.find(Query()).items.randomElement(using: &generator) else { return }
    try writer.delete([record])
  }

  private func repair() throws {
    try? tree.rename("index.away", to: "index")
    for isLocal in [false, true] {
      let folder = StoreLayout.indexFolder(isLocal: isLocal)
      for name in try tree.list(folder) where try tree.status("\(folder)/\(name)")?.kind != .regular {
        try tree.remove("\(folder)/\(name)")
      }
    }
    _ = try writer.repair()
  }

  // MARK: Direct changes

  private mutating func shard() throws -> (path: String, bytes: [UInt8])? {
    let folder = StoreLayout.indexFolder(isLocal: Int.random(in: 0..<4, using: &generator) == 0)
    guard let name = try tree.list(folder).randomElement(using: &generator),
      let bytes = try tree.read("\(folder)/\(name)", limit: 1 << 20)
    else { return nil }
    return ("\(folder)/\(name)", bytes)
  }

  /// Adds, removes or repeats a line, or changes one to a line of the same length.
  private mutating func rewriteShard(inPlace: Bool) throws {
    guard let (path, bytes) = try shard() else { return }
    var lines = bytes.split(separator: 10).map(Array.init)
    guard let position = lines.indices.randomElement(using: &generator) else { return }
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: lines.append(try IndexLine.encode(Sample.randomRecord(using: &generator)))
    case 1: lines.remove(at: position)
    case 2: lines.append(lines[position])
    default:
      var digits = lines[position]
      // The new line has the same size: only a digit of the creation time differs.
      if let start = digits.firstRange(of: Array("\"created\":\"".utf8))?.upperBound,
        start + 21 < digits.count
      {
        digits[start + 21] = UInt8.random(in: 0x30...0x39, using: &generator)
        lines[position] = digits
      }
    }
    try write(Array(lines.joined(separator: [10])) + [10], to: path, inPlace: inPlace)
  }

  /// Writes a line that cannot be parsed, or a file that ends within a line.
  private mutating func damageShard() throws {
    guard let (path, bytes) = try shard() else { return }
    let damaged =
      Bool.random(using: &generator)
      ? Array("{\"account\":\"alice\",\"x\"\n".utf8) + bytes
      : Array(bytes.dropLast(Int.random(in: 1...80, using: &generator)))
    try write(damaged, to: path, inPlace: Bool.random(using: &generator))
  }

  /// Removes a shard, replaces it with a link, or gives it a second name.
  private mutating func misplaceShard() throws {
    guard let (path, _) = try shard() else { return }
    switch Int.random(in: 0..<6, using: &generator) {
    case 0:
      try tree.remove(path)
      unsafe symlink("/dev/null", "\(store.path)/\(path)")
    case 1: unsafe link("\(store.path)/\(path)", "\(store.path)/\(path).twin")
    default: try tree.remove(path)
    }
  }

  private mutating func moveIndex() throws {
    let isAway = try tree.status("index.away") != nil
    if isAway && Bool.random(using: &generator) {
      ScratchFolder.remove("\(store.path)/index.away")
    } else {
      ScratchFolder.remove(isAway ? "\(store.path)/index" : "\(store.path)/nothing")
      try tree.rename(isAway ? "index.away" : "index", to: isAway ? "index" : "index.away")
    }
  }

  private mutating func write(_ bytes: [UInt8], to path: String, inPlace: Bool) throws {
    guard inPlace else {
      // Like git: the old file is removed and a new one is created.
      try tree.remove(path)
      return try tree.createFile(path, bytes)
    }
    isOverwritten = true
    try overwrite(path, bytes)
  }

  /// Writes into an existing file without replacing it.
  func overwrite(_ path: String, _ bytes: [UInt8]) throws {
    let file = unsafe open("\(store.path)/\(path)", O_WRONLY | O_TRUNC)
    defer { close(file) }
    guard unsafe Glibc.write(file, bytes, bytes.count) == bytes.count else {
      throw FileError("write", path, .system(errno))
    }
  }
}
