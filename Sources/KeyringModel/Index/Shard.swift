/// The value of one index file: the lines of all items whose paths lead to it.
///
/// A line that cannot be read is kept as bytes. Lines that nobody touched are written byte for byte.
package struct Shard: Sendable {
  /// The most bytes of a shard file.
  package static let maximumSize = 4 * 1024 * 1024

  /// One line and what it says.
  package struct Line: Sendable {
    /// The bytes of the line without its line feed.
    package let bytes: [UInt8]
    /// The number of the line in the file that was read, from 1; 0 for a line put since.
    package let number: Int
    /// The parsed line, or the reason why it cannot be read.
    package let content: Result<ItemRecord, IndexLineError>
    /// The path of the item; nil for a line that cannot be read.
    package let path: ItemPath?

    /// The record, or nil for a line that cannot be read.
    package var record: ItemRecord? {
      guard case .success(let record) = content else { return nil }
      return record
    }

    init(bytes: [UInt8], number: Int, content: Result<ItemRecord, IndexLineError>) {
      self.bytes = bytes
      self.number = number
      self.content = content
      if case .success(let record) = content { path = record.path } else { path = nil }
    }

    /// The line for a record that is put into a shard.
    fileprivate init(writing record: ItemRecord) throws(ShardError) {
      do throws(IndexLineError) {
        let bytes = try IndexLine.encode(record)
        // What the index will say is what was written, not what was given: values are normalised.
        self.init(bytes: bytes, number: 0, content: .success(try IndexLine.parse(bytes)))
      } catch {
        throw .line(error)
      }
    }
  }

  /// The number of the shard, the first byte of the SHA-256 of its items' paths.
  package let number: UInt8
  /// All lines, in the order of the file; lines put since are at the end.
  package private(set) var lines: [Line] = []
  private let fileSize: Int
  private let isCutOff: Bool

  /// Reads a shard.
  ///
  /// - Parameters:
  ///   - bytes: The content of the file; empty for a shard that does not exist yet.
  ///   - number: The number of the shard.
  package init(parsing bytes: [UInt8], number: UInt8) {
    self.number = number
    fileSize = bytes.count
    isCutOff = bytes.last.map { $0 != UInt8(ascii: "\n") } ?? false
    let parts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    // A final line feed ends the last line; it does not start an empty one.
    for (index, part) in (isCutOff ? parts[...] : parts.dropLast()).enumerated() {
      let line = Array(part)
      let content: Result<ItemRecord, IndexLineError>
      do throws(IndexLineError) {
        content = .success(try IndexLine.parse(line))
      } catch {
        content = .failure(error)
      }
      lines.append(Line(bytes: line, number: index + 1, content: content))
    }
  }

  /// All records, in the order of the lines.
  package var records: [ItemRecord] { lines.compactMap(\.record) }

  /// A Boolean value that indicates whether the shard can be changed: every line can be read, no path occurs
  /// twice, and the size is within the limit.
  package var isWritable: Bool {
    guard fileSize <= Shard.maximumSize else { return false }
    var paths: Set<ItemPath> = []
    for line in lines {
      guard let path = line.path, paths.insert(path).inserted else { return false }
    }
    return true
  }

  /// Puts a record into the shard; it replaces the line of its path.
  ///
  /// - Parameter record: The record; its path must lead to this shard.
  /// - Throws: ``ShardError`` when the shard is damaged, the record is not of this shard, cannot be written
  ///   as a line, or does not fit any more. The shard is unchanged then.
  package mutating func put(_ record: ItemRecord) throws(ShardError) {
    guard isWritable else { throw .damaged }
    let line = try Line(writing: record)
    if let path = line.path, path.shard != number { throw .wrongShard(path) }
    var changed = lines.filter { $0.path != line.path }
    changed.append(line)
    let size = changed.reduce(0) { $0 + $1.bytes.count + 1 }
    guard size <= Shard.maximumSize else { throw .full(limit: Shard.maximumSize) }
    lines = changed
  }

  /// Takes the line of a path out of the shard.
  ///
  /// - Parameter path: The path of the item.
  /// - Returns: Whether there was such a line.
  /// - Throws: ``ShardError/damaged``; the shard is unchanged then.
  @discardableResult
  package mutating func remove(at path: ItemPath) throws(ShardError) -> Bool {
    guard isWritable else { throw .damaged }
    let count = lines.count
    lines.removeAll { $0.path == path }
    return lines.count < count
  }

  /// Returns the bytes of the file with other lines for some paths, also of a shard that is damaged: what else is in it
  /// stays as it is.
  ///
  /// - Parameters:
  ///   - paths: The paths whose lines go.
  ///   - lines: The lines that come, without line feeds, each as ``IndexLine/encode(_:)`` writes it.
  package func replacingLines(of paths: Set<ItemPath>, by lines: [[UInt8]]) -> [UInt8] {
    var shard = self
    shard.lines.removeAll { $0.path.map(paths.contains) ?? false }
    for bytes in lines {
      do throws(IndexLineError) {
        shard.lines.append(Line(bytes: bytes, number: 0, content: .success(try IndexLine.parse(bytes))))
      } catch {
        shard.lines.append(Line(bytes: bytes, number: 0, content: .failure(error)))
      }
    }
    return shard.encode()
  }

  /// The bytes of the file: lines sorted by path, those that cannot be read behind them in their order.
  package func encode() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(lines.reduce(0) { $0 + $1.bytes.count + 1 })
    for line in lines.enumerated().sorted(by: Shard.isBefore).map(\.element) {
      bytes += line.bytes
      bytes.append(UInt8(ascii: "\n"))
    }
    return bytes
  }

  private static func isBefore(
    _ left: EnumeratedSequence<[Line]>.Element, _ right: EnumeratedSequence<[Line]>.Element
  ) -> Bool {
    switch (left.element.path, right.element.path) {
    case (let first?, let second?) where first != second: first < second
    case (_?, nil): true
    case (nil, _?): false
    default: left.offset < right.offset
    }
  }
}

// MARK: Checking

extension Shard {
  /// Everything about the shard that `check` reports, in the order of the lines.
  package var problems: [ShardProblem] {
    var problems: [ShardProblem] = []
    if fileSize > Shard.maximumSize {
      problems.append(.tooLarge(size: fileSize, limit: Shard.maximumSize))
    }
    var byPath: [ItemPath: [Int]] = [:]
    var byID: [ItemID: [Int]] = [:]
    var last: ItemPath?
    for line in lines {
      switch line.content {
      case .failure(let error):
        problems.append(.badLine(number: line.number, error))
      case .success(let record):
        guard let path = line.path else { continue }
        if path.shard != number { problems.append(.wrongShard(line: line.number, path)) }
        if !Shard.isCanonical(line.bytes, record) { problems.append(.notCanonical(line: line.number)) }
        if let last, path < last { problems.append(.notSorted(line: line.number)) }
        last = path
        byPath[path, default: []].append(line.number)
        byID[record.id, default: []].append(line.number)
      }
    }
    if isCutOff { problems.append(.missingFinalLineFeed) }
    let paths = byPath.filter { $0.value.count > 1 }.sorted { $0.key < $1.key }
    problems += paths.map { .duplicatePath($0.key, lines: $0.value) }
    let ids = byID.filter { $0.value.count > 1 }.sorted { $0.value[0] < $1.value[0] }
    problems += ids.map { .duplicateID($0.key, lines: $0.value) }
    return problems
  }

  private static func isCanonical(_ bytes: [UInt8], _ record: ItemRecord) -> Bool {
    do throws(IndexLineError) {
      return try IndexLine.encode(record) == bytes
    } catch {
      // A line within the limits whose canonical form is not: certainly another form.
      return false
    }
  }
}
