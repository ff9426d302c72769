internal import Encoding
internal import KeyringModel

/// The people's keys of an engine home, as they were listed when it was made. With the table at hand, later
/// runs need no key listing.
struct KeyTable: Sendable, Equatable {
  /// The keys, by fingerprint.
  let keys: [Fingerprint: PublicKey]
  // Anyone can bind someone else's encryption subkey to a key of his own, so one id may lead to several people.
  private let owners: [Fingerprint: [Fingerprint]]
  private let ownersByID: [KeyID: [Fingerprint]]

  /// Builds the lookups.
  ///
  /// - Parameter keys: The keys; of two with one fingerprint the last stays.
  init(_ keys: [PublicKey]) {
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
    self.keys = table
    self.owners = owners
    self.ownersByID = ownersByID
  }

  /// The person behind the fingerprint of a key or subkey.
  ///
  /// - Parameter key: Any fingerprint.
  /// - Returns: The primary fingerprint, or nil when no key or more than one has it.
  func owner(of key: Fingerprint) -> Fingerprint? {
    // Nobody else's primary key becomes one's own by binding it as a subkey.
    keys[key] == nil ? Self.single(owners[key]) : key
  }

  /// Whether an id belongs to some subkey of a person.
  ///
  /// - Parameters:
  ///   - keyID: The id.
  ///   - person: The primary fingerprint.
  /// - Returns: True also when others claim the id, too.
  func claims(_ keyID: KeyID, by person: Fingerprint) -> Bool {
    ownersByID[keyID]?.contains(person) == true
  }

  /// Whose subkey an id is, sorted.
  ///
  /// - Parameter keyID: The id.
  func owners(of keyID: KeyID) -> [Fingerprint] { Set(ownersByID[keyID] ?? []).sorted() }

  /// The subkeys that gpg will use for some people.
  ///
  /// - Parameters:
  ///   - people: Primary fingerprints.
  ///   - time: When.
  /// - Returns: One id for each person, in their order.
  /// - Throws: `unusableKey` for the first who cannot be encrypted to, or whose key has an encryption subkey that another
  ///   key has as well.
  func encryptionKeys(of people: [Fingerprint], at time: Timestamp) throws(EngineError) -> [KeyID] {
    var ids: [KeyID] = []
    for person in people {
      guard let key = keys[person] else { throw .unusableKey(person, .missing) }
      // Also one that is not used: somebody who has another person's subkey would count as a reader of their items.
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

  /// Makes sure that a person's key can sign.
  ///
  /// - Parameters:
  ///   - person: The primary fingerprint.
  ///   - time: When.
  /// - Throws: `unusableKey` when it cannot.
  func checkSigner(_ person: Fingerprint, at time: Timestamp) throws(EngineError) {
    guard let key = keys[person] else { throw .unusableKey(person, .missing) }
    if let problem = key.problem(for: .sign, at: time) { throw .unusableKey(person, problem) }
  }

  private static func single(_ owners: [Fingerprint]?) -> Fingerprint? {
    guard let owners, owners.count == 1 else { return nil }
    return owners[0]
  }
}
