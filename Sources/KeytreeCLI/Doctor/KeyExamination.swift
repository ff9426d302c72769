internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import OpenPGP

/// The keys part of `doctor`: what each key can be used for, and for how long.
struct KeyExamination {
  /// The keys in the user's own keyring whose secret half she has.
  let own: [PublicKey]
  let now: Timestamp

  /// The keys of a policy.
  ///
  /// - Parameters:
  ///   - keys: the people's keys as the store has them.
  ///   - ring: the same keys as the user's own keyring has them, where it has them.
  ///   - path: the store, for advice.
  func people(
    of policy: Policy, me: Fingerprint, keys: [PublicKey], ring: [Fingerprint: PublicKey], path: String
  ) -> [Diagnosis] {
    var list: [Diagnosis] = []
    for (fingerprint, person) in policy.people.sorted(by: { $0.key < $1.key })
    where person.removed == nil {
      let isMe = fingerprint == me
      let name = "\(fingerprint.text)  \(person.name)\(isMe ? " (you)" : "")"
      let key = keys.first { $0.fingerprint == fingerprint }
      let file = "\(path)/keys/\(fingerprint.text).asc"
      if let diagnosis = problem(key, ring[fingerprint], name, isMe: isMe, file: file) {
        list.append(diagnosis)
      } else if isMe, !own.contains(where: { $0.fingerprint == fingerprint }) {
        list.append(
          .wrong(
            "key", "\(name): its secret half is not with your agent",
            advice: "bring it over from your other machine (`gpg --export-secret-keys`)"))
      } else {
        list.append(lifetime(of: key, name))
      }
    }
    return list
  }

  /// The user's own keys, where there is no store.
  var ownKeys: [Diagnosis] {
    guard !own.isEmpty else {
      return [
        .wrong("key", "you have no secret key", advice: "`gpg --quick-gen-key 'NAME <MAIL>'` makes one")
      ]
    }
    let list = own.map { key -> Diagnosis in
      let name = "\(key.fingerprint.text)  \(key.userIDs.first ?? "")"
      guard let problem = key.problem(for: .encrypt, at: now) ?? key.problem(for: .sign, at: now) else {
        return lifetime(of: key, name)
      }
      return .note("key", "\(name): \(problem.message)")
    }
    guard list.contains(where: { $0.state != .note }) || own.contains(where: isUsable) else {
      return list + [
        .wrong(
          "key", "none of your secret keys can be used to keep a store",
          advice: "`gpg --quick-gen-key 'NAME <MAIL>'` makes one that can")
      ]
    }
    return list
  }

  /// Returns true if a key can be the key of a store.
  func isUsable(_ key: PublicKey) -> Bool {
    key.problem(for: .encrypt, at: now) == nil && key.problem(for: .sign, at: now) == nil
  }

  private func problem(
    _ key: PublicKey?, _ inRing: PublicKey?, _ name: String, isMe: Bool, file: String
  ) -> Diagnosis? {
    guard let key else {
      return .wrong(
        "key", "\(name): the file in `keys` does not hold it", advice: "restore \(file) from git or a backup")
    }
    let stored = key.problem(for: .encrypt, at: now) ?? (isMe ? key.problem(for: .sign, at: now) : nil)
    // The user's keyring may know better: a revocation that came later, a key that she has disabled.
    let known = inRing.flatMap { ring in
      ring.problem(for: .encrypt, at: now) ?? (isMe ? ring.problem(for: .sign, at: now) : nil)
    }
    let mine = isMe || own.contains { $0.fingerprint == key.fingerprint }
    if let stored {
      if inRing != nil, known == nil {
        return .wrong(
          "key", "\(name): \(stored.message) in the store, but not in your keyring",
          advice: "`gpg --armor --export \(key.fingerprint.text)` into \(file)")
      }
      return .wrong("key", "\(name): \(stored.message)", advice: advice(stored, key.fingerprint, mine, file))
    }
    switch known {
    case nil, .missing: return nil
    case .disabled?:
      return .wrong(
        "key", "\(name): you have disabled it in your keyring, but items are still sealed to it",
        advice: "`gpg --edit-key \(key.fingerprint.text) enable save`, or take the person out of the store")
    case let problem?:
      return .wrong(
        "key", "\(name): \(problem.message), says your keyring; the store does not know it yet",
        advice: advice(problem, key.fingerprint, mine, file))
    }
  }

  private func advice(
    _ problem: KeyProblem, _ fingerprint: Fingerprint, _ isMine: Bool, _ file: String
  ) -> String {
    switch problem {
    case .expired:
      isMine
        ? "`gpg --quick-set-expire \(fingerprint.text) 2y` prolongs it; then export it into \(file)"
        : "ask for the prolonged key, and put it into \(file)"
    case .revoked: "ask for the key that took its place"
    case .disabled: "`gpg --edit-key \(fingerprint.text) enable save`"
    case .cannotEncrypt: "`gpg --quick-add-key \(fingerprint.text) cv25519 encr` adds a subkey for it"
    case .cannotSign: "`gpg --quick-add-key \(fingerprint.text) ed25519 sign` adds a subkey for it"
    case .noSecretKey: "bring it over from your other machine (`gpg --export-secret-keys`)"
    case .noPassphrase: "`gpg --change-passphrase \(fingerprint.text)` gives it one"
    case .onCard: "keep items that have to ask each time with a key that is no card's"
    case .sharedSubkey: "ask both people which of them owns it, and remove the other one from the store"
    case .tooLarge: "remove old user ids, photos and subkeys: `gpg --edit-key \(fingerprint.text)`"
    case .missing, .invalid: "restore \(file) from git or a backup"
    }
  }

  private func lifetime(of key: PublicKey?, _ name: String) -> Diagnosis {
    guard let end = key?.lastDay else { return .ok("key", "\(name), does not expire") }
    let days = (end.microseconds - now.microseconds) / (86_400 * 1_000_000)
    guard end.microseconds - now.microseconds <= StoreVerification.notice else {
      return .ok("key", "\(name), expires \(end.rfc3339)")
    }
    return .note(
      "key", "\(name), expires in \(days) days (\(end.rfc3339))",
      advice: "prolong it in time: items can still be read then, but nothing can be written")
  }
}
