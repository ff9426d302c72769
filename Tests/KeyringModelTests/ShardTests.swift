import Encoding
import KeyringModel
import TestSupport
import Testing

@Suite(.serialized)
struct ShardTests {
  /// Returns records whose paths are in one shard.
  static func records(_ count: Int, shard: UInt8 = 0x43, seed: UInt64 = 1) -> [ItemRecord] {
    var found: [ItemRecord] = []
    var number = seed * 1_000_000
    while found.count < count {
      // The path is known here; deriving it from a record for every number would take long.
      let path = "internet-password/host/user\(number)"
      if ContentDigest(of: Array(path.utf8)).bytes[0] >> 4 == shard & 15 {
        let attributes: Attributes = [.server: "host", .account: .string("user\(number)")]
        found.append(Sample.record(attributes, seed: number))
      }
      number += 1
    }
    return found
  }

  static func file(_ records: [ItemRecord]) throws -> [UInt8] {
    try records.sorted { $0.path < $1.path }.flatMap { try IndexLine.encode($0) + [UInt8(ascii: "\n")] }
  }

  static func lines(of bytes: [UInt8]) -> [[UInt8]] {
    bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
  }

  @Test func `a canonical file reads without problems and is written byte for byte`() throws {
    let file = try Self.file(Self.records(20))
    let shard = Shard(parsing: file, number: 0x43)
    #expect(shard.problems == [])
    #expect(shard.isWritable)
    #expect(shard.encode() == file)
    #expect(Shard(parsing: [], number: 7).encode() == [])
    #expect(Shard(parsing: [], number: 7).problems == [])
  }

  @Test(arguments: 0..<20)
  func `puts and removals work like those of a dictionary`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let pool = Self.records(12, seed: seed + 1)
    var model: [ItemPath: ItemRecord] = [:]
    var shard = Shard(parsing: [], number: 0x43)
    for step in 0..<60 {
      guard var record = pool.randomElement(using: &generator) else { continue }
      switch Int.random(in: 0..<4, using: &generator) {
      case 0:
        let isThere = model[record.path] != nil
        #expect(try shard.remove(at: record.path) == isThere)
        model[record.path] = nil
      case 1:
        // Another item replaces the one at the path.
        record.id = ItemID(using: &generator)
        try shard.put(record)
        model[record.path] = record
      case 2:
        // The same id at two paths, as after a merge of two renames: only the path identifies a line.
        guard let other = pool.randomElement(using: &generator) else { continue }
        record.attributes = other.attributes
        try shard.put(record)
        model[record.path] = record
      default:
        record.attributes[.label] = .string("edit \(step)")
        try shard.put(record)
        model[record.path] = record
      }
      let isSame = shard.encode() == (try Self.file(Array(model.values)))
      #expect(isSame)
      #expect(shard.isWritable)
      if step % 10 == 0 { shard = Shard(parsing: shard.encode(), number: 0x43) }
    }
  }

  @Test func `lines that are not changed keep their bytes`() throws {
    let records = Self.records(4).sorted { $0.path < $1.path }
    var lines = try records.map { try IndexLine.encode($0) }
    // Valid lines that are not canonical, one of them with a member of a newer version.
    lines[0].insert(UInt8(ascii: " "), at: 1)
    lines[1].replaceSubrange(1..<1, with: Array("\"aaa\":[1, 2],".utf8))
    lines[2].append(UInt8(ascii: "\r"))
    var shard = Shard(parsing: Array(lines.joined(separator: [UInt8(ascii: "\n")])), number: 0x43)
    #expect(
      shard.problems == [
        .notCanonical(line: 1), .notCanonical(line: 2), .notCanonical(line: 3), .missingFinalLineFeed,
      ])
    var edited = records[3]
    edited.attributes[.comment] = "new"
    try shard.put(edited)
    lines[3] = try IndexLine.encode(edited)
    #expect(Self.lines(of: shard.encode()) == lines)
  }

  @Test func `bad lines are kept, reported and block writes`() throws {
    let records = Self.records(3)
    let good = try records.map { try IndexLine.encode($0) }
    let bad: [([UInt8], IndexLineError)] = [
      ([], .empty),
      (Array("{\"class\":\"key\"}".utf8), .missing("sealed")),
      (Array("<<<<<<< ours".utf8), .json(.unexpectedByte(UInt8(ascii: "<"), offset: 0))),
      ([0, 0, 0], .json(.unexpectedByte(0, offset: 0))),
      ([0xff], .json(.invalidUTF8(offset: 0))),
      (Array(repeating: UInt8(ascii: "x"), count: 20_000), .tooLong(limit: 16384)),
    ]
    for (bytes, error) in bad {
      let file =
        Array([good[0], bytes, good[1]].joined(separator: [UInt8(ascii: "\n")])) + [UInt8(ascii: "\n")]
      var shard = Shard(parsing: file, number: 0x43)
      #expect(shard.problems.contains(.badLine(number: 2, error)))
      #expect(shard.records.count == 2)
      #expect(!shard.isWritable)
      #expect(throws: ShardError.damaged) { try shard.put(records[2]) }
      #expect(throws: ShardError.damaged) { try shard.remove(at: records[0].path) }
      // Encoding loses nothing: the bad line comes last and the size is the same.
      let written = shard.encode()
      let isBehindTheOthers = Shard(parsing: written, number: 0x43).lines.last?.bytes == bytes
      #expect(isBehindTheOthers)
      #expect(written.count == file.count)
    }
  }

  @Test func `a file that is truncated within a line is reported`() throws {
    let file = try Self.file(Self.records(2))
    for length in 0..<file.count {
      let shard = Shard(parsing: Array(file[..<length]), number: 0x43)
      let isWhole = length == 0 || file[length - 1] == UInt8(ascii: "\n")
      #expect(shard.problems.isEmpty == isWhole)
    }
  }

  @Test func `duplicates, a wrong order and records of other shards are reported`() throws {
    let records = Self.records(3).sorted { $0.path < $1.path }
    let stranger = Self.records(1, shard: 0x44)[0]
    var twin = records[0]
    twin.attributes[.label] = "twin"
    var other = records[1]
    var generator = SeededGenerator(seed: 99)
    other.id = ItemID(using: &generator)
    other.modified = Timestamp(microseconds: 0)
    let all = [records[2], records[0], twin, records[1], other, stranger]
    let file = try all.flatMap { try IndexLine.encode($0) + [UInt8(ascii: "\n")] }
    let shard = Shard(parsing: file, number: 0x43)
    let problems = shard.problems
    #expect(problems.contains(.notSorted(line: 2)))
    #expect(problems.contains(.duplicatePath(records[0].path, lines: [2, 3])))
    #expect(problems.contains(.duplicateID(records[0].id, lines: [2, 3])))
    #expect(problems.contains(.duplicatePath(records[1].path, lines: [4, 5])))
    #expect(problems.contains(.wrongShard(line: 6, stranger.path)))
    #expect(!shard.isWritable)
  }

  @Test func `a record of another shard is refused`() {
    let stranger = Self.records(1, shard: 0x44)[0]
    var shard = Shard(parsing: [], number: 0x43)
    #expect(throws: ShardError.wrongShard(stranger.path)) { try shard.put(stranger) }
    #expect(shard.lines.isEmpty)
  }

  @Test func `a record without a valid line is refused`() {
    var record = Self.records(1)[0]
    record.attributes["big"] = .string(String(repeating: "x", count: 5000))
    var shard = Shard(parsing: [], number: 0x43)
    #expect(throws: ShardError.line(.attribute(.valueTooLong("big", limit: 4096)))) { try shard.put(record) }
  }

  @Test func `a shard does not grow beyond its limit`() throws {
    // White space makes each line as long as a line may be.
    let records = Self.records(256)
    let file = try records.dropLast().flatMap { record in
      let line = try IndexLine.encode(record)
      let padding = Array(repeating: UInt8(ascii: " "), count: IndexLine.maximumSize - line.count)
      return line + padding + [UInt8(ascii: "\n")]
    }
    var shard = Shard(parsing: file, number: 0x43)
    var last = records[255]
    let rest = Shard.maximumSize - file.count - (try IndexLine.encode(last).count) - 1
    let values = [
      4000, 4000, 4000, rest - 12_000 - "\"custom\":{\"a\":\"\",\"b\":\"\",\"c\":\"\",\"d\":\"\"},".count,
    ]
    for (name, count) in zip(["a", "b", "c", "d"], values) {
      last.attributes[AttributeName(name)] = .string(String(repeating: "x", count: count))
    }
    var tooLarge = last
    tooLarge.attributes["d"] = .string(String(repeating: "x", count: values[3] + 1))
    #expect(throws: ShardError.full(limit: Shard.maximumSize)) { try shard.put(tooLarge) }
    let isUnchanged = shard.lines.count == 255
    #expect(isUnchanged)
    try shard.put(last)
    let size = shard.encode().count
    #expect(size == Shard.maximumSize)

    let over = Shard(parsing: shard.encode() + [UInt8(ascii: "\n")], number: 0x43)
    #expect(over.problems.first == .tooLarge(size: size + 1, limit: Shard.maximumSize))
    #expect(!over.isWritable)
  }
}
