internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Secrets
internal import Terminal

/// The people that a command line names, and the key files of new people.
struct TeamPeople {
  let call: CommandCall
  let keyring: Keyring

  /// Returns the person of the keyring with a fingerprint or email address.
  ///
  /// - Parameter text: all digits of a fingerprint, with or without spaces; or an email address, which must equal the
  ///   address in angle brackets, or the whole name.
  /// - Throws: `other` if no person matches, `severalPeople`.
  func member(_ text: String) throws -> Fingerprint {
    let found: [Fingerprint]
    if let fingerprint = Self.fingerprint(text) {
      found = keyring.policy.people[fingerprint] == nil ? [] : [fingerprint]
    } else {
      let mail = text.lowercased()
      let all = keyring.policy.people.filter { $0.value.hasMail(mail) }
      // A removed person matches only if no current member does.
      let current = all.filter { $0.value.removed == nil }
      found = (current.isEmpty ? all : current).map(\.key).sorted()
    }
    guard let first = found.first else {
      throw CommandError.other(
        .notFound, message: "no person in this keyring matches \(ErrorReport.quote(text))",
        hint: "`keytree status` lists the people; give all digits of a fingerprint")
    }
    guard found.count == 1 else {
      throw CommandError.severalPeople(text, found.map { keyring.policy.people[$0]?.line($0) ?? $0.text })
    }
    return first
  }

  /// Returns the member of the keyring with a mail address; nil if the word is not an address or no member has it.
  ///
  /// - Throws: `severalPeople`; `other` if a file has this name, too.
  func memberWithMail(_ word: Word) throws -> Fingerprint? {
    guard let mail = word.text, Self.isMail(mail),
      keyring.policy.people.contains(where: { $0.value.removed == nil && $0.value.hasMail(mail.lowercased()) }
      )
    else { return nil }
    try refuseFile(named: mail)
    return try member(mail)
  }

  /// Returns a key from the user's own GnuPG keyring, or from a file.
  ///
  /// - Parameter word: a fingerprint, or the path of a file.
  /// - Throws: `keyFile`, `UserFileError`, `KeyringError`.
  func key(_ word: Word) throws -> KeyFile {
    let host = try call.host()
    if let text = word.text, let fingerprint = Self.fingerprint(text) {
      return try read([try exported(fingerprint, host)], fingerprint, fingerprint.text, host)
    }
    let path = word.approximateText
    return try read([try Self.bytes(path)], nil, path, host)
  }

  /// Returns the key file of a person of the keyring, with the additions from a newer file.
  ///
  /// - Returns: nil if the newer file adds nothing.
  func renewed(_ fingerprint: Fingerprint, by bytes: [UInt8], source: String) throws -> KeyFile? {
    let host = try call.host()
    guard let old = keyring.keyFile(of: fingerprint) else { return nil }
    let before = try read([old], fingerprint, "the key file of \(fingerprint.text)", host)
    let after = try read([old, bytes], fingerprint, source, host)
    return before.key.isSame(as: after.key) ? nil : after
  }

  /// Returns the content of a key file.
  static func bytes(_ path: String) throws -> [UInt8] {
    let content = try UserFile.read(path, limit: KeyFile.sizeLimit)
    return unsafe content.withBytes { unsafe Array($0) }
  }

  /// Returns the public key from the user's own GnuPG keyring; nil if the keyring does not contain it.
  func own(_ fingerprint: Fingerprint) throws -> [UInt8]? {
    do {
      return try exported(fingerprint, try call.host())
    } catch KeyringError.engine(.unusableKey(_, .missing), _) {
      return nil
    }
  }

  private func exported(_ fingerprint: Fingerprint, _ host: HostContext) throws -> [UInt8] {
    do {
      return try UserKeyring(locations: host.engineLocations).exportMinimal(fingerprint)
    } catch {
      throw KeyringError.engine(error, nil)
    }
  }

  private func read(
    _ files: [[UInt8]], _ fingerprint: Fingerprint?, _ source: String, _ host: HostContext
  ) throws -> KeyFile {
    do {
      return try KeyFile(reading: files, expecting: fingerprint, locations: host.engineLocations)
    } catch {
      throw CommandError.keyFile(error, source: source)
    }
  }

  /// Returns the fingerprint in a text, which may contain spaces.
  static func fingerprint(_ text: String) -> Fingerprint? {
    Fingerprint(text.filter { $0 != " " }.uppercased())
  }
}

extension Person {
  /// Returns true if the name contains an email address: in angle brackets, or as the whole name.
  func hasMail(_ mail: String) -> Bool {
    let name = name.lowercased()
    return name == mail || name.hasSuffix("<\(mail)>")
  }
}

extension PublicKey {
  /// Returns true if another listing of the key is equal, whether or not it has a secret key.
  func isSame(as other: PublicKey) -> Bool {
    fingerprint == other.fingerprint && userIDs == other.userIDs && subkeys == other.subkeys
  }
}
