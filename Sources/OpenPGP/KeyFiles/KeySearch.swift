internal import CGPGME

/// GnuPG's opinion about whether a key belongs to the person in one of its user ids.
package enum KeyValidity: Sendable {
  /// Nothing is known about it, or it was not computed.
  case unknown
  /// The user has stated that it must not be used.
  case never
  /// It is certified by people whom the user trusts partly.
  case marginal
  /// The user, or people whom they trust, have certified it.
  case full
  /// It is one of the user's own keys.
  case ultimate
}

/// A public key in the user's own keyring, found by a mail address.
package struct KeyWithMail: Sendable {
  /// The properties of the key.
  package let key: PublicKey
  /// The user id with the address: any text of the owner, which must be escaped before it is shown.
  package let userID: String
  /// The validity of that user id.
  package let validity: KeyValidity
  /// True if the key, or every user id of it with the address, was revoked.
  package let isRevoked: Bool
}

extension UserKeyring {
  /// Finds the public keys with a mail address.
  ///
  /// Anyone can create a key with any address, so the user must compare the fingerprint before the key is used.
  ///
  /// - Parameter mail: The whole address. The case of letters is ignored.
  /// - Returns: The keys with a user id that has exactly this address and is valid or revoked, in GnuPG's order.
  /// - Throws: An engine error.
  package func publicKeys(withMail mail: String) throws(EngineError) -> [KeyWithMail] {
    let pattern = "<\(mail)>"
    let context = try self.context()
    for _ in 0..<Context.attempts {
      let (found, listed) = try Self.publicKeys(withMail: mail, matching: pattern, context)
      let isWhole = try context.isWhole(
        listed, matching: pattern, secretOnly: false, processStarted: processStarted)
      if isWhole { return found }
    }
    throw Context.partialListing
  }

  /// Returns the keys with a mail address, and all keys that GnuPG has listed.
  private static func publicKeys(
    withMail mail: String, matching pattern: String, _ context: borrowing Context
  ) throws(EngineError) -> (found: [KeyWithMail], listed: [PublicKey]) {
    var (found, listed): ([KeyWithMail], [PublicKey]) = ([], [])
    try unsafe context.forEachKey(matching: pattern) { key in
      guard let facts = unsafe PublicKey(key) else { return }
      listed.append(facts)
      var match: KeyWithMail?
      var next = unsafe key.pointee.uids
      while let user = unsafe next {
        // GnuPG reports the user ids of a revoked key as invalid or revoked.
        let isRevoked = unsafe facts.revoked || user.pointee.revoked != 0
        if unsafe isRevoked || user.pointee.invalid == 0, let text = unsafe user.pointee.uid {
          let userID = unsafe String(cString: text)
          let hasMail = PublicKey.address(in: userID).utf8.elementsEqual(PublicKey.address(in: mail).utf8)
          if hasMail, match?.isRevoked ?? true {
            match = KeyWithMail(
              key: facts, userID: userID, validity: unsafe KeyValidity(user.pointee.validity),
              isRevoked: isRevoked)
          }
        }
        unsafe next = user.pointee.next
      }
      if let match { found.append(match) }
    }
    return (found, listed)
  }
}

extension PublicKey {
  /// Returns the mail address in a user id in lower case: the text in angle brackets, or the whole user id.
  package static func address(in userID: String) -> String {
    let lower = userID.lowercased()
    return String(lower.split(separator: "<").last?.split(separator: ">").first ?? Substring(lower))
  }
}

extension KeyValidity {
  init(_ validity: gpgme_validity_t) {
    self =
      switch validity {
      case GPGME_VALIDITY_NEVER: .never
      case GPGME_VALIDITY_MARGINAL: .marginal
      case GPGME_VALIDITY_FULL: .full
      case GPGME_VALIDITY_ULTIMATE: .ultimate
      default: .unknown
      }
  }
}
