internal import Keyring
package import KeyringModel

extension StandInStore {
  /// Another policy, signed by the owner and accepted on this machine.
  ///
  /// Items stay as they are sealed. New people get a key file that nothing reads.
  ///
  /// - Parameters:
  ///   - path: The folder of a clone; nil for the store.
  ///   - body: Changes people and groups; generation and chain are looked after.
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
    // The stand-in knows whose an id is of those who were mentioned.
    _ = engine.with(keys: keys)
    try Trust(at: path ?? self.path, host: host, engine: engine, own: [owner]).accept()
  }

  /// Makes somebody a member of some groups, which are made where they are missing.
  package func join(_ person: Fingerprint, _ groups: String..., at path: String? = nil) throws {
    let now = host.clock()
    try changePolicy(at: path) { policy in
      let added = policy.people[person]?.added ?? now
      policy.people[person] = Person(name: "Person \(person.text.suffix(2))", role: .member, added: added)
      for group in groups {
        policy.groups[group] = Set((policy.groups[group] ?? [owner]) + [person]).sorted()
      }
    }
  }

  /// Takes somebody out of the keyring; nothing is sealed again.
  package func remove(_ person: Fingerprint, at path: String? = nil) throws {
    let now = host.clock()
    try changePolicy(at: path) { policy in
      policy.people[person]?.removed = now
      for group in policy.groups.keys { policy.groups[group]?.removeAll { $0 == person } }
    }
  }

  /// Takes somebody out of a group; nothing is sealed again.
  package func leave(_ person: Fingerprint, _ group: String, at path: String? = nil) throws {
    try changePolicy(at: path) { policy in policy.groups[group]?.removeAll { $0 == person } }
  }
}
