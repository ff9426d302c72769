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

  /// Looks for public keys.
  ///
  /// - Parameter text: A full fingerprint in upper case, or a mail address. Nothing else is looked for: part
  ///   of a name or a short key id would find keys that someone else has made to be found.
  /// - Returns: The key with exactly that fingerprint, or every key with a user id of exactly that address
  ///   (ASCII letters match in either case). Empty for any other text.
  /// - Throws: What concerns the engine.
  package func publicKeys(matching text: String) throws(EngineError) -> [PublicKey] {
    if let fingerprint = Fingerprint(text) {
      return try context().keys(matching: text, secretOnly: false)
        .filter { $0.fingerprint == fingerprint }
    }
    let mail = text.lowercasedASCII
    guard mail.utf8.contains(UInt8(ascii: "@")), !mail.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }),
      !mail.utf8.contains(where: { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: ">") })
    else { return [] }
    return try context().keys(matching: "<\(text)>", secretOnly: false).filter { key in
      key.userIDs.contains { $0.lowercasedASCII == mail || $0.lowercasedASCII.hasSuffix("<\(mail)>") }
    }
  }

  /// Exports a public key with as little as possible around it.
  ///
  /// The signatures of others are left out. Only when the key has subkeys that are expired or revoked it is
  /// exported whole: GnuPG's minimal form drops these, and then nobody could tell any more whose subkey an
  /// older item was sealed to.
  ///
  /// - Parameter fingerprint: The primary fingerprint.
  /// - Returns: The armored key.
  /// - Throws: `unusableKey` when there is none; what concerns the engine.
  package func exportMinimal(_ fingerprint: Fingerprint) throws(EngineError) -> [UInt8] {
    guard let key = try publicKeys(matching: fingerprint.text).first else {
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

extension String {
  // Mail domains compare without case; Unicode case rules have no place in them.
  fileprivate var lowercasedASCII: String {
    String(
      decoding: utf8.map { $0 >= 0x41 && $0 <= 0x5A ? $0 + 0x20 : $0 }, as: UTF8.self)
  }
}
