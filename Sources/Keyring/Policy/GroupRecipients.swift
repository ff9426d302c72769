internal import KeyringModel
internal import OpenPGP

extension Policy {
  /// Returns the subkeys that the items of a group are encrypted to; nil if the policy has no such group.
  ///
  /// The policy alone decides, never the clock or the state of the keys: an item does not become wrong with time.
  ///
  /// - Parameter group: The name of the group.
  func recipients(of group: String) -> Set<KeyID>? {
    guard let members = groups[group] else { return nil }
    return Set(members.flatMap(recipients(for:)))
  }

  /// Returns the members of a group with the subkeys that its items are encrypted to; nil if the policy has no such group.
  ///
  /// - Parameter group: The name of the group.
  func members(of group: String) -> [Recipient]? { groups[group]?.map(recipient) }

  /// Returns a person with the subkeys that items are encrypted to.
  ///
  /// - Parameter person: The fingerprint of the person.
  func recipient(_ person: Fingerprint) -> Recipient {
    Recipient(person, subkeys: people[person]?.encryptTo ?? [])
  }

  /// Returns the owners of a subkey.
  ///
  /// If several people have it in their keys, these are the ones for whom this policy names it, because anyone can bind
  /// another person's subkey to their own key. If no member has it, the owner is the member whose key has replaced the
  /// one that has it: they are the same person.
  ///
  /// - Parameters:
  ///   - id: The id of the subkey.
  ///   - claims: The people who have it in their keys.
  func owners(of id: KeyID, among claims: [Fingerprint]) -> [Fingerprint] {
    if claims.isEmpty {
      let replaced = people.keys.filter { people[$0]?.replacedBy != nil && recipients(for: $0).contains(id) }
      return Set(replaced.map(newestKey)).filter(isMember).sorted()
    }
    guard claims.count > 1 else { return claims }
    let named = claims.filter { recipients(for: $0).contains(id) }
    return named.isEmpty ? claims : named
  }

  /// Returns the ids of the subkeys that items are encrypted to for a person; none if the policy does not have them.
  ///
  /// - Parameter person: The fingerprint of the person.
  func recipients(for person: Fingerprint) -> [KeyID] {
    people[person]?.encryptTo.map { KeyID(of: $0) } ?? []
  }
}

extension Set<KeyID> {
  /// Returns true if the recipients of a message are exactly these subkeys, each once.
  ///
  /// - Parameter found: The recipients, in the order of the message.
  func areExactly(_ found: [KeyID]) -> Bool { found.count == count && Set(found) == self }
}
