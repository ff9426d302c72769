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
    let limits = JSONLimits(size: Self.maximumSize, depth: 2)
    // The reason for an error does not matter, because the proof is then not accepted.
    guard let value = try? JSONValue(parsing: bytes, limits: limits),
      case .object(let members) = value, members.map(\.name) == ["leaf", "path", "root", "signature"],
      case .integer(let leaf) = members[0].value, case .array(let path) = members[1].value,
      case .string(let root) = members[2].value, case .string(let signature) = members[3].value,
      leaf >= 0, leaf < 1 << 32, path.count <= Self.maximumPath
    else { return nil }
    var digests: [ContentDigest] = []
    for element in path {
      guard case .string(let text) = element, let digest = ContentDigest(base64url: text) else { return nil }
      digests.append(digest)
    }
    let text = Array(signature.utf8)
    guard let root = ContentDigest(base64url: root),
      let decoded = unsafe text.span.withUnsafeBytes({ unsafe Base64.decode($0, as: .standard) })
    else { return nil }
    self.init(leaf: Int(leaf), path: digests, root: root, signature: decoded)
    guard encode() == bytes else { return nil }
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
    guard let content, let statement = SignedRoot(parsing: content) else { throw .noStatement }
    let root = MerkleTree.root(
      of: MerkleTree.leaf(of: line), at: proof.leaf, of: statement.leaves, path: proof.path)
    guard let root, root == statement.root, root == proof.root else { throw .notProven }
    return statement
  }
}
