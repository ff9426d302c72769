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
