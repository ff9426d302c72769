internal import Encoding
internal import KeyringModel

/// The people's keys of an engine home, as they were listed when it was made. With the table, later runs need no key
/// listing.
struct KeyTable: Sendable, Equatable {
  /// The keys, by fingerprint.
  let keys: [Fingerprint: PublicKey]
  // Anyone can bind another person's encryption subkey to their own key, so one id may have several owners.
  private let owners: [Fingerprint: [Fingerprint]]
  private let ownersByID: [KeyID: [Fingerprint]]
  /// The people whose key this machine's GnuPG does not list, or lists only in part, with the reason. A signature that
  /// GnuPG cannot verify may be theirs, so it is not known to be bad.
  let unreadable: [Fingerprint: KeyProblem]

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
    for key in table.values {
      for subkey in key.subkeys where !subkey.invalid {
        owners[subkey.fingerprint, default: []].append(key.fingerprint)
        ownersByID[subkey.keyID, default: []].append(key.fingerprint)
      }
    }
    unreadable =
      files.filter { table[$0.key]?.subkeys.contains(where: \.isUnsupported) ?? true }
      .mapValues(KeyPackets.problem)
    self.keys = table
    self.owners = owners
    self.ownersByID = ownersByID
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
    ownersByID[keyID]?.contains(person) == true
  }

  /// Returns the sorted owners of a subkey id.
  ///
  /// - Parameter keyID: The id.
  func owners(of keyID: KeyID) -> [Fingerprint] { Set(ownersByID[keyID] ?? []).sorted() }

  /// Returns the subkeys that gpg will encrypt to for some people.
  ///
  /// - Parameters:
  ///   - people: Primary fingerprints.
  ///   - time: The time of use.
  /// - Returns: One id for each person, in their order.
  /// - Throws: `unusableKey` for the first person that cannot be encrypted to, or whose key shares an encryption
  ///   subkey with another key.
  func encryptionKeys(of people: [Fingerprint], at time: Timestamp) throws(EngineError) -> [KeyID] {
    var ids: [KeyID] = []
    for person in people {
      if let problem = unreadable[person] { throw .unusableKey(person, problem) }
      guard let key = keys[person] else { throw .unusableKey(person, .missing) }
      // Also applies to a subkey that is not used: a person who has another person's subkey would count as a reader of
      // their items.
      guard key.subkeys.allSatisfy({ !$0.canEncrypt || $0.invalid || owners(of: $0.keyID) == [person] })
      else {
        throw .unusableKey(person, .sharedSubkey)
      }
      guard let subkey = key.subkey(for: .encrypt, at: time) else {
        throw .unusableKey(person, key.problem(for: .encrypt, at: time) ?? .cannotEncrypt)
      }
      ids.append(subkey.keyID)
    }
    return ids
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
