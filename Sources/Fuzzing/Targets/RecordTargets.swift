internal import Encoding
internal import KeyringModel

extension FuzzTarget {
  /// The readers of the files of a store.
  static let recordTargets = [
    FuzzTarget("record", record), FuzzTarget("proof", proof), FuzzTarget("shard", shard),
    FuzzTarget("policy", policy), FuzzTarget("pin", pin),
  ]

  @Sendable private static func record(_ bytes: [UInt8]) {
    if let record = parsed({ () throws(IndexLineError) in try IndexLine.parse(bytes) }) { check(record) }
    guard let file = parsed({ () throws(RecordError) in try RecordFile(parsing: bytes) }) else { return }
    let made = RecordFile(line: file.line, record: file.record, proof: file.proof)
    expect(made.bytes == bytes, "a record that is made from its parts is the same")
    let content = Array(file.line.prefix(200))
    _ = parsed { () throws(RecordError) in try file.statement(in: content) }
  }

  private static func check(_ record: ItemRecord) {
    expect(ItemPath(validating: record.path.text) == record.path, "the path of a record is valid")
    expect(ItemReference(record.reference.text) == record.reference, "the reference of a record is valid")
    // The canonical form can be longer than the limit, for example if a value is normalised.
    guard let line = parsed({ () throws(IndexLineError) in try IndexLine.encode(record) }) else { return }
    guard let again = parsed({ () throws(IndexLineError) in try IndexLine.parse(line) }) else {
      return expect(false, "a written line can be read")
    }
    expect(again.path == record.path, "writing a line keeps its path")
    expect(
      parsed { () throws(IndexLineError) in try IndexLine.encode(again) } == line,
      "the form of a line is stable")
  }

  @Sendable private static func proof(_ bytes: [UInt8]) {
    if let proof = RecordProof(parsing: bytes) {
      expect(proof.encode() == bytes, "a proof has one form")
      let leaf = MerkleTree.leaf(of: bytes)
      _ = MerkleTree.root(of: leaf, at: proof.leaf, of: proof.leaf + 1, path: proof.path)
      _ = MerkleTree.root(of: leaf, at: proof.leaf, of: 1 << 32, path: proof.path)
    }
    if let statement = SignedRoot(parsing: bytes) {
      expect(statement.encode() == bytes, "a statement has one form")
    }
  }

  @Sendable private static func shard(_ bytes: [UInt8]) {
    let shard = Shard(parsing: bytes, number: 0)
    expect(shard.problems.count <= 4 * shard.lines.count + 2, "the number of findings is linear")
    let written = shard.encode()
    expect(written.count <= bytes.count + 1, "writing a shard adds a line feed at most")
    let again = Shard(parsing: written, number: 0)
    expect(again.encode() == written, "the form of a shard is stable")
    expect(again.records == again.lines.compactMap(\.record), "the records are those of the lines")
    var lines = 0
    unsafe bytes.withUnsafeBytes { buffer in
      unsafe ShardScanner.candidates(in: buffer, needles: []) { _, _ in lines += 1 }
      var counter = ShardScanner.LineCounter()
      let needle = Needle([Array("class".utf8)])
      unsafe ShardScanner.candidates(in: buffer, needles: [needle]) { line, offset in
        expect(offset + line.count <= buffer.count, "a candidate is within the shard")
        expect(unsafe counter.number(at: offset, in: buffer) <= lines, "a candidate is a line")
      }
    }
    expect(lines == shard.lines.count, "without needles, every line is a candidate")
  }

  @Sendable private static func policy(_ bytes: [UInt8]) {
    guard let policy = parsed({ () throws(PolicyError) in try Policy.parse(bytes) }) else { return }
    expect(policy.encode() == bytes, "a policy has one form")
    expect(policy.edits(since: policy).isEmpty, "a policy does not differ from itself")
    expect(!policy.admins.isEmpty, "a policy has an admin")
    let pin = Pin(policy: policy, bytes: bytes, keys: [:])
    expect(
      parsed { () throws(PolicyError) in try Pin.parse(pin.encode()) } == pin,
      "the pin of a policy can be read")
  }

  @Sendable private static func pin(_ bytes: [UInt8]) {
    guard let pin = parsed({ () throws(PolicyError) in try Pin.parse(bytes) }) else { return }
    expect(pin.encode() == bytes, "a pin has one form")
  }
}
