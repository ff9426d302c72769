import Foundation
import TestSupport
import Testing

/// What the owners of keys do with GnuPG.
extension KeyLifeWorld {
  /// The reason of a revocation, as in the menu of gpg.
  enum Reason: Int, CaseIterable, Sendable { case none, compromised, superseded, retired }

  /// Exports the public key of a person to a file, by default to one that is named after the person.
  @discardableResult
  func export(_ person: Person, to name: String? = nil, options: [String] = ["--armor"]) throws -> String {
    let path = file(name ?? "\(person).asc")
    try gpg(person, options + ["--output", path, "--export", try fingerprint(of: person)])
    return path
  }

  /// Returns the fingerprints of the primary keys in a person's keyring.
  func primaries(of person: Person) throws -> [String] {
    let lines = try gpg(person, ["--with-colons", "--list-keys"]).split(separator: "\n")
    return zip(lines, lines.dropFirst()).filter { $0.0.hasPrefix("pub:") }.map { Self.field(9, of: $0.1) }
  }

  /// Returns the fingerprints of the subkeys of a person's key in their own keyring, in the order of gpg.
  func subkeys(of person: Person) throws -> [String] {
    let listing = try gpg(person, ["--with-colons", "--list-keys", try fingerprint(of: person)])
    return listing.split(separator: "\n").filter { $0.hasPrefix("fpr:") }.dropFirst().map {
      Self.field(9, of: $0)
    }
  }

  private static func field(_ number: Int, of line: Substring) -> String {
    String(line.split(separator: ":", omittingEmptySubsequences: false)[number])
  }

  /// The owner's signing subkey.
  var signingSubkey: String { get throws { try subkeys(of: .owner)[0] } }
  /// The owner's encryption subkey.
  var encryptionSubkey: String { get throws { try subkeys(of: .owner)[1] } }

  /// Adds a subkey to a person's key.
  ///
  /// - Parameter use: `sign` or `encr`.
  func addSubkey(_ use: String, to person: Person = .owner) throws {
    let algorithm = use == "sign" ? "ed25519" : "cv25519"
    try gpg(person, ["--quick-add-key", try fingerprint(of: person), algorithm, use, "never"])
  }

  /// Revokes the owner's subkey with a number from 1, or the primary key with the number 0.
  func revoke(_ number: Int, _ reason: Reason) throws {
    let choice = number == 0 ? "" : "key \(number)\n"
    try gpg(
      .owner, ["--no-batch", "--command-fd", "0", "--edit-key", try fingerprint(of: .owner)],
      input: "\(choice)revkey\ny\n\(reason.rawValue)\n\ny\nsave\n")
  }

  /// Gives parts of a person's key an end date.
  ///
  /// - Parameter subkeys: The subkeys; the primary key if there are none.
  func setEnd(_ date: String, of subkeys: [String], _ person: Person = .owner) throws {
    try gpg(person, ["--quick-set-expire", try fingerprint(of: person), date] + subkeys)
  }

  /// Removes the secret part of an owner's subkey from this machine.
  func loseSecret(of subkey: String) throws {
    let listing = try gpg(.owner, ["--with-colons", "--with-keygrip", "--list-keys", subkey])
    let lines = listing.split(separator: "\n")
    let place = try #require(lines.firstIndex { $0.hasPrefix("fpr:") && $0.contains(subkey) })
    let grip = Self.field(9, of: try #require(lines[place...].first { $0.hasPrefix("grp:") }))
    stopAgent(of: .owner)
    try FileManager.default.removeItem(atPath: file("owner/g/private-keys-v1.d/\(grip).key"))
  }

  /// Makes a second key in a person's keyring, and exports it to the file `NEWKEY`.
  func makeNewKey(of person: Person) throws {
    try gpg(person, ["--quick-gen-key", "New Key <new@life.example>", "default", "default", "never"])
    try gpg(person, ["--armor", "--output", file("NEWKEY"), "--export", "new@life.example"])
  }

  /// Returns a word of a command, with a placeholder replaced by its path or fingerprint.
  func resolve(_ word: String) throws -> String {
    switch word {
    case "OWNER": return try fingerprint(of: .owner)
    case "MEMBER": return try fingerprint(of: .member)
    case "NEW":
      let listing = try gpg(.job, ["--with-colons", "--show-keys", file("NEWKEY")])
      return Self.field(9, of: try #require(listing.split(separator: "\n").first { $0.hasPrefix("fpr:") }))
    case "FILE":
      if !FileManager.default.fileExists(atPath: file("FILE")) { try export(.owner, to: "FILE") }
      return file("FILE")
    case "NEWKEY": return file("NEWKEY")
    default: return word
    }
  }
}
