package import Encoding

/// The record of an item: the JSON file beside the encrypted one. Its first line is the index line, its second line the
/// proof that a member signed it.
package struct RecordFile: Equatable, Sendable {
  /// The maximum size of a file in bytes: an index line and a proof.
  package static let maximumSize = IndexLine.maximumSize + RecordProof.maximumSize + 2

  /// The record in the first line.
  package let record: ItemRecord
  /// The first line, byte for byte, without its line feed.
  package let line: [UInt8]
  /// The second line.
  package let proof: RecordProof
  /// The bytes of the file.
  package let bytes: [UInt8]

  /// Makes a file from a line and its proof.
  ///
  /// - Parameters:
  ///   - line: The line of a record, as ``IndexLine/encode(_:)`` writes it.
  ///   - record: The parsed line.
  ///   - proof: The proof for exactly this line.
  package init(line: [UInt8], record: ItemRecord, proof: RecordProof) {
    (self.line, self.record, self.proof) = (line, record, proof)
    bytes = line + [Self.newline] + proof.encode() + [Self.newline]
  }

  /// Parses a file without checking the proof; see ``SignedRoot`` and ``MerkleTree``.
  ///
  /// - Parameter bytes: The whole file.
  /// - Throws: ``RecordError`` if the file does not consist of an index line and a proof in their only form.
  package init(parsing bytes: [UInt8]) throws(RecordError) {
    guard bytes.count <= Self.maximumSize else { throw .notARecord }
    let lines = bytes.split(separator: Self.newline, omittingEmptySubsequences: false)
    guard lines.count == 3, lines[2].isEmpty else { throw .notARecord }
    line = Array(lines[0])
    do throws(IndexLineError) {
      record = try IndexLine.parse(line)
    } catch {
      throw .line(error)
    }
    guard let proof = RecordProof(parsing: Array(lines[1])) else { throw .noProof }
    self.proof = proof
    self.bytes = bytes
  }

  private static let newline = UInt8(ascii: "\n")
}

/// The reasons why a file is not the record of an item.
public enum RecordError: Error, Hashable, Sendable {
  /// The file does not have two lines, or is larger than any record.
  case notARecord
  /// The first line cannot be read.
  case line(IndexLineError)
  /// The second line is not a proof.
  case noProof
  /// The proof is not for this line: the line, the path or the root was changed.
  case notProven
  /// The signed text is not a statement of this format.
  case noStatement
}

/// The second line of a record: the path from the first line to a signed root.
package struct RecordProof: Equatable, Sendable {
  /// The maximum size of a proof in bytes, without its line feed.
  package static let maximumSize = 32 << 10
  /// The maximum number of nodes of a path: that of a tree of 2^32 leaves.
  private static let maximumPath = 32

  /// The number of the leaf in the tree, from 0.
  package let leaf: Int
  /// The siblings on the path to the root.
  package let path: [ContentDigest]
  /// The root.
  package let root: ContentDigest
  /// The OpenPGP signed message over a ``SignedRoot``.
  package let signature: [UInt8]

  /// Makes a proof from its parts.
  package init(leaf: Int, path: [ContentDigest], root: ContentDigest, signature: [UInt8]) {
    (self.leaf, self.path, self.root, self.signature) = (leaf, path, root, signature)
  }

  /// Writes the proof as canonical JSON without a line feed.
  package func encode() -> [UInt8] {
    JSONValue.object([
      JSONMember("leaf", .integer(Int64(leaf))),
      JSONMember("path", .array(path.map { .string($0.base64url) })),
      JSONMember("root", .string(root.base64url)),
      JSONMember(
        "signature", .string(String(decoding: Base64.encode(signature, as: .standard), as: UTF8.self))),
    ]).canonicalBytes
  }

  /// Parses a proof; nil if the bytes differ from the result of ``encode()``.
  ///
  /// - Parameter bytes: The line without its line feed.
  package init?(parsing bytes: [UInt8]) {
    guard bytes.count <= Self.maximumSize else { return nil }
    // The form has no freedom: members in a fixed order, no spaces, no escapes, one spelling for each value.
    var text = CanonicalText(bytes)
    guard text.take("{\"leaf\":"), let leaf = text.takeNumber(), leaf < 1 << 32, text.take(",\"path\":[")
    else {
      return nil
    }
    var path: [ContentDigest] = []
    while !text.take("]") {
      guard path.count < Self.maximumPath, path.isEmpty || text.take(","), let digest = text.takeDigest()
      else {
        return nil
      }
      path.append(digest)
    }
    guard text.take(",\"root\":"), let root = text.takeDigest(), text.take(",\"signature\":"),
      let quoted = text.takeQuoted(),
      let signature = unsafe quoted.withUnsafeBytes({ unsafe Base64.decode($0, as: .standard) }),
      text.take("}"), text.isAtEnd
    else { return nil }
    self.init(leaf: leaf, path: path, root: root, signature: signature)
  }

  /// Returns the proofs for all lines, given the signature over their root.
  ///
  /// - Parameters:
  ///   - tree: The tree over the lines.
  ///   - count: The number of lines.
  ///   - signature: The signed message over the statement about the tree.
  package static func all(of tree: MerkleTree, count: Int, signature: [UInt8]) -> [RecordProof] {
    (0..<count).map {
      RecordProof(leaf: $0, path: tree.path(of: $0), root: tree.root, signature: signature)
    }
  }
}

extension RecordFile {
  /// Checks the proof against the statement that was signed, without looking at the signature.
  ///
  /// - Parameters:
  ///   - content: The content of the proof's signed message; nil if it cannot be read.
  /// - Returns: The statement.
  /// - Throws: ``RecordError/noStatement``, or ``RecordError/notProven`` if the path does not lead from the line to the
  ///   signed root.
  package func statement(in content: [UInt8]?) throws(RecordError) -> SignedRoot {
    try check(content.flatMap { SignedRoot(parsing: $0) })
  }

  /// Checks the proof against a statement that was read before.
  ///
  /// - Parameter statement: The statement in the proof's signed message; nil if it cannot be read.
  /// - Returns: The statement.
  /// - Throws: As ``statement(in:)``.
  package func check(_ statement: SignedRoot?) throws(RecordError) -> SignedRoot {
    guard let statement else { throw .noStatement }
    let root = MerkleTree.root(
      of: MerkleTree.leaf(of: line), at: proof.leaf, of: statement.leaves, path: proof.path)
    guard let root, root == statement.root, root == proof.root else { throw .notProven }
    return statement
  }
}

/// Takes the parts of a text that has only one form.
private struct CanonicalText {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  /// Takes a text; returns false if another one is next.
  mutating func take(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard bytes.count - position >= count else { return false }
    for index in 0..<count where unsafe bytes[position + index] != text.utf8Start[index] { return false }
    position += count
    return true
  }

  /// Takes a number of at most ten digits, without leading zeros.
  mutating func takeNumber() -> Int? {
    let start = position
    var number = 0
    while position < bytes.count, position - start <= 10,
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position])
    {
      number = number * 10 + Int(bytes[position] - UInt8(ascii: "0"))
      position += 1
    }
    let count = position - start
    guard count > 0, count <= 10, count == 1 || bytes[start] != UInt8(ascii: "0") else { return nil }
    return number
  }

  /// Takes the text between two quotation marks.
  mutating func takeQuoted() -> ArraySlice<UInt8>? {
    guard take("\""), let end = bytes[position...].firstIndex(of: UInt8(ascii: "\"")) else { return nil }
    defer { position = end + 1 }
    return bytes[position..<end]
  }

  /// Takes a digest between quotation marks.
  mutating func takeDigest() -> ContentDigest? {
    guard let text = takeQuoted() else { return nil }
    return unsafe text.withUnsafeBytes { unsafe ContentDigest(base64url: $0) }
  }
}
