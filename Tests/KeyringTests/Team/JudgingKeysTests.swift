import Encoding
import KeyringModel
import OpenPGP
import TestSupport
import Testing

@testable import Keyring

/// The keys that GnuPG gets before the signature of a received policy is verified.
@Suite struct JudgingKeysTests {
  private let admin = EngineDouble.fingerprint(1)
  private let member = EngineDouble.fingerprint(2)
  private let time = Timestamp(microseconds: 0)

  private func policy(_ files: KeyFiles) throws -> Policy {
    func person(_ person: Fingerprint, _ role: Person.Role) -> Person {
      Person(
        name: person.text, role: role, added: time,
        key: files[person].map { ContentDigest(of: $0) },
        encryptTo: [person])
    }
    let people = files.keys.map { ($0, person($0, $0 == admin ? .admin : .member)) }
    return Policy(
      keyring: try #require(KeyringID(hex: String(repeating: "0", count: 32))), generation: 1,
      previous: nil,
      people: Dictionary(people) { first, _ in first }, groups: ["default": files.keys.sorted()])
  }

  @Test func `only the key files of admins are imported to judge a received policy`() throws {
    let engine = EngineDouble(readers: [admin])
    let files = [admin: Array("admin".utf8), member: Array("member".utf8)]
    let old = try policy(files)
    let new = try old.successor(by: [], previous: ContentDigest(of: old.encode()), at: time)
    var imported: [Set<Fingerprint>] = []
    let chain = PolicyChain { keys in
      imported.append(Set(keys.keys))
      return engine
    }
    let step = PolicyStep(
      bytes: new.encode(), signature: try engine.signDetached(new.encode(), signer: admin),
      keys: files)
    let start = PolicyChain.Link(policy: old, digest: ContentDigest(of: old.encode()), keys: files)
    #expect(try chain.step(step, after: start).keys == files)
    #expect(imported == [[admin]])
  }

  @Test func `a policy that brings a key with very many parts is refused`() throws {
    let engine = EngineDouble(readers: [admin])
    let key = GnuPGKey.carol
    let binary = Armor.binary(key.publicKey, .publicKey)
    // User ids of one byte (RFC 9580, 5.11), without signatures.
    let file = binary + (0..<65).flatMap { [0xCD, 1, UInt8(ascii: "0") + $0] }
    let files = [admin: Array("admin".utf8)]
    let old = try policy(files)
    let start = PolicyChain.Link(policy: old, digest: ContentDigest(of: old.encode()), keys: files)
    let new = try old.successor(
      by: [
        .add(
          key.fingerprint, name: "Carol", role: .member, key: ContentDigest(of: file),
          encryptTo: [key.encryptionSubkey])
      ], previous: start.digest, at: time)
    let step = PolicyStep(
      bytes: new.encode(), signature: try engine.signDetached(new.encode(), signer: admin),
      keys: files.merging([key.fingerprint: file]) { $1 })
    #expect(
      throws: KeyringError.policyNotTrusted(
        .unusableKeyFile(key.fingerprint, .tooManyParts(limit: 64)))
    ) {
      try PolicyChain { _ in engine }.step(step, after: start)
    }
  }
}
