internal import KeyringModel

/// The gpg.conf of an engine home.
///
/// The user's own gpg.conf is not read here, so `group`, `armor`, `throw-keyids`, `rfc2440` and
/// `encrypt-to` in it change nothing. A system-wide one in /etc/gnupg still is; that is one reason why every
/// message is checked after encrypting. Each option is known to GnuPG 2.2.36 and to 2.4.
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

  /// The whole file.
  ///
  /// - Parameter signer: Who signs when libgpgme names nobody, or nil.
  /// - Returns: The file's bytes.
  static func bytes(signer: Fingerprint?) -> [UInt8] {
    var text = options
    if let signer { text += signerLine + signer.text + "\n" }
    return Array(text.utf8)
  }

  /// Reads back who signs by default.
  ///
  /// - Parameter bytes: A file as `bytes(signer:)` writes it.
  /// - Returns: The fingerprint, or nil.
  static func signer(in bytes: [UInt8]) -> Fingerprint? {
    guard bytes.starts(with: options.utf8), bytes.last == UInt8(ascii: "\n") else { return nil }
    let rest = bytes.dropFirst(options.utf8.count)
    guard rest.starts(with: signerLine.utf8) else { return nil }
    return Fingerprint(
      String(decoding: rest.dropFirst(signerLine.utf8.count).dropLast(), as: UTF8.self))
  }

  private static let signerLine = "default-key "
}
