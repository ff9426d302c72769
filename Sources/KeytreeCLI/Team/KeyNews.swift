internal import CommandSupport
internal import Encoding
internal import OpenPGP

extension PublicKey {
  /// Returns the changes of a key that the user's own GnuPG keyring has and a key file of the store lacks, each as the part
  /// of a sentence. An older key has none.
  ///
  /// - Parameter stored: The key in the store.
  func news(since stored: PublicKey) -> [String] {
    var list: [String] = []
    for subkey in subkeys {
      let isPrimary = subkey.fingerprint == fingerprint
      let name =
        isPrimary
        ? "primary key"
        : "\(subkey.canEncrypt ? "encryption " : subkey.canSign ? "signing " : "")subkey \(subkey.keyID.text)"
      guard let old = stored.subkeys.first(where: { $0.fingerprint == subkey.fingerprint }) else {
        list.append("new \(name)")
        continue
      }
      if let revocation = subkey.revocation, old.revocation == nil {
        list.append("\(name) revoked (\(revocation.word))")
      } else if let end = old.expires, subkey.expires.map({ $0 > end }) ?? true {
        list.append(subkey.expires.map { "\(name) valid until \($0.day)" } ?? "\(name) without an end date")
      }
    }
    let added = userIDs.filter { !stored.userIDs.contains($0) }
    return list + added.map { "new user id \(ErrorReport.quote($0))" }
  }
}
