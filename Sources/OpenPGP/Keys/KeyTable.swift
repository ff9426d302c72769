internal import Encoding
internal import KeyringModel

/// The people's keys of an engine home, as they were listed when it was made. With the table, later runs need no key
/// listing.
struct KeyTable: Sendable, Equatable {
  /// The keys, by fingerprint.
  let keys: [Fingerprint: PublicKey]
  // Anyone can bind another person's subkey to their own key, so one subkey may have several owners. It belongs to
  // those whose binding allows its use: to encrypt for an id in a message, and to sign for the fingerprint of a
  // signer.
  private let owners: [Fingerprint: [Fingerprint]]
  private let ownersByID: [KeyID: [Fingerprint]]
  /// The people whose key this machine's GnuPG does not list, or lists only in part, with the reason. A signature that
  /// GnuPG cannot verify may be theirs, so it is not known to be bad.
  let unreadable: [Fingerprint: KeyProblem]
  private let claims: [KeyID: Set<Fingerprint>]
  /// The people who have a signing subkey of another person in their keys, whatever its use there, and those others;
  /// sorted.
  let contestants: [Fingerprint]

  /// Creates the table.
  ///
  /// - Parameters:
  ///   - keys: The keys that GnuPG lists. The last of several with the same fingerprint is used.
  ///   - files: The key files of the people.
  init(_ keys: [PublicKey], files: [Fingerprint: [UInt8]] = [:]) {
    var table: [Fingerprint: PublicKey] = [:]
    var owners: [Fingerprint: [Fingerprint]] = [:]
    var ownersByID: [KeyID: [Fingerprint]] = [:]
    for key in keys { table[key.fingerprint] = key }
    var signers: [Fingerprint: [Fingerprint]] = [:]
    var readers: [KeyID: [Fingerprint]] = [:]
    for key in table.values {
      for subkey in key.subkeys where !subkey.invalid {
        owners[subkey.fingerprint, default: []].append(key.fingerprint)
        ownersByID[subkey.keyID, default: []].append(key.fingerprint)
        if subkey.canSign { signers[subkey.fingerprint, default: []].append(key.fingerprint) }
        if subkey.canEncrypt { readers[subkey.keyID, default: []].append(key.fingerprint) }
      }
    }
    unreadable =
      files.filter { table[$0.key]?.subkeys.contains(where: \.isUnsupported) ?? true }
      .mapValues(KeyPackets.problem)
    self.keys = table
    // A subkey whose use has changed since still belongs to its only owner.
    self.owners = owners.merging(signers) { $1 }
    self.ownersByID = ownersByID.merging(readers) { $1 }
    self.claims = ownersByID.mapValues(Set.init)
    // gpg may find any of these keys first, also one whose binding does not allow signing.
    contestants = Set(signers.keys.compactMap { owners[$0] }.filter { $0.count > 1 }.joined()).sorted()
  }

  /// Returns a person whose key GnuPG cannot read, with the reason; nil if it can read all.
  ///
  /// - Parameter person: The preferred person.
  func unreadable(preferring person: Fingerprint?) -> (person: Fingerprint, problem: KeyProblem)? {
    if let person, let problem = unreadable[person] { return (person, problem) }
    return unreadable.min { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Returns the owner of a key or subkey.
  ///
  /// - Parameter key: Any fingerprint.
  /// - Returns: The primary fingerprint; nil if no key or more than one has it.
  func owner(of key: Fingerprint) -> Fingerprint? {
    // Binding another person's primary key as a subkey does not change its owner.
    keys[key] == nil ? Self.single(owners[key]) : key
  }

  /// Judges a correct signature by the certificate of the owner of its key.
  ///
  /// - Parameters:
  ///   - key: The primary key or subkey that made the signature, if known.
  ///   - time: The time of the signature.
  /// - Returns: The status; `bad` if the key has no owner, or several.
  func judge(signatureBy key: Fingerprint?, made time: Timestamp) -> SignatureFact.Status {
    guard let key, let owner = owner(of: key), let certificate = keys[owner] else { return .bad }
    return certificate.judge(signatureBy: key, made: time)
  }

  /// Returns true if a person's key has a subkey with an id.
  ///
  /// - Parameters:
  ///   - keyID: The id.
  ///   - person: The primary fingerprint.
  /// - Returns: True also if other keys have the id, too.
  func claims(_ keyID: KeyID, by person: Fingerprint) -> Bool {
    claims[keyID]?.contains(person) == true
  }

  /// Returns the sorted owners of a subkey id. Several only if each of them may use the subkey to encrypt.
  ///
  /// - Parameter keyID: The id.
  func owners(of keyID: KeyID) -> [Fingerprint] { Set(ownersByID[keyID] ?? []).sorted() }

  /// Returns the subkeys to which a message is encrypted.
  ///
  /// - Parameters:
  ///   - recipients: The people.
  ///   - time: The time of use.
  /// - Returns: The subkeys in the order of the people, each once.
  /// - Throws: `unusableKey` for the first person that cannot be encrypted to. Also for one whose subkey is to be
  ///   selected here and whose key shares an encryption subkey with another key.
  func encryptionSubkeys(
    of recipients: [Recipient], at time: Timestamp
  ) throws(EngineError) -> [PublicKey.Subkey] {
    var found: [PublicKey.Subkey] = []
    for recipient in recipients {
      let person = recipient.person
      if let problem = unreadable[person] { throw .unusableKey(person, problem) }
      guard let key = keys[person] else { throw .unusableKey(person, .missing) }
      let chosen = recipient.subkeys.isEmpty ? [try newestSubkey(of: key, at: time)] : recipient.subkeys
      for name in chosen {
        guard let subkey = key.subkeys.first(where: { $0.fingerprint == name }) else {
          throw .unusableKey(person, .cannotEncrypt)
        }
        if let problem = key.problem(of: subkey, for: .encrypt, at: time) {
          throw .unusableKey(person, problem)
        }
        if !found.contains(where: { $0.fingerprint == name }) { found.append(subkey) }
      }
    }
    return found
  }

  private func newestSubkey(of key: PublicKey, at time: Timestamp) throws(EngineError) -> Fingerprint {
    let person = key.fingerprint
    // Also applies to a subkey that is not used: a person who has another person's subkey would count as a reader of
    // their items.
    guard key.subkeys.allSatisfy({ !$0.canEncrypt || $0.invalid || owners(of: $0.keyID) == [person] }) else {
      throw .unusableKey(person, .sharedSubkey)
    }
    guard let subkey = key.subkey(for: .encrypt, at: time) else {
      throw .unusableKey(person, key.problem(for: .encrypt, at: time) ?? .cannotEncrypt)
    }
    return subkey.fingerprint
  }

  /// Checks that a person's key can sign.
  ///
  /// - Parameters:
  ///   - person: The primary fingerprint.
  ///   - time: The time of use.
  /// - Throws: `unusableKey` when it cannot.
  func checkSigner(_ person: Fingerprint, at time: Timestamp) throws(EngineError) {
    if let problem = unreadable[person] { throw .unusableKey(person, problem) }
    guard let key = keys[person] else { throw .unusableKey(person, .missing) }
    if let problem = key.problem(for: .sign, at: time) { throw .unusableKey(person, problem) }
  }

  private static func single(_ owners: [Fingerprint]?) -> Fingerprint? {
    guard let owners, owners.count == 1 else { return nil }
    return owners[0]
  }
}
