import Encoding
import KeyringModel
import TestSupport
import Testing

/// A change that an attacker makes to the two files of an item so that the index still agrees with the record.
struct RecordSabotage: Sendable, CustomTestStringConvertible {
  let name: String
  let act: @Sendable (ForgeryFixture, ItemRecord) throws -> Void

  var testDescription: String { name }

  init(_ name: String, _ act: @escaping @Sendable (ForgeryFixture, ItemRecord) throws -> Void) {
    (self.name, self.act) = (name, act)
  }

  /// Rewrites the file of a record from its changed lines 1 and 2.
  private static func rewrite(
    _ world: ForgeryFixture, _ item: ItemRecord, _ change: (RecordFile) throws -> [UInt8]
  ) throws {
    let path = ForgeryFixture.recordFile(item)
    try world.write(try change(try RecordFile(parsing: try world.bytes(path))), to: path)
  }

  private static func replaceProof(
    _ world: ForgeryFixture, _ item: ItemRecord, _ change: (RecordProof) -> RecordProof
  ) throws {
    try rewrite(world, item) { RecordFile(line: $0.line, record: $0.record, proof: change($0.proof)).bytes }
  }

  private static func copy(_ world: ForgeryFixture, _ from: ItemRecord, over to: ItemRecord) throws {
    try world.write(try world.bytes(ForgeryFixture.secretFile(from)), to: ForgeryFixture.secretFile(to))
  }

  static let all: [RecordSabotage] = [
    RecordSabotage("no record") { try $0.remove(ForgeryFixture.recordFile($1)) },
    RecordSabotage("no proof") { world, item in try rewrite(world, item) { $0.line + [10] } },
    RecordSabotage("an empty record") { try $0.write([], to: ForgeryFixture.recordFile($1)) },
    RecordSabotage("signed by a stranger") { world, item in
      try world.write(try world.sign(item, by: .carol).bytes, to: ForgeryFixture.recordFile(item))
    },
    RecordSabotage("signed by a member of another group") { world, item in
      try world.write(try world.sign(item, by: .bob).bytes, to: ForgeryFixture.recordFile(item))
    },
    RecordSabotage("signed for another keyring") { world, item in
      let other = try #require(KeyringID(hex: String(repeating: "ab", count: 16)))
      let file = try world.sign(item, by: .alice, keyring: other)
      try world.write(file.bytes, to: ForgeryFixture.recordFile(item))
    },
    RecordSabotage("the number of another leaf") { world, item in
      try replaceProof(world, item) { proof in
        RecordProof(leaf: proof.leaf + 1, path: proof.path, root: proof.root, signature: proof.signature)
      }
    },
    RecordSabotage("a longer path") { world, item in
      try replaceProof(world, item) { proof in
        RecordProof(
          leaf: proof.leaf, path: proof.path + [proof.root], root: proof.root, signature: proof.signature)
      }
    },
    RecordSabotage("another root") { world, item in
      try replaceProof(world, item) { proof in
        RecordProof(
          leaf: proof.leaf, path: proof.path, root: ContentDigest(of: [1]), signature: proof.signature)
      }
    },
    RecordSabotage("the proof of another item") { world, item in
      let path = ForgeryFixture.recordFile(try world.line("mail.example/alice"))
      let proof = try RecordFile(parsing: try world.bytes(path)).proof
      try replaceProof(world, item) { _ in proof }
    },
    RecordSabotage("another label in record and index") { world, item in
      let forged = try world.forge(item) { $0.attributes[.label] = "Bank" }
      try rewrite(world, item) {
        RecordFile(line: try IndexLine.encode(forged), record: forged, proof: $0.proof).bytes
      }
    },
    RecordSabotage("the encrypted file of another item of the group") { world, item in
      try copy(world, try world.line("ops.example/root"), over: item)
    },
    RecordSabotage("the encrypted file of another item, and its digest in record and index") { world, item in
      let other = try world.line("ops.example/root")
      try copy(world, other, over: item)
      let forged = try world.forge(item) { $0.sealed = other.sealed }
      try rewrite(world, item) {
        RecordFile(line: try IndexLine.encode(forged), record: forged, proof: $0.proof).bytes
      }
    },
    RecordSabotage("both files of another item") { world, item in
      let other = try world.line("ops.example/root")
      try copy(world, other, over: item)
      try world.write(try world.bytes(ForgeryFixture.recordFile(other)), to: ForgeryFixture.recordFile(item))
    },
    RecordSabotage("no encrypted file") { try $0.remove(ForgeryFixture.secretFile($1)) },
  ]
}
