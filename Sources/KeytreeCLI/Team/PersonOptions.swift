internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Terminal

// The options that name a person, and select the subkeys that items are encrypted to.

extension CommandCall {
  /// Returns the name of a new person: the primary user id of the key, or the name given with `--name`.
  ///
  /// - Throws: `other` if the key has no valid user id and no name was given.
  func name(of key: PublicKey) throws -> String {
    for name in [key.userIDs.first, arguments.text(GroupCommand.name)] {
      if let name, !name.allSatisfy(\.isWhitespace) { return name }
    }
    // All user ids of a revoked key are revoked; the next check reports that.
    if key.revocation != nil { return key.fingerprint.text }
    throw CommandError.other(
      .recipientUnusable, message: "the key \(key.fingerprint.text) has no user id",
      hint: "`--name 'NAME <MAIL>'`")
  }

  /// Returns the places of the secrets of the user's own subkeys, by the fingerprint of the key.
  func secretSubkeys() throws -> [Fingerprint: [Fingerprint: SecretPlace]] {
    do {
      return try UserKeyring(locations: try host().engineLocations).secretSubkeys()
    } catch let error as EngineError {
      throw KeyringError.engine(error, nil)
    }
  }

  /// Returns the subkeys of a key to encrypt to: those given with `--encrypt-to`, or those that the rule chooses.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - listed: The subkeys in the policy; empty for a new person.
  ///   - secrets: The places of the secrets of the user's own subkeys; nil for another person's key.
  ///   - known: The subkeys that the key file in the store has; nil for a new person.
  /// - Returns: The choice; nil if no subkey is valid.
  /// - Throws: A usage error if a value of `--encrypt-to` is not a key id or fingerprint; `other` for a subkey that the
  ///   key has but that cannot be encrypted to.
  func encryptionChoice(
    of key: PublicKey, listed: [Fingerprint] = [], secrets: [Fingerprint: SecretPlace]?,
    known: Set<Fingerprint>? = nil
  ) throws -> EncryptionChoice? {
    let now = try host().clock()
    let valid = key.encryptionSubkeys(at: now)
    var given: Set<Fingerprint> = []
    for digits in try givenSubkeys() {
      guard let subkey = key.subkeys.first(where: { $0.fingerprint.text.hasSuffix(digits) }) else { continue }
      guard valid.contains(subkey) else {
        throw CommandError.other(
          .recipientUnusable, message: "cannot encrypt to the subkey \(subkey.keyID.text)",
          hint: "`gpg --list-keys --with-subkey-fingerprint \(key.fingerprint.text)` shows the subkeys")
      }
      given.insert(subkey.fingerprint)
    }
    if !given.isEmpty { return EncryptionChoice(subkeys: given.sorted(), skipped: nil) }
    return key.encryptionChoice(listed: listed, secrets: secrets, known: known, at: now)
  }

  /// Returns the values of `--encrypt-to`: fingerprints and key ids, in upper case.
  private func givenSubkeys() throws -> [String] {
    try arguments.values(GroupCommand.encryptTo).map { word in
      let text = word.approximateText.uppercased().filter { $0 != " " && $0 != "!" }
      let digits = text.hasPrefix("0X") ? String(text.dropFirst(2)) : text
      guard digits.utf8.count >= 16, digits.utf8.allSatisfy(Self.isHexadecimal) else {
        throw misuse(.other("`--encrypt-to` takes the fingerprint of a subkey, or the 16 digits of its id"))
      }
      return digits
    }
  }

  /// Checks that each value of `--encrypt-to` names a subkey of one of the keys.
  ///
  /// - Throws: A usage error if a value is not a key id or fingerprint; `other` if none of the keys has the subkey.
  func requireOwnersOfGivenSubkeys(among keys: [PublicKey]) throws {
    let known = keys.flatMap(\.subkeys).map(\.fingerprint.text)
    for digits in try givenSubkeys() where !known.contains(where: { $0.hasSuffix(digits) }) {
      throw CommandError.other(
        .notFound, message: "no key has the subkey \(digits)",
        hint: "`gpg --list-keys --with-subkey-fingerprint` shows the subkeys")
    }
  }

  /// Refuses `--name` and `--encrypt-to` where nothing uses them, because the person is a member already.
  func refuseOptionsOfNewPeople() throws {
    for option in [GroupCommand.name, GroupCommand.encryptTo] where arguments.has(option) {
      throw misuse(
        .other("`--\(option.name)` is for a new person; `keytree group refresh` changes the key of a member"))
    }
  }

  /// Reports a newer subkey that was not chosen, because its secret is not on this machine, or a subkey whose secret is
  /// here if that of the chosen one is not.
  func tellSkipped(_ choice: EncryptionChoice) {
    let kept = choice.subkeys.map { KeyID(of: $0).text }.joined(separator: ", ")
    if let here = choice.here.map({ KeyID(of: $0).text }) {
      console.complain(
        "kept encryption subkey \(kept), whose secret is not here; --encrypt-to \(here) uses \(here), whose secret is here"
      )
    }
    guard let skipped = choice.skipped.map({ KeyID(of: $0).text }) else { return }
    console.complain(
      "kept encryption subkey \(kept): the secret of the newer \(skipped) is not here; --encrypt-to \(skipped) "
        + "uses it anyway")
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
    default: false
    }
  }

  /// Returns the subkeys of a new person's key to encrypt to.
  ///
  /// - Throws: `other` if the key cannot be used.
  func usableChoice(of key: PublicKey, name: String, group: String) throws -> EncryptionChoice {
    let now = try host().clock()
    try requireOwnersOfGivenSubkeys(among: [key])
    let problem = key.problem(for: .encrypt, at: now) ?? key.problem(for: .sign, at: now)
    let secrets = try secretSubkeys()[key.fingerprint]
    guard problem == nil, let choice = try encryptionChoice(of: key, secrets: secrets) else {
      throw CommandError.unusableNewKey(key, name: name, group: group, problem ?? .cannotEncrypt, at: now)
    }
    return choice
  }
}
