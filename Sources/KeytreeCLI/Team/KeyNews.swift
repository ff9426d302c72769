internal import CommandSupport
internal import Encoding
internal import Keyring
internal import KeyringModel
internal import OpenPGP

/// The changes of one of the user's own keys that their GnuPG keyring has and the store lacks.
struct OwnKeyNews {
  /// The key in the user's keyring.
  private let key: PublicKey
  /// The changes, each as the part of a sentence; not empty.
  let changes: [String]

  /// Returns the changes of all members' keys whose secrets the user has.
  ///
  /// - Parameters:
  ///   - keyring: The keyring.
  ///   - stored: The keys in the store.
  ///   - host: The facts about this machine.
  /// - Returns: The keys that have changed, sorted by fingerprint. There are none if the user's keyring cannot be read,
  ///   which `doctor` reports.
  static func list(of keyring: Keyring, _ stored: [PublicKey], _ host: HostContext) -> [Self] {
    guard !stored.isEmpty, let own = try? OwnKeys(host: host) else { return [] }
    return own.candidates.map(\.key).sorted { $0.fingerprint < $1.fingerprint }.compactMap { key in
      guard keyring.policy.isMember(key.fingerprint),
        let old = stored.first(where: { $0.fingerprint == key.fingerprint })
      else { return nil }
      let changes = key.news(since: old)
      return changes.isEmpty ? nil : Self(key: key, changes: changes)
    }
  }

  /// Returns the changes with what the user does about them.
  ///
  /// - Parameter isOnly: True if no other key of the user has changed, so that this one need not be named.
  func line(isOnly: Bool) -> String {
    // A revoked key cannot be imported.
    let hint =
      key.revocation == nil
      ? "`keytree group refresh` imports it"
      : "`keytree group replace \(key.fingerprint.text) NEWKEY` gives its role and groups to a new key"
    let name = isOnly ? "your key" : "your key \(key.fingerprint.text)"
    return "\(name) has changed in your GnuPG keyring: \(changes.joined(separator: "; ")); \(hint)"
  }
}

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
