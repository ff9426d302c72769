internal import Glibc
internal import KeyringModel

/// The key that signs when libgpgme gets no signer, and the state of the user's keyring for which it was selected.
struct DefaultSigner: Equatable, Sendable {
  /// The primary fingerprint.
  let person: Fingerprint
  /// The subkey, or the primary key, that signs; nil if the user's keyring does not list the secret keys of the person. gpg
  /// then selects one.
  let key: Fingerprint?
  /// The user's GnuPG home.
  let userHome: String
  /// The state of the user's keyring: another one may have a revocation or a new secret key.
  let stamp: String

  /// True if the user's keyring has not changed since.
  var isCurrent: Bool { stamp == Self.stamp(ofHome: userHome) }

  /// The name of the key for gpg. With an exclamation mark gpg uses exactly this key.
  var name: String { key.map { $0.text + "!" } ?? person.text }

  /// Returns the state of the keyring in a GnuPG home, from the metadata of the files that GnuPG may store it in, and of the
  /// folder with the secret keys.
  ///
  /// - Parameter home: The GnuPG home.
  /// - Returns: A text without spaces.
  static func stamp(ofHome home: String) -> String {
    var parts: [String] = []
    for name in ["pubring.kbx", "pubring.gpg", "public-keys.d/pubring.db", "private-keys-v1.d"] {
      var status = stat()
      guard unsafe stat("\(home)/\(name)", &status) == 0 else { continue }
      let time = status.st_mtim
      parts.append("\(name)=\(status.st_ino).\(time.tv_sec).\(time.tv_nsec).\(status.st_size)")
    }
    return parts.isEmpty ? "none" : parts.joined(separator: ",")
  }
}
