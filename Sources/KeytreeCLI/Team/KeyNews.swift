internal import CommandSupport
internal import Encoding
internal import OpenPGP

extension PublicKey {
  /// Returns the changes of a key that the user's own GnuPG keyring has and a key file of the store lacks, each as the part
  /// of a sentence. An older key has none.
  ///
  /// - Parameter stored: The key in the store.
  func news(since stored: PublicKey) -> [String] {
    let list = subkeys.compactMap { subkey -> String? in
      let old = stored.subkeys.first { $0.fingerprint == subkey.fingerprint }
      if let old, !subkey.isNewer(than: old) { return nil }
      return subkey.change(since: old, of: self)
    }
    let added = userIDs.filter { !stored.userIDs.contains($0) }
    return list + added.map { "new user id \(ErrorReport.quote($0))" }
  }
}

extension PublicKey.Subkey {
  /// Returns the change of a subkey as the part of a sentence; nil if neither its expiry nor its revocation has changed.
  ///
  /// - Parameters:
  ///   - old: The older state; nil for a new subkey.
  ///   - key: The key that has it.
  func change(since old: Self?, of key: PublicKey) -> String? {
    let use = canEncrypt ? "encryption " : canSign ? "signing " : ""
    let name = fingerprint == key.fingerprint ? "primary key" : "\(use)subkey \(keyID.text)"
    if let revocation, revocation != old?.revocation { return "\(name) revoked (\(revocation.word))" }
    guard let old else { return "new \(name)" }
    guard old.expires != expires else { return nil }
    return expires.map { "\(name) valid until \($0.day)" } ?? "\(name) without an end date"
  }

  /// Returns true if it was revoked or extended since an older state.
  fileprivate func isNewer(than old: Self) -> Bool {
    if revocation != nil, old.revocation == nil { return true }
    guard let end = old.expires else { return false }
    return expires.map { $0 > end } ?? true
  }
}
