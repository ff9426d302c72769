internal import KeyringModel

/// The gpg.conf of an engine home.
///
/// The user's own gpg.conf is not read, so `group`, `armor`, `throw-keyids`, `rfc2440` and `encrypt-to` in it have no
/// effect. A system-wide one in /etc/gnupg is still read, which is one reason why every message is checked after
/// encrypting. All options exist in GnuPG 2.2.36 and in 2.4.
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

    """

  /// Returns the whole file.
  ///
  /// - Parameter signer: The key that signs when libgpgme gets no signer, or nil.
  /// - Returns: The file's bytes.
  static func bytes(signer: Fingerprint?) -> [UInt8] {
    var text = options
    if let signer { text += signerLine + signer.text + "\n" }
    return Array(text.utf8)
  }

  /// Returns true if a file is as `bytes(signer:)` writes it, with any signer.
  ///
  /// - Parameter bytes: The content of the file.
  static func isValid(_ bytes: [UInt8]) -> Bool { bytes == self.bytes(signer: signer(in: bytes)) }

  /// Parses the default signer.
  ///
  /// - Parameter bytes: A file as `bytes(signer:)` writes it.
  /// - Returns: The fingerprint; nil if there is none.
  static func signer(in bytes: [UInt8]) -> Fingerprint? {
    guard bytes.starts(with: options.utf8), bytes.last == UInt8(ascii: "\n") else { return nil }
    let rest = bytes.dropFirst(options.utf8.count)
    guard rest.starts(with: signerLine.utf8) else { return nil }
    return Fingerprint(
      String(decoding: rest.dropFirst(signerLine.utf8.count).dropLast(), as: UTF8.self))
  }

  private static let signerLine = "default-key "
}
