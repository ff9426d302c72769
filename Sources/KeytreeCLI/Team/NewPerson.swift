internal import Arguments
internal import CommandSupport
internal import Glibc
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Terminal

/// The key of a person who is to be added to a keyring, with the facts that the user has to compare.
struct NewPerson {
  /// The key in its minimal form.
  let file: KeyFile
  /// The source of the key, for messages.
  let source: String
  /// True if the user has given the full fingerprint.
  let isFingerprintGiven: Bool
  /// The lines that show the key.
  let facts: [String]
}

extension TeamPeople {
  /// Returns the key of a new person.
  ///
  /// - Parameter word: a fingerprint or a mail address of a key in the user's own GnuPG keyring, or the path of a file.
  /// - Throws: `severalKeysWithMail` if several usable keys have the address; `other` if no key has it; the errors of
  ///   `key`.
  func newPerson(_ word: Word) throws -> NewPerson {
    if let mail = word.text, Self.isMail(mail), let found = try keyWithMail(mail) {
      let file = try key(Word(found.key.fingerprint.text))
      return NewPerson(
        file: file, source: "your GnuPG keyring", isFingerprintGiven: false,
        facts: facts(of: found, at: try call.host().clock()))
    }
    let file = try key(word)
    let isFingerprintGiven = word.text.flatMap(Self.fingerprint) != nil
    let name = file.key.userIDs.first.map(Person.shownName) ?? file.key.fingerprint.text
    return NewPerson(
      file: file, source: "the file", isFingerprintGiven: isFingerprintGiven,
      facts: ["\(file.key.fingerprint.text)  \(name)"])
  }

  /// Returns true if a word can be a mail address, and is not the path of a file in another folder.
  static func isMail(_ word: String) -> Bool {
    let parts = word.split(separator: "@", omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
      && !word.contains { $0 == "/" || $0.isWhitespace }
  }

  /// Returns the only usable key in the user's GnuPG keyring with a mail address; nil if no key has it, but a file has
  /// this name.
  private func keyWithMail(_ mail: String) throws -> KeyWithMail? {
    let all: [KeyWithMail]
    do {
      all = try UserKeyring(locations: try call.host().engineLocations).publicKeys(withMail: mail)
    } catch let error as EngineError {
      throw KeyringError.engine(error, nil)
    }
    let found = all.filter { !$0.isRevoked }
    if found.isEmpty {
      if Self.isFile(mail) { return nil }
      throw notFound(mail, revoked: all)
    }
    try refuseFile(named: mail)
    if found.count == 1 { return found[0] }
    let now = try call.host().clock()
    let usable = found.filter { $0.key.problem(for: .encrypt, at: now) == nil }
    if usable.count == 1 { return usable[0] }
    throw CommandError.severalKeysWithMail(
      mail,
      found.map { key in
        let problem = key.key.problem(for: .encrypt, at: now).map { "; \($0.message)" } ?? ""
        return
          "\(key.key.fingerprint.text)  \(Person.shownName(key.userID)) (\(description(of: key.validity))\(problem))"
      })
  }

  private func notFound(_ mail: String, revoked: [KeyWithMail]) -> CommandError {
    let name = ErrorReport.quote(mail)
    let hint = "ask that person for the output of `gpg --armor --export \(mail)`, and give the file"
    guard let key = revoked.first else {
      return .other(
        .notFound, message: "no key in your GnuPG keyring has the mail address \(name)", hint: hint)
    }
    let part = key.key.revoked ? "is" : "has the address only in a user id that is"
    return .other(
      .notFound,
      message: "the key \(key.key.fingerprint.text) with the mail address \(name) \(part) revoked", hint: hint
    )
  }

  /// Throws an error if a file has the name of a mail address, because the word could mean either.
  func refuseFile(named mail: String) throws {
    guard Self.isFile(mail) else { return }
    throw CommandError.other(
      .ambiguous,
      message: "a file and a key have the name \(ErrorReport.quote(mail))",
      hint: "give `./\(mail)` for the file, or the full fingerprint of the key")
  }

  private static func isFile(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0
  }

  private func facts(of found: KeyWithMail, at now: Timestamp) -> [String] {
    var list = FactList()
    list.add("name", Person.shownName(found.userID))
    for userID in found.key.userIDs where userID != found.userID {
      list.add("also", Person.shownName(userID))
    }
    list.add("fingerprint", found.key.fingerprint.inGroups)
    let expiry =
      found.key.lastDay.map { "\($0 <= now ? "expired" : "expires") \($0.day)" } ?? "does not expire"
    list.add("validity", "\(description(of: found.validity)), \(expiry)")
    return list.lines()
  }

  private func description(of validity: KeyValidity) -> String {
    switch validity {
    case .unknown: "not certified by anyone whom you trust"
    case .never: "NOT TRUSTED, according to your GnuPG keyring"
    case .marginal: "partly certified"
    case .full: "certified"
    case .ultimate: "your own key"
    }
  }
}
