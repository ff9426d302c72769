package import Encoding

/// The statement that a member signs for a transaction: the root of the tree over its records.
package struct SignedRoot: Equatable, Sendable {
  /// The format that this version writes.
  package static let format: Int64 = 1
  /// The maximum size of a statement, in bytes.
  package static let maximumSize = 1024

  /// The keyring that the records belong to.
  package let keyring: KeyringID
  /// The root of the tree.
  package let root: ContentDigest
  /// The number of leaves of the tree.
  package let leaves: Int
  /// The time of the signature, by the signer's clock.
  package let time: Timestamp

  /// Makes a statement from its parts.
  package init(keyring: KeyringID, root: ContentDigest, leaves: Int, time: Timestamp) {
    (self.keyring, self.root, self.leaves, self.time) = (keyring, root, leaves, time)
  }

  /// Writes the statement as one line of canonical JSON, without a line feed.
  package func encode() -> [UInt8] {
    JSONValue.object([
      JSONMember("format", .integer(Self.format)), JSONMember("keyring", .string(keyring.hex)),
      JSONMember("leaves", .integer(Int64(leaves))), JSONMember("root", .string(root.base64url)),
      JSONMember("time", .string(time.rfc3339)),
    ]).canonicalBytes
  }

  /// Parses a statement; nil if the bytes differ from the result of ``encode()``.
  ///
  /// - Parameter bytes: The signed bytes.
  package init?(parsing bytes: [UInt8]) {
    // The reason for an error does not matter, because the statement is then not accepted.
    guard
      let fields = try? PolicyFields(parsing: bytes, size: Self.maximumSize, format: Self.format),
      let statement = try? Self.read(fields), statement.encode() == bytes
    else { return nil }
    self = statement
  }

  private static func read(_ fields: PolicyFields) throws(PolicyError) -> SignedRoot {
    var fields = fields
    let leaves = try fields.takeInteger("leaves")
    guard let keyring = KeyringID(hex: try fields.takeString("keyring")),
      let root = ContentDigest(base64url: try fields.takeString("root")),
      let time = Timestamp(rfc3339: try fields.takeString("time")), leaves > 0, leaves <= 1 << 32
    else { throw .invalid("root") }
    try fields.finish()
    return SignedRoot(keyring: keyring, root: root, leaves: Int(leaves), time: time)
  }
}
