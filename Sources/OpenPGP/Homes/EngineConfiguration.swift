internal import Encoding
internal import KeyringModel

/// The gpg.conf of an engine home.
///
/// The user's own gpg.conf is not read, so `group`, `armor`, `throw-keyids`, `rfc2440` and `encrypt-to` in it have no
/// effect. A system-wide one in /etc/gnupg is still read, which is one reason why every message is checked after
/// encrypting. Times are compared by this program, not by gpg: if the clock is behind, gpg would not even import a key,
/// and would take correct signatures for bad ones. All options exist in GnuPG 2.2.36 and in 2.4.
enum EngineConfiguration {
  private static let options = """
    # Written by keytree; changes are lost.
    batch
    no-greeting
    no-autostart
    lock-never
    no-random-seed-file
    no-auto-check-trustdb
    trust-model always
    disable-dirmngr
    no-auto-key-locate
    no-auto-key-retrieve
    no-symkey-cache
    no-encrypt-to
    no-throw-keyids
    no-comments
    no-emit-version
    cipher-algo AES256
    personal-digest-preferences SHA512 SHA384 SHA256
    compress-algo none
    ignore-time-conflict
    ignore-valid-from

    """

  /// Returns the whole file.
  ///
  /// - Parameter signer: The key that signs when libgpgme gets no signer, or nil.
  /// - Returns: The file's bytes.
  static func bytes(signer: DefaultSigner?) -> [UInt8] {
    guard let signer else { return Array(options.utf8) }
    let home = PercentEscapes.encode(signer.userHome)
    return Array(
      "\(options)\(commentStart)\(signer.person.text) \(home) \(signer.stamp)\n\(signerStart)\(signer.name)\n"
        .utf8)
  }

  /// Returns true if a file is as `bytes(signer:)` writes it, with any signer.
  ///
  /// - Parameter bytes: The content of the file.
  static func isValid(_ bytes: [UInt8]) -> Bool { bytes == self.bytes(signer: signer(in: bytes)) }

  /// Parses the default signer.
  ///
  /// - Parameter bytes: A file as `bytes(signer:)` writes it.
  /// - Returns: The signer; nil if there is none.
  static func signer(in bytes: [UInt8]) -> DefaultSigner? {
    guard bytes.starts(with: options.utf8) else { return nil }
    let lines = String(decoding: bytes.dropFirst(options.utf8.count), as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 3, lines[0].hasPrefix(commentStart), lines[1].hasPrefix(signerStart) else {
      return nil
    }
    let words = lines[0].dropFirst(commentStart.count).split(separator: " ", omittingEmptySubsequences: false)
    let name = lines[1].dropFirst(signerStart.count)
    guard words.count == 3, let person = Fingerprint(String(words[0])),
      let home = PercentEscapes.decode(words[1].utf8)
    else { return nil }
    let signer = DefaultSigner(
      person: person, key: name.hasSuffix("!") ? Fingerprint(String(name.dropLast())) : nil,
      userHome: String(decoding: home, as: UTF8.self), stamp: String(words[2]))
    return self.bytes(signer: signer) == bytes ? signer : nil
  }

  private static let commentStart = "# signer "
  private static let signerStart = "default-key "
}
