/// The content of one index file: the lines of all items whose paths belong to the shard.
///
/// A line that cannot be parsed is kept as bytes. Unchanged lines are written byte for byte.
package struct Shard: Sendable {
  /// The maximum size of a shard file, in bytes.
  package static let maximumSize = 4 * 1024 * 1024

  /// One line and its parsed content.
  package struct Line: Sendable {
    /// The bytes of the line without its line feed.
    package let bytes: [UInt8]
    /// The number of the line in the file that was read, from 1; 0 for a line that was added later.
    package let number: Int
    /// The parsed line, or the error if it cannot be parsed.
    package let content: Result<ItemRecord, IndexLineError>
    /// The path of the item; nil for a line that cannot be parsed.
    package let path: ItemPath?

    /// The record; nil for a line that cannot be parsed.
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

    /// Makes the line for a record that is added to a shard.
    fileprivate init(writing record: ItemRecord) throws(ShardError) {
      do throws(IndexLineError) {
        let bytes = try IndexLine.encode(record)
        // The written bytes are parsed again, because writing normalises the values of `record`.
        self.init(bytes: bytes, number: 0, content: .success(try IndexLine.parse(bytes)))
      } catch {
        throw .line(error)
      }
    }
  }

  /// The number of the shard; see ``ItemPath/shard``.
  package let number: UInt8
  /// All lines, in file order; lines that were added later are at the end.
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

  /// A Boolean value that indicates whether the shard can be changed: every line can be parsed, no path occurs twice,
  /// and the size is within the limit.
  package var isWritable: Bool {
    guard fileSize <= Shard.maximumSize else { return false }
    var paths: Set<ItemPath> = []
    for line in lines {
      guard let path = line.path, paths.insert(path).inserted else { return false }
    }
    return true
  }

  /// Adds a record to the shard, replacing the line with the same path.
  ///
  /// - Parameter record: The record. Its path must belong to this shard.
  /// - Throws: ``ShardError`` if the shard is damaged, or if the record belongs to another shard, cannot be written as
  ///   a line, or does not fit. The shard is not changed in these cases.
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

  /// Removes the line of a path.
  ///
  /// - Parameter path: The path of the item.
  /// - Returns: True if there was such a line.
  /// - Throws: ``ShardError/damaged``. The shard is not changed in this case.
  @discardableResult
  package mutating func remove(at path: ItemPath) throws(ShardError) -> Bool {
    guard isWritable else { throw .damaged }
    let count = lines.count
    lines.removeAll { $0.path == path }
    return lines.count < count
  }

  /// Returns the bytes of the file with the lines of some paths replaced. The shard may be damaged: all other lines are
  /// unchanged.
  ///
  /// - Parameters:
  ///   - paths: The paths whose lines are removed.
  ///   - lines: The lines to add, without line feeds, each as written by ``IndexLine/encode(_:)``.
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

  /// Returns the bytes of the file: the lines sorted by path, then the lines that cannot be parsed in their existing
  /// order.
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
  /// The findings about the shard that `check` reports: those of single lines in file order, then duplicates.
  package var problems: [ShardFinding] {
    var problems: [ShardFinding] = []
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
      // The line is within the limits and its canonical form is not, so the two differ.
      return false
    }
  }
}
