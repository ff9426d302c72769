package import KeyringModel
package import OpenPGP

/// The readers of an item according to its packets, compared with the policy.
package struct ItemReaders: Sendable, Equatable {
  /// One recipient of the message.
  package struct Reader: Sendable, Equatable {
    /// The id of the subkey.
    package let id: KeyID
    /// The owners of the subkey, including removed people. Usually one; empty if the key is unknown; several if a
    /// person has bound another person's subkey to their own key.
    package let people: [Fingerprint]
    /// True if this is a subkey that the group's items are encrypted to for one of its members.
    package let isExpected: Bool
  }

  /// The recipients, in the order of the message.
  package let readers: [Reader]
  /// The members of the item's group who cannot decrypt it with each of their listed subkeys.
  package let missing: [Fingerprint]

  /// True if the readers are exactly the members of the item's group.
  package var isRight: Bool { missing.isEmpty && readers.allSatisfy(\.isExpected) }
}

extension Keyring {
  /// Returns the readers of an item, from its packets alone. Nothing is decrypted.
  ///
  /// - Parameter record: The item, as `find` returned it.
  /// - Throws: `KeyringError.itemDamaged` when its file is missing or is not a message; `.unknownGroup`; `.engine`, or
  ///   a file error.
  package func readers(of record: ItemRecord) throws(KeyringError) -> ItemReaders {
    guard let message = try ItemReader(keyring: self).message(of: record) else {
      throw .itemDamaged(record.reference, .missing)
    }
    let ids: [KeyID]
    do throws(MessageError) {
      ids = try engine.recipients(of: message)
    } catch {
      throw .itemDamaged(record.reference, .notAMessage(error))
    }
    guard let members = policy.groups[record.group] else { throw .unknownGroup(record.group) }
    let owners = try owners(of: Set(ids))
    let expected = policy.recipients(of: record.group) ?? []
    let missing = members.filter { !Set(ids).isSuperset(of: policy.recipients(for: $0)) }
    let readers = ids.map {
      ItemReaders.Reader(id: $0, people: owners[$0] ?? [], isExpected: expected.contains($0))
    }
    return ItemReaders(readers: readers, missing: missing)
  }
}
