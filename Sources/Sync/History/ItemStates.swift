internal import Keyring
internal import KeyringModel

/// Reads the state of one item in commits. Each file content is read only once.
struct ItemStates {
  /// The item in one commit.
  struct State {
    /// The first line of its record; nil if there is none.
    var record: ItemRecord?
    /// True if a file that may be the record of the item cannot be read.
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
  /// The states by the object name of the file.
  private var known: [String: State] = [:]

  /// The number of files that are read at once.
  private static let pieceSize = 1024

  /// Creates a reader for an item.
  init(of id: ItemID, in repository: Repository) {
    self.id = id
    prefix = repository.prefix
    objects = ObjectReader(git: repository.git)
  }

  /// Returns the states of the item at some places, without those where no file exists.
  ///
  /// - Throws: The errors of `Git.run`.
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
  /// Creates the state of an item from the bytes of a record file.
  init(of id: ItemID, in bytes: [UInt8]) {
    guard let record = ItemRecord(firstLineOf: bytes) else {
      self.init(isUnknown: true)
      return
    }
    self.init(record: record.id == id ? record : nil)
  }

  /// Combines the states from several files. If there are several records, which plain git can produce, the latest one
  /// is used.
  init(_ states: some Collection<Self>) {
    record = states.compactMap(\.record).max { $0.modified < $1.modified }
    isUnknown = record == nil && states.contains(where: \.isUnknown)
  }
}

extension ItemRecord {
  /// Reads the first line of a record file without checking the proof; nil if it cannot be read.
  init?(firstLineOf bytes: [UInt8]) {
    guard bytes.count <= RecordFile.maximumSize, let end = bytes.firstIndex(of: UInt8(ascii: "\n")),
      // The reason does not matter, because the history cannot be repaired.
      let record = try? IndexLine.parse(Array(bytes[..<end]))
    else { return nil }
    self = record
  }
}
