package import KeyringModel
package import OpenPGP

/// Who can decrypt an item, told by its packets, and held against the policy.
package struct ItemReaders: Sendable, Equatable {
  /// One recipient of the message.
  package struct Reader: Sendable, Equatable {
    /// The subkey.
    package let id: KeyID
    /// Whose it is, people who were removed among them: one person, nobody known, or several where somebody has bound another's subkey to his key.
    package let people: [Fingerprint]
    /// Whether it is the subkey to which a member of the item's group is to be sealed now.
    package let isExpected: Bool
  }

  /// The recipients in the order of the message.
  package let readers: [Reader]
  /// The members of the item's group who cannot read it.
  package let missing: [Fingerprint]

  /// Whether the item is for exactly the members of its group.
  package var isRight: Bool { missing.isEmpty && readers.allSatisfy(\.isExpected) }
}

extension Keyring {
  /// Who can decrypt an item: from its packets alone, nothing is decrypted.
  ///
  /// - Parameter record: The item, as `find` returned it.
  /// - Throws: `KeyringError.itemDamaged` when its file is missing or no message; `.unknownGroup`; `.engine`, or a file
  ///   error.
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
    var expected: Set<KeyID> = []
    var missing: [Fingerprint] = []
    for member in members {
      let id = try expectedID(of: member)
      var wanted = id
      if wanted == nil { wanted = ids.first { owners[$0]?.contains(member) ?? false } }
      if let wanted { expected.insert(wanted) }
      if wanted.map({ !ids.contains($0) }) ?? true { missing.append(member) }
    }
    let readers = ids.map {
      ItemReaders.Reader(id: $0, people: owners[$0] ?? [], isExpected: expected.contains($0))
    }
    return ItemReaders(readers: readers, missing: missing)
  }

  /// The subkey that a person is sealed to now; nil for a key that cannot be used any more: what was sealed to it before
  /// is right still.
  private func expectedID(of person: Fingerprint) throws(KeyringError) -> KeyID? {
    do throws(EngineError) {
      return try engine.expectedRecipients([person]).first
    } catch {
      guard case .unusableKey = error else { throw .engine(error, nil) }
      return nil
    }
  }
}
