package import Encoding

/// The record of an item: the JSON file beside the encrypted one. Its first line is the index line, its second line the
/// proof that a member signed it.
package struct RecordFile: Equatable, Sendable {
  /// The most bytes of a file: an index line and a proof.
  package static let maximumSize = IndexLine.maximumSize + RecordProof.maximumSize + 2

  /// The verified record.
  package let record: ItemRecord
  /// The first line, byte for byte, without its line feed.
  package let line: [UInt8]
  /// The second line.
  package let proof: RecordProof
  /// The bytes of the file.
  package let bytes: [UInt8]

  /// Puts a line and its proof together.
  ///
  /// - Parameters:
  ///   - line: The line of a record, as ``IndexLine/encode(_:)`` writes it.
  ///   - record: What the line says.
  ///   - proof: The proof for exactly this line.
  package init(line: [UInt8], record: ItemRecord, proof: RecordProof) {
    (self.line, self.record, self.proof) = (line, record, proof)
    bytes = line + [Self.newline] + proof.encode() + [Self.newline]
  }

  /// Reads a file. Whether the proof holds is another question; see ``SignedRoot`` and ``MerkleTree``.
  ///
  /// - Parameter bytes: The whole file.
  /// - Throws: ``RecordError`` for anything but two lines in the one form that they have.
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

/// The reason why a file is not the record of an item.
public enum RecordError: Error, Hashable, Sendable {
  /// It does not have two lines, or is larger than any record.
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

/// The second line of a record: how the line above leads to a signed root.
package struct RecordProof: Equatable, Sendable {
  /// The most bytes of a proof, without its line feed.
  package static let maximumSize = 32 << 10
  /// The most nodes of a path: a tree of 2^32 leaves.
  private static let maximumPath = 32

  /// The number of the leaf in the tree, from 0.
  package let leaf: Int
  /// The siblings on the way to the root.
  package let path: [ContentDigest]
  /// The root.
  package let root: ContentDigest
  /// The OpenPGP signed message over a ``SignedRoot``.
  package let signature: [UInt8]

  /// Brings all parts together.
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

  /// Reads a proof; nil when the bytes are not what ``encode()`` gives.
  ///
  /// - Parameter bytes: The line without its line feed.
  package init?(parsing bytes: [UInt8]) {
    let limits = JSONLimits(size: Self.maximumSize, depth: 2)
    // Why it cannot be read does not matter: nothing is believed then.
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

  /// Returns the proofs for some lines, given the signature over their root.
  ///
  /// - Parameters:
  ///   - tree: The tree over the lines.
  ///   - count: How many lines there are.
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
  ///   - content: What the signed message of the proof says; nil when it cannot be read.
  /// - Returns: The statement.
  /// - Throws: ``RecordError/noStatement``, or ``RecordError/notProven`` when the line does not lead to its root.
  package func statement(in content: [UInt8]?) throws(RecordError) -> SignedRoot {
    guard let content, let statement = SignedRoot(parsing: content) else { throw .noStatement }
    let root = MerkleTree.root(
      of: MerkleTree.leaf(of: line), at: proof.leaf, of: statement.leaves, path: proof.path)
    guard let root, root == statement.root, root == proof.root else { throw .notProven }
    return statement
  }
}
