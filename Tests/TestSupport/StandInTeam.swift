package import Keyring
package import KeyringModel

extension StandInStore {
  /// Changes the policy, signs it as the owner and accepts it on this machine.
  ///
  /// Items are not re-encrypted. New people get a key file that is never read.
  ///
  /// - Parameters:
  ///   - path: The folder of a clone; nil for the store.
  ///   - body: Changes people and groups. Generation and chain are already updated.
  package func changePolicy(at path: String? = nil, _ body: (inout Policy) -> Void) throws {
    let tree = try FileTree(at: path ?? self.path)
    let bytes = try tree.read(StoreLayout.policy, limit: StoreLayout.smallFileLimit) ?? []
    var policy = try Policy.parse(bytes)
    policy.generation += 1
    policy.previous = ContentDigest(of: bytes)
    body(&policy)
    let signature = try engine.signDetached(policy.encode(), signer: owner)
    var keys: [Fingerprint: [UInt8]] = [:]
    for fingerprint in policy.people.keys {
      keys[fingerprint] = fingerprint == owner ? [1] : Array(fingerprint.text.utf8)
    }
    for (fingerprint, key) in keys where fingerprint != owner {
      try tree.replaceFile(StoreLayout.keyFile(fingerprint), with: key, temporary: "tmp")
    }
    try tree.replaceFile(StoreLayout.policy, with: policy.encode(), temporary: "tmp")
    try tree.replaceFile(StoreLayout.policySignature, with: signature, temporary: "tmp")
    // The stand-in can map a key id only to people that were mentioned.
    _ = engine.with(keys: keys)
    try Trust(at: path ?? self.path, host: host, engine: engine, own: [owner]).accept()
  }

  /// Makes a person a member of groups, which are created if they do not exist.
  package func join(_ person: Fingerprint, _ groups: String..., at path: String? = nil) throws {
    let now = host.clock()
    try changePolicy(at: path) { policy in
      let added = policy.people[person]?.added ?? now
      policy.people[person] = Person(
        name: "Person \(person.text.suffix(2))", role: .member, added: added, encryptTo: [person])
      for group in groups {
        policy.groups[group] = Set((policy.groups[group] ?? [owner]) + [person]).sorted()
      }
    }
  }

  /// Removes a person from the keyring. Nothing is re-encrypted.
  package func remove(_ person: Fingerprint, at path: String? = nil) throws {
    let now = host.clock()
    try changePolicy(at: path) { policy in
      policy.people[person]?.removed = now
      for group in policy.groups.keys { policy.groups[group]?.removeAll { $0 == person } }
    }
  }

  /// Removes a person from a group. Nothing is re-encrypted.
  package func leave(_ person: Fingerprint, _ group: String, at path: String? = nil) throws {
    try changePolicy(at: path) { policy in policy.groups[group]?.removeAll { $0 == person } }
  }

  /// Opens the store as another person, on a machine that has accepted the policy.
  ///
  /// - Parameters:
  ///   - person: The person, whose secret key is on the machine.
  ///   - others: Other people in the policy whose secret keys the user has.
  package func open(as person: Fingerprint, withKeysOf others: Fingerprint...) throws -> Keyring {
    let engine = EngineDouble(readers: Set(others + [person]))
    var host = host
    host.stateBase = "\(folder.path)/state-\(person.text.suffix(2))/keytree"
    try Trust(at: path, host: host, engine: engine, own: [person]).accept()
    return try Keyring.open(at: path, host: host, faults: nil, engine: engine)
  }
}
