internal import CGPGME
package import KeyringModel

/// The user's own GnuPG home. It is only read, to find and export keys.
package struct UserKeyring: Sendable {
  private let locations: EngineLocations
  let processStarted: @Sendable () -> Void

  /// Creates access to the user's keyring; nothing is started before the first call.
  ///
  /// - Parameters:
  ///   - locations: The user's home and the search path.
  ///   - processStarted: Called for each process that lists keys.
  package init(locations: EngineLocations, processStarted: @escaping @Sendable () -> Void = {}) {
    (self.locations, self.processStarted) = (locations, processStarted)
  }

  /// Lists the keys whose secret keys are with the user's agent or on a card.
  ///
  /// - Returns: The keys in GnuPG's order, including keys that can no longer be used.
  /// - Throws: An engine error.
  package func secretKeys() throws(EngineError) -> [PublicKey] {
    // A listing does not prompt. `.never` sets an option of the agent; if its restricted socket refuses that option,
    // gpg lists no keys.
    try context(interaction: .pinentry).wholeKeys(
      matching: nil, secretOnly: true, processStarted: processStarted)
  }

  /// Finds the user's secret keys as gpg does: by a fingerprint or id with or without `0x`, a user id, or a part of one.
  ///
  /// - Parameter name: The name; not empty.
  /// - Returns: The keys in GnuPG's order.
  /// - Throws: An engine error.
  package func secretKeys(named name: String) throws(EngineError) -> [PublicKey] {
    try context(interaction: .pinentry).wholeKeys(
      matching: name, secretOnly: true, processStarted: processStarted)
  }

  /// Returns the subkeys and primary keys whose secret parts can be used on this machine, by the fingerprint of the
  /// primary key. A secret part that was removed, for example a primary key that is kept offline, is missing.
  ///
  /// - Throws: An engine error.
  package func secretSubkeys() throws(EngineError) -> [Fingerprint: [Fingerprint: SecretPlace]] {
    var places: [Fingerprint: [Fingerprint: SecretPlace]] = [:]
    for key in try secretKeys() {
      let here = key.subkeys.filter { $0.secret != .elsewhere }
      places[key.fingerprint] = Dictionary(here.map { ($0.fingerprint, $0.secret) }) { first, _ in first }
    }
    return places
  }

  /// Lists all keys.
  ///
  /// - Returns: The keys in GnuPG's order.
  /// - Throws: An engine error.
  func publicKeys() throws(EngineError) -> [PublicKey] {
    try context().wholeKeys(matching: nil, secretOnly: false, processStarted: processStarted)
  }

  /// Imports keys. For temporary homes only.
  ///
  /// - Parameter keys: The keys. One that cannot be read is missing from the listing.
  /// - Throws: `incomplete` when gpg did not finish; an engine error.
  func importKeys(_ keys: KeyContent) throws(EngineError) {
    guard let home = locations.userHome else { return }
    let (program, gpgconf) = try program()
    let tools = EngineTools(
      program: program, gpgconf: Gpgconf(program: gpgconf, processStarted: {}), processStarted: {})
    _ = try tools.importKeys(keys, home: home)
  }

  /// Finds a public key.
  ///
  /// - Parameter fingerprint: The primary fingerprint. Names and short key ids are not accepted, because others can
  ///   create keys that match them.
  /// - Returns: The key with exactly that fingerprint; nil if there is none.
  /// - Throws: An engine error.
  package func publicKey(_ fingerprint: Fingerprint) throws(EngineError) -> PublicKey? {
    try context().wholeKeys(matching: fingerprint.text, secretOnly: false, processStarted: processStarted)
      .first {
        $0.fingerprint == fingerprint
      }
  }

  /// Exports a public key in its minimal form: without the signatures of others, and with subkeys that have expired or
  /// are revoked. Without these, the owner of a subkey that an older item is encrypted to could not be found.
  ///
  /// - Parameter fingerprint: The primary fingerprint.
  /// - Returns: The armored key.
  /// - Throws: `unusableKey` when the key does not exist, or is too large or has too many parts for a key file; an engine
  ///   error.
  package func exportMinimal(_ fingerprint: Fingerprint) throws(EngineError) -> [UInt8] {
    do throws(KeyFile.Problem) {
      return try KeyFile(
        reading: [try wholeFile(fingerprint)], expecting: fingerprint, locations: locations
      ).bytes
    } catch {
      switch error {
      case .engine(let error): throw error
      case .unreadable(let needed): throw .unusableKey(fingerprint, .unreadable(needs: needed))
      case .empty, .nameless, .several, .secret, .other: throw .unusableKey(fingerprint, .missing)
      }
    }
  }

  private func wholeFile(_ fingerprint: Fingerprint) throws(KeyFile.Problem) -> [UInt8] {
    do throws(EngineError) {
      return try export(fingerprint)
    } catch {
      throw .engine(error)
    }
  }

  /// Exports a public key as it is in the keyring.
  ///
  /// - Parameter fingerprint: The primary fingerprint.
  /// - Returns: The armored key, of any size.
  /// - Throws: `unusableKey` when the key does not exist; `incomplete` when gpg did not export it whole; an engine error.
  package func export(_ fingerprint: Fingerprint) throws(EngineError) -> [UInt8] {
    let context = try context()
    unsafe gpgme_set_armor(context.pointer, 1)
    let output = try DataObject()
    let code = unsafe gpgme_op_export(context.pointer, fingerprint.text, 0, output.pointer)
    if code != 0 { throw EngineError(code) }
    let bytes = output.bytes()
    // libgpgme does not notice that gpg was killed before or while it was exporting the key.
    guard let count = context.report.exportCount else { throw Self.unfinishedExport }
    if count == 0 {
      try context.report.requireSuccess()
      throw .unusableKey(fingerprint, .missing)
    }
    guard KeyPackets.isWhole(bytes) else { throw Self.unfinishedExport }
    return bytes
  }

  private static var unfinishedExport: EngineError { .incomplete(detail: "it did not export the whole key") }

  func context(interaction: Interaction = .never) throws(EngineError) -> Context {
    try Context(program: try program().gpg, home: locations.userHome, interaction: interaction)
  }

  private func program() throws(EngineError) -> (gpg: Library.Program, gpgconf: String) {
    let found = try EngineProgram.find(searchPath: locations.searchPath)
    let program = try Library.program(
      found.gpg, rememberedIn: locations.runtimeBase, processStarted: {})
    guard EngineProgram.isRecentEnough(program.version) else {
      throw .engineTooOld(version: program.version)
    }
    return (program, found.gpgconf)
  }
}
