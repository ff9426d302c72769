internal import KeyringModel

/// The changes that a committed transaction makes to the store: the content of its `commit.json`.
///
/// Each step is idempotent, so an interrupted transaction is applied again from its beginning. Each step names the
/// content that it replaces, removes or moves, so that a record is not applied to a store that has changed since.
struct TransactionRecord: Equatable, Sendable {
  /// One step.
  enum Step: Equatable, Sendable {
    /// The staged file becomes the file at `path`, replacing any file there.
    case place(staged: String, path: String, old: Content)
    /// The file at a path is moved to another path, which is free.
    case move(from: String, to: String, old: Content)
    /// The file at a path is removed.
    case remove(path: String, old: Content)
  }

  /// The content of a path.
  enum Content: Equatable, Sendable {
    case missing
    case file(ContentDigest)
    /// Anything that is not a file of a store: a folder, a link, or a file that is too large.
    case other
  }

  var steps: [Step]

  /// All paths that the steps place, remove or move away.
  var paths: [String] {
    steps.map { step in
      switch step {
      case .place(_, let path, _), .remove(let path, _), .move(let path, _, _): path
      }
    }
  }

  /// The record as canonical JSON with a line feed.
  var bytes: [UInt8] {
    let list = steps.map { step in
      switch step {
      case .place(let staged, let path, let old): Self.object(["path": path, "place": staged], old)
      case .move(let from, let to, let old): Self.object(["move": from, "path": to], old)
      case .remove(let path, let old): Self.object(["remove": path], old)
      }
    }
    let value = JSONValue.object([
      JSONMember("format", .integer(1)), JSONMember("steps", .array(list)),
    ])
    return value.canonicalBytes + [UInt8(ascii: "\n")]
  }

  init(steps: [Step]) { self.steps = steps }

  /// The reasons to refuse a record.
  enum Problem: Error {
    /// The record is not byte for byte what this program would write.
    case unreadable
    /// A newer version wrote the record.
    case unknownFormat
  }

  /// Parses a record.
  init(parsing bytes: [UInt8]) throws(Problem) {
    guard bytes.last == UInt8(ascii: "\n"), let value = Self.parse(bytes.dropLast()),
      case .integer(let format) = value["format"]
    else { throw .unreadable }
    guard format == 1 else { throw .unknownFormat }
    guard case .array(let list) = value["steps"] else { throw .unreadable }
    var steps: [Step] = []
    for entry in list {
      guard let old = Content(text: entry.text("old")) else { throw .unreadable }
      if let path = entry.text("remove") {
        steps.append(.remove(path: path, old: old))
      } else if let path = entry.text("path"), let staged = entry.text("place") {
        steps.append(.place(staged: staged, path: path, old: old))
      } else if let path = entry.text("path"), let from = entry.text("move") {
        steps.append(.move(from: from, to: path, old: old))
      } else {
        throw .unreadable
      }
    }
    self.steps = steps
    guard self.bytes == bytes, steps.allSatisfy(\.isOurs) else { throw .unreadable }
  }

  private static func parse(_ bytes: ArraySlice<UInt8>) -> JSONValue? {
    // The reason does not matter, since a record that does not parse is refused as a whole.
    try? JSONValue(parsing: Array(bytes), limits: JSONLimits(size: StoreLayout.stepsLimit, depth: 4))
  }

  private static func object(_ members: KeyValuePairs<String, String>, _ old: Content) -> JSONValue {
    let old = old.text.map { [JSONMember("old", .string($0))] } ?? []
    return .object(members.map { JSONMember($0.key, .string($0.value)) } + old)
  }
}

extension TransactionRecord.Content {
  /// The value of the member `old`; nil if there is none.
  fileprivate var text: String? {
    switch self {
    case .missing: nil
    case .file(let digest): digest.base64url
    case .other: "other"
    }
  }

  fileprivate init?(text: String?) {
    switch text {
    case nil: self = .missing
    case "other": self = .other
    case let text?:
      guard let digest = ContentDigest(base64url: text) else { return nil }
      self = .file(digest)
    }
  }
}

extension TransactionRecord.Step {
  /// True if this program could have written the step. The folder of a record may have been copied or pushed from
  /// elsewhere, so the record must only affect files that a transaction can write (threat T20).
  fileprivate var isOurs: Bool {
    switch self {
    case .place(let staged, let path, _):
      !staged.isEmpty && staged.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        && (Self.isContent(path) || Self.isQuarantine(path))
    case .move(let from, let to, _): Self.isPlain(from) && Self.isQuarantine(to)
    case .remove(let path, _): Self.isContent(path)
    }
  }

  /// Returns true for items and shards, including those that never leave this machine, and for other tracked files that
  /// a merge places.
  private static func isContent(_ path: String) -> Bool {
    let folders = [StoreLayout.itemsFolder(isLocal: true), StoreLayout.indexFolder(isLocal: true)]
    return StoreLayout.isTracked(path) || isPlain(path) && folders.contains { path.hasPrefix("\($0)/") }
  }

  private static func isQuarantine(_ path: String) -> Bool {
    isPlain(path) && path.hasPrefix("\(StoreLayout.work)/\(StoreLayout.quarantinePrefix)")
  }

  private static func isPlain(_ path: String) -> Bool { RelativePath.isPlain(path) }
}

extension JSONValue {
  /// The value of a member of an object.
  subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  /// The text of a member of an object.
  func text(_ name: String) -> String? {
    guard case .string(let text) = self[name] else { return nil }
    return text
  }
}
