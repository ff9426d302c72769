import Keyring
import KeyringModel
import OpenPGP
import TestSupport
import Testing

/// Tests the cost of opening a store from someone else before anything in it is trusted (threat T46).
@Suite("Cost of a hostile store", .serialized) struct HostileTrustTests {
  private let store = StandInStore()
  private let people = (2...80).map { EngineDouble.fingerprint($0) }

  /// Creates a store whose policy has many more admins, in no group. The last of them signs it.
  private func crowded(keyFile: [UInt8]) throws {
    try store.create()
    let tree = try store.tree()
    var policy = try Policy.parse(try #require(try store.bytes(StoreLayout.policy)))
    for person in people {
      policy.people[person] = Person(
        name: "x", role: .admin, added: Timestamp(microseconds: 0), key: ContentDigest(of: keyFile),
        encryptTo: [person])
      try tree.replaceFile(StoreLayout.keyFile(person), with: keyFile, temporary: "tmp")
    }
    try tree.replaceFile(StoreLayout.policy, with: policy.encode(), temporary: "tmp")
    let signature = try store.engine.signDetached(policy.encode(), signer: try #require(people.last))
    try tree.replaceFile(StoreLayout.policySignature, with: signature, temporary: "tmp")
  }

  /// Opens the store on a machine that has accepted nothing.
  private func trust() throws(KeyringError) -> Trust {
    var host = store.host
    host.stateBase += "-new"
    return try Trust(at: store.path, host: host, engine: store.engine, own: [store.owner])
  }

  @Test func `the signature of a policy is verified once, regardless of the number of admins`() throws {
    try crowded(keyFile: [1])
    let before = store.engine.detachedVerifications
    let trust = try trust()
    #expect(trust.signedBy == people.last && trust.obstacle == nil)
    #expect(store.engine.detachedVerifications == before + 1)
  }

  @Test
  func
    `the first policy of a history is verified once, and must be signed by an anchor if there are anchors`()
    throws
  {
    try crowded(keyFile: [1])
    let room = try VerificationWorkspace(host: store.host, engine: store.engine)
    defer { room.remove() }
    let state = try PolicyState(in: try store.tree())
    let before = store.engine.detachedVerifications
    let last = try #require(people.last)
    let rule = PolicyRule(in: room)
    #expect(try rule.signer(ofFirst: state, keys: [:], anchors: [last, people[0]]) == .success(last))
    #expect(try rule.signer(ofFirst: state, keys: [:], anchors: []) == .success(last))
    #expect(store.engine.detachedVerifications == before + 2)
    let other = try rule.signer(ofFirst: state, keys: [:], anchors: [people[0]])
    #expect(other == .failure(.unexpectedSigner(last)))
  }

  @Test func `a key file of more than 256 KiB is not read`() throws {
    try crowded(keyFile: [1])
    let file = StoreLayout.keyFile(people[0])
    try store.put([UInt8](repeating: 1, count: 256 << 10 + 1), at: file)
    #expect(throws: KeyringError.file(FileError("read", file, .tooLarge(limit: 256 << 10)))) { try trust() }
  }

  @Test func `key files of more than 4 MiB in total are not read`() throws {
    try crowded(keyFile: [UInt8](repeating: 1, count: 64 << 10))
    let error = KeyringError.file(FileError("read", "keys", .tooLarge(limit: 4 << 20)))
    #expect(throws: error) { try trust() }
    let room = try VerificationWorkspace(host: store.host, engine: store.engine)
    defer { room.remove() }
    #expect(throws: error) { _ = try Keyring.forVerification(at: store.path, in: room) }
  }

  @Test func `a signature file of more than 16 KiB is not passed to GnuPG`() throws {
    try crowded(keyFile: [1])
    try store.put([UInt8](repeating: 10, count: 16 << 10 + 1), at: StoreLayout.policySignature)
    let before = store.engine.detachedVerifications
    let file = FileError("read", StoreLayout.policySignature, .tooLarge(limit: 16 << 10))
    #expect(throws: KeyringError.file(file)) { try trust() }
    #expect(store.engine.detachedVerifications == before)
  }
}
