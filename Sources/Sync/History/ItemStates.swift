internal import Keyring
internal import KeyringModel

/// Reads what commits say about one item; the content of every file is read once.
struct ItemStates {
  /// The item in one commit.
  struct State {
    /// The first line of its record; nil when there is none.
    var record: ItemRecord?
    /// True if there is a file that cannot be read and that might be the record of the item.
    var isUnknown = false
  }

  /// A record in one commit.
  struct Place: Hashable {
    /// The full name of the commit.
    let commit: String
    /// The path of the item.
    let path: ItemPath
  }

  private let id: ItemID
  private let prefix: String
  private let objects: ObjectReader
  /// By the name of the content of a file.
  private var known: [String: State] = [:]

  /// The number of files that are read at once.
  private static let pieceSize = 1024

  /// Begins to read about an item.
  init(of id: ItemID, in repository: Repository) {
    self.id = id
    prefix = repository.prefix
    objects = ObjectReader(git: repository.git)
  }

  /// Returns what records say about the item; nothing for a file that does not exist.
  ///
  /// - Throws: as `Git.run`.
  mutating func states(at places: Set<Place>) throws -> [Place: State] {
    let names = try objects.names(of: places.map(text))
    try read(Set(names.values))
    var states: [Place: State] = [:]
    for place in places {
      if let name = names[text(place)] { states[place] = known[name] }
    }
    return states
  }

  private func text(_ place: Place) -> String {
    "\(place.commit):\(prefix)\(StoreLayout.recordFile(place.path, isLocal: false))"
  }

  private mutating func read(_ names: Set<String>) throws {
    let missing = names.filter { known[$0] == nil }.sorted()
    for start in stride(from: 0, to: missing.count, by: Self.pieceSize) {
      let piece = missing[start..<min(start + Self.pieceSize, missing.count)]
      for (name, bytes) in try objects.contents(of: piece, limit: RecordFile.maximumSize) {
        known[name] = State(of: id, in: bytes)
      }
    }
  }
}

extension ItemStates.State {
  /// Reads the record of an item from the bytes of a file.
  init(of id: ItemID, in bytes: [UInt8]) {
    guard let record = ItemRecord(firstLineOf: bytes) else {
      self.init(isUnknown: true)
      return
    }
    self.init(record: record.id == id ? record : nil)
  }

  /// Combines what several files say. Of several records, as plain git may leave them, the latest one counts.
  init(_ states: some Collection<Self>) {
    record = states.compactMap(\.record).max { $0.modified < $1.modified }
    isUnknown = record == nil && states.contains(where: \.isUnknown)
  }
}

extension ItemRecord {
  /// Reads the first line of a record file, without looking at the proof; nil when it cannot be read.
  init?(firstLineOf bytes: [UInt8]) {
    guard bytes.count <= RecordFile.maximumSize, let end = bytes.firstIndex(of: UInt8(ascii: "\n")),
      // The reason does not matter: what a history has cannot be repaired.
      let record = try? IndexLine.parse(Array(bytes[..<end]))
    else { return nil }
    self = record
  }
}
