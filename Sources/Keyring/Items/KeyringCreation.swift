public import KeyringModel
package import OpenPGP

extension Keyring {
  /// Creates a store with one member, and accepts its policy on this machine.
  ///
  /// The folder may be missing, empty, or a git repository without files. Files that an earlier, interrupted attempt
  /// left behind are reused. The policy is written last, so the store exists only once it is complete.
  ///
  /// - Parameters:
  ///   - path: The store's folder. It and its missing parent folders are created.
  ///   - owner: The owner's key: a secret key that can sign and decrypt, see `OwnKeys`.
  ///   - subkeys: The subkeys of the owner's key to encrypt to; empty for the newest valid one whose secret is here.
  ///   - host: The context of this machine.
  /// - Returns: The new store, opened.
  /// - Throws: `KeyringError.storeExists`, `.folderNotEmpty`, `.unsafeFolder`, `.engine` if the key cannot be used, or
  ///   a file error.
  public static func create(
    at path: String, owner: Fingerprint, encryptTo subkeys: [Fingerprint] = [], host: HostContext
  ) throws(KeyringError) -> Keyring {
    try prepare(at: path, owner: owner, encryptTo: subkeys, host: host).finish()
  }

  /// Creates all of a store except its policy.
  ///
  /// - Throws: The errors of `create(at:owner:encryptTo:host:)`.
  package static func prepare(
    at path: String, owner: Fingerprint, encryptTo subkeys: [Fingerprint] = [], host: HostContext
  ) throws(KeyringError) -> NewStore {
    let user = UserKeyring(locations: host.engineLocations)
    let founder: Founder
    do throws(EngineError) {
      guard let key = try user.secretKeys().first(where: { $0.fingerprint == owner }) else {
        throw EngineError.unusableKey(owner, .missing)
      }
      let secrets = try user.secretSubkeys()[owner] ?? [:]
      guard let choice = key.encryptionChoice(secrets: secrets, at: host.clock()) else {
        throw EngineError.unusableKey(owner, key.problem(for: .encrypt, at: host.clock()) ?? .cannotEncrypt)
      }
      founder = Founder(
        fingerprint: owner, name: key.userIDs.first ?? owner.text, keyFile: try user.exportMinimal(owner),
        encryptTo: subkeys.isEmpty ? choice.subkeys : subkeys)
    } catch {
      throw .engine(error, nil)
    }
    return try prepare(at: path, founder: founder, host: host) { keyring in
      host.engine(for: keyring, keys: [owner: founder.keyFile])
    }
  }

  /// The first member of a store.
  package struct Founder: Sendable {
    package let fingerprint: Fingerprint
    package let name: String
    /// The public key, ASCII-armored.
    package let keyFile: [UInt8]
    /// The subkeys to encrypt to.
    package let encryptTo: [Fingerprint]

    package init(fingerprint: Fingerprint, name: String, keyFile: [UInt8], encryptTo: [Fingerprint]) {
      self.fingerprint = fingerprint
      self.name = name
      self.keyFile = keyFile
      self.encryptTo = encryptTo
    }
  }

  /// Creates a store with injected faults and an engine that may be a test double for GnuPG. For tests.
  package static func create(
    at path: String, founder: Founder, host: HostContext,
    faults: FaultPlan? = nil, engine makeEngine: (KeyringID) -> any OpenPGPEngine
  ) throws(KeyringError) -> Keyring {
    try prepare(at: path, founder: founder, host: host, faults: faults, engine: makeEngine).finish()
  }

  private static func prepare(
    at path: String, founder: Founder, host: HostContext,
    faults: FaultPlan? = nil, engine makeEngine: (KeyringID) -> any OpenPGPEngine
  ) throws(KeyringError) -> NewStore {
    let tree = try emptyFolder(path, faults: faults)
    let owner = founder.fingerprint
    var generator = SystemRandomNumberGenerator()
    let keyring = KeyringID(using: &generator)
    let name = founder.name.isEmpty ? owner.text : founder.name
    let policy = Policy(
      keyring: keyring, generation: 1, previous: nil,
      people: [
        owner: Person(
          name: name, role: .admin, added: host.clock(), key: ContentDigest(of: founder.keyFile),
          encryptTo: founder.encryptTo)
      ],
      groups: [GroupName.default: [owner]])
    let policyBytes = policy.encode()
    do throws(PolicyError) {
      // Checks that the policy can be read back.
      _ = try Policy.parse(policyBytes)
    } catch {
      throw .policyNotTrusted(.unreadable(error))
    }
    let engine = makeEngine(keyring)
    let signature: [UInt8]
    do {
      // Throws before anything is written if this key cannot be used for encryption.
      try engine.checkRecipients([policy.recipient(owner)])
      signature = try engine.signDetached(policyBytes, signer: owner)
    } catch {
      throw .engine(error, nil)
    }
    try PolicyVerification(engine: engine, people: policy)
      .verify(policyBytes, signature: signature, admins: [owner])

    let lock = try StoreLock(tree, timeout: host.lockTimeout)
    // Another process may have created the store concurrently.
    guard try files(tree.status(StoreLayout.policy)) == nil else { throw .storeExists(path: path) }
    try write(
      [
        (StoreLayout.keyFile(owner), founder.keyFile), (StoreLayout.gitIgnore, gitIgnore),
        (StoreLayout.gitAttributes, gitAttributes), (StoreLayout.passRecipients, policy.passRecipients),
        (StoreLayout.policySignature, signature),
      ], in: tree)
    let keys = [owner: founder.keyFile]
    // The keyring id is new, so no policy of this keyring can have been accepted.
    _ = try PinStore(base: host.stateBase, keyring: keyring, faults: faults).write(
      policy: policy, bytes: policyBytes, keys: keys, signer: owner, replacing: nil)
    let trusted = TrustedPolicy(policy: policy, signer: owner, keys: keys)
    return NewStore(
      lock: lock, policy: policyBytes,
      keyring: Keyring(tree: tree, trusted: trusted, engine: engine, host: host))
  }

  /// Opens or creates the folder for a new store.
  private static func emptyFolder(_ path: String, faults: FaultPlan?) throws(KeyringError) -> FileTree {
    try StoreFolder.makeFolder(path, faults: faults)
    let tree = try files(FileTree(at: path, faults: faults))
    try StoreFolder.checkOwner(path, tree)
    let names = try files(tree.list(""))
    guard !names.contains(StoreLayout.policy) else { throw .storeExists(path: path) }
    let known: Set<String> = [
      ".git", StoreLayout.gitIgnore, StoreLayout.gitAttributes, StoreLayout.keys,
      StoreLayout.policySignature, StoreLayout.index, StoreLayout.items, StoreLayout.work,
    ]
    let items = try files(tree.list(StoreLayout.items)).filter {
      "\(StoreLayout.items)/\($0)" != StoreLayout.passRecipients
    }
    guard names.allSatisfy(known.contains), items.isEmpty else {
      throw .folderNotEmpty(path: path)
    }
    return tree
  }

  fileprivate static func write(_ content: [(path: String, bytes: [UInt8])], in tree: FileTree)
    throws(KeyringError)
  {
    try files { () throws(FileError) in
      for folder in [StoreLayout.work, StoreLayout.index, StoreLayout.items, StoreLayout.keys] {
        try tree.makeDirectory(folder)
      }
      for (path, bytes) in content {
        try tree.replaceFile(path, with: bytes, temporary: StoreLayout.creationTemporary)
      }
      try tree.synchronizeDirectory("")
    }
  }

  /// The `.gitattributes` for clones in which git is used without Keytree: no line-ending conversion and no textual
  /// merges.
  private static var gitAttributes: [UInt8] {
    Array(
      "* -text\n/items/**/*.gpg binary\n/conflicts/** binary\n/index/** -text\n/policy.json* -text -merge\n"
        .utf8)
  }

  /// The `.gitignore`, which excludes files that never leave this machine.
  private static var gitIgnore: [UInt8] { Array("/\(StoreLayout.work)/\n/\(StoreLayout.local)/\n".utf8) }
}

/// A locked store that is complete except for its policy.
///
/// The caller creates everything else that the store needs, such as a repository, before the policy completes the
/// store.
package struct NewStore: ~Copyable {
  private let lock: StoreLock
  private let policy: [UInt8]
  private let keyring: Keyring

  fileprivate init(lock: consuming StoreLock, policy: [UInt8], keyring: Keyring) {
    self.lock = lock
    self.policy = policy
    self.keyring = keyring
  }

  /// Writes the policy.
  ///
  /// - Returns: The store, opened.
  /// - Throws: `KeyringError.unfinished` if the store exists, but was not flushed to the disk; or a file error.
  package consuming func finish() throws(KeyringError) -> Keyring {
    defer { withExtendedLifetime(lock) {} }
    do {
      try Keyring.write([(StoreLayout.policy, policy)], in: keyring.tree)
    } catch {
      // The policy completes the store, and only its folder may not have been flushed.
      guard case .file(let error) = error, try files(keyring.tree.status(StoreLayout.policy)) != nil else {
        throw error
      }
      throw .unfinished(error)
    }
    return keyring
  }
}

extension Policy {
  /// The recipients file in the format of `pass`: one member of the default group per line.
  var passRecipients: [UInt8] {
    Array((groups[GroupName.default] ?? []).sorted().map { "\($0.text)\n" }.joined().utf8)
  }
}
