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
      let current = try people(withMail: text)
      // A removed person matches only if no current member does.
      found =
        current.isEmpty
        ? keyring.policy.people.filter { $0.value.hasMail(text.lowercased()) }.map(\.key).sorted() : current
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

  /// Returns the members with a mail address: in their name, or in another valid user id of their key. An address that is
  /// in a revoked user id only selects nobody.
  ///
  /// - Parameter mail: The whole address, or a whole name. The case of letters is ignored.
  func people(withMail mail: String) throws -> [Fingerprint] {
    let mail = mail.lowercased()
    var found = Set(keyring.policy.people.filter { $0.value.removed == nil && $0.value.hasMail(mail) }.keys)
    guard Self.isMail(mail) else { return found.sorted() }
    for key in try keyring.publicKeys() where keyring.policy.isMember(key.fingerprint) {
      if key.userIDs.contains(where: { PublicKey.address(in: $0).hasSameBytes(as: mail) }) {
        found.insert(key.fingerprint)
      }
    }
    return found.sorted()
  }

  /// Returns the member of the keyring with a mail address; nil if the word is not an address or no member has it.
  ///
  /// - Parameter inKeyring: True to accept also an address that a member's key has only in the user's own GnuPG keyring.
  /// - Throws: `severalPeople`; `other` if a file has this name, too.
  func memberWithMail(_ word: Word, inKeyring: Bool = false) throws -> Fingerprint? {
    guard let mail = word.text, Self.isMail(mail) else { return nil }
    var found = try people(withMail: mail)
    if found.isEmpty, inKeyring {
      do {
        found = try UserKeyring(locations: try call.host().engineLocations).publicKeys(withMail: mail)
          .filter { !$0.isRevoked }.map(\.key.fingerprint).filter(keyring.policy.isMember)
      } catch let error as EngineError {
        throw KeyringError.engine(error, nil)
      }
    }
    guard let first = found.first else { return nil }
    try refuseFile(named: mail)
    return found.count == 1 ? first : try member(mail)
  }

  /// Returns true if the user has given the fingerprint of a person with `--fingerprint`.
  ///
  /// - Throws: A usage error if a value is not a fingerprint.
  func isFingerprintGiven(_ person: Fingerprint) throws -> Bool {
    let given = try call.arguments.values(GroupCommand.fingerprint).map { word in
      guard let fingerprint = word.text.flatMap(Self.fingerprint) else {
        throw call.misuse(.other("`--fingerprint` takes all 40 or 64 digits of a fingerprint"))
      }
      return fingerprint
    }
    return given.contains(person)
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
      return try UserKeyring(locations: host.engineLocations).export(fingerprint)
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

/// A change of people, groups or keys that a command line requests.
protocol TeamOperation {
  /// The people that the command line names, with its call and its keyring.
  var people: TeamPeople { get }
}

extension TeamOperation {
  var call: CommandCall { people.call }
  var keyring: Keyring { people.keyring }
  var policy: Policy { keyring.policy }
}

extension Person {
  /// Returns true if the name contains an email address: in angle brackets, or as the whole name.
  func hasMail(_ mail: String) -> Bool {
    let name = name.lowercased()
    return name == mail || name.hasSuffix("<\(mail)>")
  }
}
