internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import OpenPGP

/// The key checks of `doctor`: the uses and the lifetime of each key.
struct KeyExamination {
  /// The keys in the user's own keyring that have a secret key.
  let own: [PublicKey]
  let now: Timestamp
  /// The places of the secrets of the user's own subkeys; nil if they are not known.
  var secrets: [Fingerprint: SecretPlace]? = [:]

  /// Returns the diagnoses of the keys in a policy.
  ///
  /// - Parameters:
  ///   - keys: the keys of the people, from the store.
  ///   - problems: the reasons why some of them cannot be encrypted to.
  ///   - ring: the same keys from the user's own keyring, if it contains them.
  ///   - path: the path of the store, for the advice.
  func people(
    of policy: Policy, mine: Set<Fingerprint>, keys: [PublicKey], problems: [Fingerprint: KeyProblem],
    ring: [Fingerprint: PublicKey], path: String
  ) -> [Diagnosis] {
    var list: [Diagnosis] = []
    for (fingerprint, person) in policy.people.sorted(by: { $0.key < $1.key })
    where person.removed == nil {
      let isMe = mine.contains(fingerprint)
      let name = "\(fingerprint.text)  \(person.shownName)\(isMe ? " (you)" : "")"
      let key = keys.first { $0.fingerprint == fingerprint }
      let file = "\(path)/keys/\(fingerprint.text).asc"
      if let advice = problems[fingerprint]?.upgradeHint, let problem = problems[fingerprint] {
        list.append(.wrong("key", "\(name): \(problem.message)", advice: advice))
      } else if let diagnosis = problem(
        key, ring[fingerprint], person.encryptTo, name, isMe: isMe, file: file)
      {
        list.append(diagnosis)
      } else if isMe, !own.contains(where: { $0.fingerprint == fingerprint }) {
        list.append(
          .wrong(
            "key", "\(name): its secret key is not available",
            advice: "import it from your other machine (`gpg --export-secret-keys`)"))
      } else {
        list.append(lifetime(of: key, listed: person.encryptTo, name))
      }
      if let key, let inRing = ring[fingerprint] {
        let news = inRing.news(since: key)
        // A revoked key cannot be imported.
        if !news.isEmpty, inRing.revocation == nil {
          list.append(
            .note(
              "key", "\(name) has changed in your GnuPG keyring: \(news.joined(separator: "; "))",
              advice: "`keytree group refresh` imports it"))
        }
      }
      if let key, isMe { list += subkeys(of: key, listed: person.encryptTo) }
    }
    return list
  }

  /// Returns a line for the signing subkey of the user's own key, and one for each subkey that items are encrypted to.
  private func subkeys(of key: PublicKey, listed: [Fingerprint]) -> [Diagnosis] {
    var lines: [Diagnosis] = []
    if let signing = key.subkey(for: .sign, at: now) { lines.append(line("signing", signing)) }
    return lines
      + key.subkeys.filter { listed.contains($0.fingerprint) }.map { line("encryption", $0) }
  }

  private func line(_ use: String, _ subkey: PublicKey.Subkey) -> Diagnosis {
    let place =
      switch secrets.map({ $0[subkey.fingerprint] ?? .elsewhere }) {
      case .here: "; its secret is here"
      case .onCard: "; its secret is on a card"
      case .elsewhere: "; its secret is elsewhere"
      case nil: ""
      }
    let end =
      subkey.expires.map { $0 <= now ? "expired \($0.day)" : "expires \($0.day)" } ?? "does not expire"
    return .ok(use, "subkey \(subkey.keyID.text), \(end)\(place)")
  }

  /// The diagnoses of the user's own keys, if no store exists.
  var ownKeys: [Diagnosis] {
    guard !own.isEmpty else {
      return [
        .wrong("key", "you have no secret key", advice: ErrorReport.newKeyHint)
      ]
    }
    let list = own.map { key -> Diagnosis in
      let name = "\(key.fingerprint.text)  \(key.userIDs.first.map(Person.shownName) ?? "")"
      guard let problem = key.problem(for: .encrypt, at: now) ?? key.problem(for: .sign, at: now) else {
        return lifetime(of: key, listed: nil, name)
      }
      return .note("key", "\(name): \(problem.message)")
    }
    guard list.contains(where: { $0.state != .note }) || own.contains(where: isUsable) else {
      return list + [
        .wrong(
          "key", "none of your secret keys can be used for a store",
          advice: own.contains(where: isFromFuture) ? ErrorReport.clockHint : ErrorReport.newKeyHint)
      ]
    }
    return list
  }

  /// Returns true if the clock is before the creation of a key, so that no key can help.
  private func isFromFuture(_ key: PublicKey) -> Bool {
    guard case .fromFuture? = key.problem(for: .encrypt, at: now) else { return false }
    return true
  }

  /// Returns true if a key can be the key of a store.
  func isUsable(_ key: PublicKey) -> Bool {
    key.problem(for: .encrypt, at: now) == nil && key.problem(for: .sign, at: now) == nil
  }

  private func problem(
    _ key: PublicKey?, _ inRing: PublicKey?, _ listed: [Fingerprint], _ name: String, isMe: Bool, file: String
  ) -> Diagnosis? {
    guard let key else {
      return .wrong(
        "key", "\(name): the file in `keys` does not contain it",
        advice: "restore \(file) from git or a backup")
    }
    let stored = key.problem(for: .encrypt, at: now) ?? (isMe ? key.problem(for: .sign, at: now) : nil)
    // The user's keyring may have newer facts: a later revocation, or a key that the user has disabled.
    let known = inRing.flatMap { ring in
      ring.problem(for: .encrypt, at: now) ?? (isMe ? ring.problem(for: .sign, at: now) : nil)
    }
    let mine = isMe || own.contains { $0.fingerprint == key.fingerprint }
    if let stored {
      if inRing != nil, known == nil {
        return .wrong(
          "key", "\(name): \(stored.message) in the store, but not in your keyring",
          advice: "`keytree group refresh` imports it")
      }
      return .wrong("key", "\(name): \(stored.message)", advice: advice(stored, key, listed, mine, file))
    }
    switch known {
    case nil, .missing: return nil
    case .disabled?:
      return .wrong(
        "key", "\(name): you have disabled it in your keyring, but items are still encrypted to it",
        advice:
          "`gpg --edit-key \(key.fingerprint.text) enable save` enables it; or remove the person from the store"
      )
    case let problem?:
      return .wrong(
        "key", "\(name): \(problem.message) in your keyring, but not yet in the store",
        advice: advice(problem, inRing ?? key, listed, mine, file))
    }
  }

  private func advice(
    _ problem: KeyProblem, _ key: PublicKey, _ listed: [Fingerprint], _ isMine: Bool, _ file: String
  ) -> String {
    let fingerprint = key.fingerprint
    return switch problem {
    case .expired:
      isMine
        ? "\(key.extensionCommands(listed: listed, at: now)) extends it; then `keytree group refresh` imports it"
        : "its owner extends it with \(key.extensionCommands(listed: listed, at: now)); then `keytree group refresh "
          + "KEYFILE` imports it"
    case .fromFuture: ErrorReport.clockHint
    case .revoked where key.revocation == nil:
      // Only the subkeys are revoked.
      newSubkey(key.problem(for: .encrypt, at: now) == nil ? "ed25519 sign" : "cv25519 encr", of: key, isMine)
    case .revoked:
      isMine
        ? "`keytree group replace \(fingerprint.text) NEWKEY` gives its groups to your new key"
        : "ask for the key that replaces it"
    case .disabled: "`gpg --edit-key \(fingerprint.text) enable save` enables it"
    case .cannotEncrypt: newSubkey("cv25519 encr", of: key, isMine)
    case .cannotSign: newSubkey("ed25519 sign", of: key, isMine)
    case .noSigningSecret, .revokedHere: ErrorReport.signingHint(fingerprint)
    case .noSecretKey: "import it from your other machine (`gpg --export-secret-keys`)"
    case .noPassphrase: "`gpg --change-passphrase \(fingerprint.text)` sets one"
    case .onCard: "for items that must prompt each time, use a key that is not on a smart card"
    case .sharedSubkey: "ask both people who owns it, and remove the other person from the store"
    case .tooLarge, .tooManyParts, .tooManySignatures:
      "remove old user ids, photos and subkeys: `gpg --edit-key \(fingerprint.text)`"
    case .tooManyBits: "ask for the key that replaces it"
    case .unreadable: problem.upgradeHint ?? ""
    case .missing, .invalid: "restore \(file) from git or a backup"
    }
  }

  /// Returns the commands that add a subkey.
  ///
  /// - Parameter kind: The arguments of gpg: an algorithm and a use.
  private func newSubkey(_ kind: String, of key: PublicKey, _ isMine: Bool) -> String {
    let command = "`gpg --quick-add-key \(key.fingerprint.text) \(kind)`"
    return isMine
      ? "\(command) adds one; then `keytree group refresh` imports it"
      : "its owner adds one with \(command); then `keytree group refresh KEYFILE` imports it"
  }

  private func lifetime(of key: PublicKey?, listed: [Fingerprint]?, _ name: String) -> Diagnosis {
    guard let key, let end = listed.map(key.end(listed:)) ?? key.lastDay else {
      return .ok("key", "\(name), does not expire")
    }
    guard end.microseconds - now.microseconds <= StoreVerification.notice else {
      return .ok("key", "\(name), expires \(end.day)")
    }
    return .note(
      "key", "\(name), \(ErrorReport.expiry(at: end, now: now))",
      advice: "renew it before that date: items can still be read after it, but nothing can be written")
  }
}
