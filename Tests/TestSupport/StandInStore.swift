package import Keyring
package import KeyringModel
internal import OpenPGP
package import Secrets

/// A store in a scratch folder with a stand-in for GnuPG, for tests of the code around the engine.
package final class StandInStore: Sendable {
  package let folder = ScratchFolder()
  package let engine: EngineDouble
  package let owner = EngineDouble.fingerprint(1)
  private let clock = Clock(start: 1_700_000_000_000_000)

  /// Creates the folder, but not the store.
  package init(readers: Set<Fingerprint> = [EngineDouble.fingerprint(1)]) {
    engine = EngineDouble(readers: readers)
  }

  package var path: String { "\(folder.path)/store" }

  package var host: HostContext {
    HostContext(
      engineBase: "\(folder.path)/engine", stateBase: "\(folder.path)/state/keytree", searchPath: "",
      lockTimeout: 5, workers: 2, clock: clock.now)
  }

  /// Creates the store.
  @discardableResult
  package func create(faults: FaultPlan? = nil) throws -> Keyring {
    try Keyring.create(
      at: path,
      founder: .init(fingerprint: owner, name: "Alice <alice@example.org>", keyFile: [1], encryptTo: [owner]),
      host: host, faults: faults, engine: { _ in engine })
  }

  /// Creates the store with an older form of the policy, which has no digests of the key files.
  @discardableResult
  package func createWithoutKeyDigests() throws -> Keyring {
    var policy = try create().policy
    policy.people[owner]?.key = nil
    let tree = try tree()
    let signature = try engine.signDetached(policy.encode(), signer: owner)
    try tree.replaceFile("policy.json", with: policy.encode(), temporary: "tmp")
    try tree.replaceFile("policy.json.asc", with: signature, temporary: "tmp")
    try Trust(at: path, host: host, engine: engine, own: [owner]).accept()
    return try open()
  }

  /// Opens the store, with planned faults.
  package func open(faults: FaultPlan? = nil) throws -> Keyring {
    try Keyring.open(at: path, host: host, faults: faults, engine: engine)
  }

  /// Opens the store for many queries, with the test's own file clock.
  package func openKept(clock: FileClock = FileClock()) throws -> Keyring {
    var host = host
    host.keepsIndex = true
    host.fileClock = clock
    let keyring = try Keyring.open(at: path, host: host, faults: nil, engine: engine)
    // The first queries are answered from the files.
    let nothing = Query(predicates: [.equal(.label, "no item has this label")])
    for _ in 0..<Index.patience { _ = try keyring.find(nothing) }
    return keyring
  }

  /// Opens the folder as a tree, so that tests can inspect and damage it.
  package func tree() throws -> FileTree { try FileTree(at: path) }
}

extension NewItem {
  /// Returns an internet password for tests.
  package static func login(
    _ server: String, _ account: String, _ more: KeyValuePairs<AttributeName, AttributeValue> = [:]
  ) -> NewItem {
    var attributes = Attributes()
    attributes[.server] = .string(server)
    attributes[.account] = .string(account)
    for (name, value) in more { attributes[name] = value }
    return NewItem(itemClass: .internetPassword, attributes: attributes)
  }
}

extension SecretBytes {
  /// Creates a secret from text; only for tests, where the text is not secret.
  package init(text: String) { self.init(copying: Array(text.utf8)) }

  /// Returns the secret as text; only for tests.
  package func text() -> String { unsafe withBytes { unsafe String(decoding: $0, as: UTF8.self) } }
}

extension Keyring {
  /// Returns the secret of an item as text; only for tests.
  package func text(of record: ItemRecord) throws(KeyringError) -> String {
    let secret = try secret(for: record)
    return secret.text()
  }

  /// Returns the secret of a conflict copy as text; only for tests.
  package func text(of copy: ConflictCopy) throws(KeyringError) -> String {
    let secret = try secret(of: copy)
    return secret.text()
  }
}
