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
  let isNamed: Bool
  /// The lines that show the key.
  let facts: [String]
}

extension TeamPeople {
  /// Returns the key of a new person.
  ///
  /// - Parameter word: a fingerprint or a mail address of a key in the user's own GnuPG keyring, or the path of a file.
  /// - Throws: `severalPeople` if several keys have the address; `other` if no key has it; the errors of `key`.
  func newPerson(_ word: Word) throws -> NewPerson {
    if let mail = word.text, Self.isMail(mail), let found = try keyWithMail(mail) {
      let file = try key(Word(found.key.fingerprint.text))
      return NewPerson(
        file: file, source: "your GnuPG keyring", isNamed: false,
        facts: facts(of: found, at: try call.host().clock()))
    }
    let file = try key(word)
    let isNamed = word.text.flatMap(Self.fingerprint) != nil
    let name = file.key.userIDs.first ?? file.key.fingerprint.text
    return NewPerson(
      file: file, source: "the file", isNamed: isNamed, facts: ["\(file.key.fingerprint.text)  \(name)"])
  }

  /// Returns true if a word can be a mail address, and is not the path of a file in another folder.
  static func isMail(_ word: String) -> Bool {
    let parts = word.split(separator: "@", omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
      && !word.contains { $0 == "/" || $0.isWhitespace }
  }

  /// Returns the only key in the user's GnuPG keyring with a mail address; nil if there is none, but a file has this
  /// name.
  private func keyWithMail(_ mail: String) throws -> KeyWithMail? {
    let found: [KeyWithMail]
    do {
      found = try UserKeyring(locations: try call.host().engineLocations).publicKeys(withMail: mail)
    } catch let error as EngineError {
      throw KeyringError.engine(error, nil)
    }
    var status = stat()
    let isFile = unsafe stat(mail, &status) == 0
    if found.isEmpty {
      if isFile { return nil }
      throw CommandError.other(
        .notFound, message: "no key in your GnuPG keyring has the mail address \(ErrorReport.quote(mail))",
        hint: "ask that person for the output of `gpg --armor --export \(mail)`, and give the file")
    }
    guard !isFile else {
      throw CommandError.other(
        .ambiguous,
        message: "a file and a key in your GnuPG keyring have the name \(ErrorReport.quote(mail))",
        hint: "give `./\(mail)` for the file, or the full fingerprint of the key")
    }
    guard found.count == 1 else {
      throw CommandError.severalPeople(
        mail, found.map { "\($0.key.fingerprint.text)  \($0.userID) (\(words($0.validity)))" })
    }
    return found[0]
  }

  private func facts(of found: KeyWithMail, at now: Timestamp) -> [String] {
    var list = FactList()
    list.add("name", found.userID)
    for userID in found.key.userIDs where userID != found.userID { list.add("also", userID) }
    list.add("fingerprint", found.key.fingerprint.inGroups)
    let expiry =
      found.key.lastDay.map { "\($0 <= now ? "expired" : "expires") \($0.day)" } ?? "does not expire"
    list.add("validity", "\(words(found.validity)), \(expiry)")
    return list.lines
  }

  private func words(_ validity: KeyValidity) -> String {
    switch validity {
    case .unknown: "not certified by anyone whom you trust"
    case .never: "NOT TRUSTED, according to your GnuPG keyring"
    case .marginal: "partly certified"
    case .full: "certified"
    case .ultimate: "your own key"
    }
  }
}

extension Fingerprint {
  /// The digits in groups of four, as gpg prints them, which people can compare.
  var inGroups: String {
    let digits = Array(text)
    return stride(from: 0, to: digits.count, by: 4)
      .map { String(digits[$0..<min($0 + 4, digits.count)]) }.joined(separator: " ")
  }
}
