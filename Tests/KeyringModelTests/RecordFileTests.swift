import Encoding
import KeyringModel
import TestSupport
import Testing

/// Tests records and their signed statements: each has one spelling, and no other is read.
@Suite(.serialized)
struct RecordFileTests {
  private static let keyring = KeyringID(hex: "00112233445566778899aabbccddeeff")

  /// Returns the files of some records with one statement, and the statement.
  private static func files(_ count: Int, seed: UInt64 = 1) throws -> (files: [RecordFile], content: [UInt8])
  {
    var generator = SeededGenerator(seed: seed)
    let records = (0..<count).map { _ in Sample.randomRecord(using: &generator) }
    let lines = try records.map { try IndexLine.encode($0) }
    let tree = MerkleTree(leaves: lines.map { MerkleTree.leaf(of: $0) })
    let statement = SignedRoot(
      keyring: try #require(keyring), root: tree.root, leaves: count,
      time: Timestamp(microseconds: 1_790_000_000_000_001))
    let proofs = RecordProof.all(of: tree, count: count, signature: Array("signature \(seed)".utf8))
    let files = zip(zip(records, lines), proofs).map { RecordFile(line: $0.1, record: $0.0, proof: $1) }
    return (files, statement.encode())
  }

  @Test(arguments: [1, 2, 3, 7, 64, 200])
  func `a written record reads back unchanged and is proven`(count: Int) throws {
    let (files, content) = try Self.files(count)
    for file in files {
      let read = try RecordFile(parsing: file.bytes)
      #expect(read == file)
      #expect(read.bytes == file.line + [10] + file.proof.encode() + [10])
      #expect(try read.statement(in: content).leaves == count)
    }
  }

  @Test func `a record has the form in the format document`() throws {
    let (files, content) = try Self.files(2)
    let proof = files[1].proof
    let sibling = MerkleTree.leaf(of: files[0].line).base64url
    #expect(
      String(decoding: proof.encode(), as: UTF8.self)
        == #"{"leaf":1,"path":["\#(sibling)"],"root":"\#(proof.root.base64url)","signature":"c2lnbmF0dXJlIDE="}"#
    )
    #expect(
      String(decoding: content, as: UTF8.self)
        == #"{"format":1,"keyring":"00112233445566778899aabbccddeeff","leaves":2,"#
        + #""root":"\#(proof.root.base64url)","time":"2026-09-21T14:13:20.000001Z"}"#)
  }

  @Test func `no byte of a record can be changed`() throws {
    let (files, content) = try Self.files(5)
    for file in files {
      for place in file.bytes.indices {
        for bit in [UInt8(1), 0x20, 0x80] {
          var bytes = file.bytes
          bytes[place] ^= bit
          let read = try? RecordFile(parsing: bytes)
          // With other bytes of the signature it is another message, and only GnuPG can verify it.
          if let read, read.proof.signature != file.proof.signature { continue }
          let statement = try? read?.statement(in: content)
          #expect(statement == nil, "byte \(place), bit \(bit)")
        }
      }
    }
  }

  @Test func `a record that is truncated anywhere or has additional bytes is refused`() throws {
    let (files, content) = try Self.files(3)
    let file = files[1]
    for length in file.bytes.indices {
      #expect(throws: RecordError.self) { try RecordFile(parsing: Array(file.bytes.prefix(length))) }
    }
    let proof = file.proof.encode()
    let others: [[UInt8]] = [
      file.bytes + [10], [10] + file.bytes, file.line + [13, 10] + proof + [10],
      file.line + [10, 10] + proof + [10],
      file.bytes + file.bytes, file.line + [10] + proof, proof + [10] + file.line + [10], file.bytes + [0],
      [0xef, 0xbb, 0xbf] + file.bytes, file.line + [10] + proof + [32, 10],
      file.line + [10, 32] + proof + [10],
    ]
    for (number, bytes) in others.enumerated() {
      // JSON allows spaces around a line, so the line can be read, but it is not the signed one.
      #expect(throws: RecordError.self, "\(number)") {
        _ = try RecordFile(parsing: bytes).statement(in: content)
      }
    }
    let large = file.bytes + [UInt8](repeating: 32, count: RecordFile.maximumSize)
    #expect(throws: RecordError.notARecord) { try RecordFile(parsing: large) }
  }

  @Test func `the proof of another record is refused`() throws {
    let (files, content) = try Self.files(6)
    for file in files {
      for other in files where other != file {
        let swapped = RecordFile(line: file.line, record: file.record, proof: other.proof)
        #expect(throws: RecordError.notProven) { try swapped.statement(in: content) }
      }
      #expect(throws: RecordError.noStatement) { try file.statement(in: nil) }
      #expect(throws: RecordError.noStatement) { try file.statement(in: content + [10]) }
      let (_, foreign) = try Self.files(6, seed: 2)
      #expect(throws: RecordError.notProven) { try file.statement(in: foreign) }
    }
  }

  static let badProofs: [(String, String)] = [
    ("\"leaf\":1", "\"leaf\":-1"), ("\"leaf\":1", "\"leaf\":4294967296"), ("\"leaf\":1", "\"leaf\":1.0"),
    ("\"leaf\":1", "\"leaf\":\"1\""), ("\"leaf\":1", "\"leaf\":01"), ("\"leaf\":1,", ""),
    ("\"leaf\":1", "\"leaf\":1,\"leaf\":1"), ("\"leaf\":1", "\"index\":1"),
    ("\"leaf\":1", "\"a\":1,\"leaf\":1"),
    ("\"path\":[", "\"path\":[1,"), ("\"path\":[", "\"path\":[\"x\","), ("\"path\":[", "\"path\":[[],"),
    ("\"path\":[\"", "\"path\":[ \""), ("\"root\":\"", "\"root\":\"="), ("\"root\"", "\"r\\u006fot\""),
    ("c2lnbmF0dXJlIDE=", "c2lnbmF0dXJlIDE"), ("c2lnbmF0dXJlIDE=", "c2lnbmF0dXJlIDF="),
    ("c2lnbmF0dXJlIDE=", "c2lnbmF0dXJl IDE="), ("c2lnbmF0dXJlIDE=\"", "c2lnbmF0dXJlIDE=\",\"z\":1"),
    ("{", " {"), ("}", "}}"), ("{", "["),
  ]

  @Test(arguments: badProofs.indices)
  func `a proof in any other form is refused`(index: Int) throws {
    let (old, new) = Self.badProofs[index]
    let text = String(decoding: try Self.files(2).files[1].proof.encode(), as: UTF8.self)
    let changed = text.replacing(old, with: new)
    try #require(changed != text)
    #expect(RecordProof(parsing: Array(changed.utf8)) == nil)
  }

  @Test func `a path has at most 32 nodes and a proof at most 32 KiB`() throws {
    let digest = ContentDigest(of: [])
    func proof(_ nodes: Int, signature: Int = 1) -> RecordProof {
      RecordProof(
        leaf: 0, path: Array(repeating: digest, count: nodes), root: digest,
        signature: [UInt8](repeating: 1, count: signature))
    }
    #expect(RecordProof(parsing: proof(32).encode()) == proof(32))
    #expect(RecordProof(parsing: proof(33).encode()) == nil)
    #expect(RecordProof(parsing: proof(0, signature: 24_000).encode()) != nil)
    #expect(RecordProof(parsing: proof(0, signature: 24_600).encode()) == nil)
  }

  static let badStatements: [(String, String)] = [
    ("\"format\":1", "\"format\":2"), ("\"format\":1,", ""), ("\"format\":1", "\"format\":\"1\""),
    ("\"leaves\":2", "\"leaves\":0"), ("\"leaves\":2", "\"leaves\":-2"),
    ("\"leaves\":2", "\"leaves\":4294967297"),
    ("\"leaves\":2", "\"leaves\":\"2\""), ("\"leaves\":2,", ""), ("00112233", "0011223"),
    ("00112233", "001122AA"),
    ("\"keyring\":\"00112233445566778899aabbccddeeff\",", ""), ("Z\"", "+00:00\""), (".000001Z", "Z"),
    ("\"leaves\":2", "\"leaves\":2,\"more\":1"), ("{", "{ "), ("}", "}\n"),
    ("{\"format\"", "{\"a\":1,\"format\""),
  ]

  @Test(arguments: badStatements.indices)
  func `a statement in any other form is refused`(index: Int) throws {
    let (old, new) = Self.badStatements[index]
    let (_, content) = try Self.files(2)
    let text = String(decoding: content, as: UTF8.self)
    let changed = text.replacing(old, with: new)
    try #require(changed != text)
    #expect(SignedRoot(parsing: content) != nil)
    #expect(SignedRoot(parsing: Array(changed.utf8)) == nil)
    #expect(SignedRoot(parsing: content + [UInt8](repeating: 32, count: 1024)) == nil)
  }
}
