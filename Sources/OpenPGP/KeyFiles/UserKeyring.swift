internal import CGPGME
package import KeyringModel

/// The user's own GnuPG home: only read, and only to find keys to begin with.
package struct UserKeyring: Sendable {
  private let locations: EngineLocations

  /// Looks at the user's keyring; nothing is started before the first question.
  ///
  /// - Parameter locations: Where the user's home and the programs are.
  package init(locations: EngineLocations) { self.locations = locations }

  /// Lists the keys whose secret half is with the user's agent or on a card.
  ///
  /// - Returns: The keys in GnuPG's order; also such that cannot be used any more.
  /// - Throws: What concerns the engine.
  package func secretKeys() throws(EngineError) -> [PublicKey] {
    try context().keys(matching: nil, secretOnly: true)
  }

  /// Lists every key there is.
  ///
  /// - Returns: The keys in GnuPG's order.
  /// - Throws: What concerns the engine.
  func publicKeys() throws(EngineError) -> [PublicKey] {
    try context().keys(matching: nil, secretOnly: false)
  }

  /// Imports keys; only for a home that is thrown away.
  ///
  /// - Parameter bytes: Armored or binary keys. What cannot be read shows in the listing afterwards.
  /// - Throws: What concerns the engine.
  func importKeys(_ bytes: [UInt8]) throws(EngineError) {
    let context = try context()
    try unsafe bytes.span.bytes.withUnsafeBytes { buffer throws(EngineError) in
      let data = try unsafe DataObject(reading: buffer, isSensitive: false)
      _ = unsafe gpgme_op_import(context.pointer, data.pointer)
    }
  }

  /// Looks for a public key.
  ///
  /// - Parameter fingerprint: The primary fingerprint. Nothing else is looked for: part of a name or a short key
  ///   id would find keys that someone else has made to be found.
  /// - Returns: The key with exactly that fingerprint, or nil.
  /// - Throws: What concerns the engine.
  package func publicKey(_ fingerprint: Fingerprint) throws(EngineError) -> PublicKey? {
    try context().keys(matching: fingerprint.text, secretOnly: false).first { $0.fingerprint == fingerprint }
  }

  /// Exports a public key with as little as possible around it.
  ///
  /// The signatures of others are left out. Only when the key has subkeys that are expired or revoked it is
  /// exported whole: GnuPG's minimal form drops these, and then nobody could tell any more whose subkey an
  /// older item was sealed to.
  ///
  /// - Parameter fingerprint: The primary fingerprint.
  /// - Returns: The armored key.
  /// - Throws: `unusableKey` when there is none, or it is too large for a key file; what concerns the engine.
  package func exportMinimal(_ fingerprint: Fingerprint) throws(EngineError) -> [UInt8] {
    guard let key = try publicKey(fingerprint) else {
      throw .unusableKey(fingerprint, .missing)
    }
    let now = Engine.now
    let isWhole = key.subkeys.dropFirst().contains { $0.revoked || $0.expired(at: now) }
    let context = try context()
    unsafe gpgme_set_armor(context.pointer, 1)
    let output = try DataObject()
    let mode = isWhole ? 0 : UInt32(GPGME_EXPORT_MODE_MINIMAL)
    let code = unsafe gpgme_op_export(context.pointer, fingerprint.text, mode, output.pointer)
    if code != 0 { throw EngineError(code) }
    let bytes = output.bytes()
    if bytes.isEmpty { throw .unusableKey(fingerprint, .missing) }
    guard bytes.count <= KeyFile.sizeLimit else {
      throw .unusableKey(fingerprint, .tooLarge(limit: KeyFile.sizeLimit))
    }
    return bytes
  }

  private func context() throws(EngineError) -> Context {
    let found = try EngineProgram.find(searchPath: locations.searchPath)
    let program = try Library.program(
      found.gpg, rememberedIn: locations.runtimeBase, processStarted: {})
    guard EngineProgram.isRecentEnough(program.version) else {
      throw .engineTooOld(version: program.version)
    }
    return try Context(program: program, home: locations.userHome, interaction: .never)
  }
}
