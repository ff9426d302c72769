internal import CommandSupport
internal import Encoding
internal import Keyring
internal import KeyringModel
internal import OpenPGP

/// The new state of a member's key, compared with the one in the store.
struct KeyRenewal {
  /// The member.
  let person: Fingerprint
  /// The entry of the member in the policy.
  let entry: Person
  /// The key in the store.
  let before: PublicKey
  /// The key file after the import.
  let after: KeyFile
  /// The subkeys that items will be encrypted to.
  let choice: EncryptionChoice?

  /// The name after the import: the primary user id, or the old name of a key without one.
  var name: String { after.key.userIDs.first ?? entry.name }
  private var hasNewName: Bool { !name.hasSameBytes(as: entry.name) }
  private var encryptTo: [Fingerprint] { choice?.subkeys ?? entry.encryptTo }
  /// The mail addresses in the user ids that the import adds, in lower case.
  var newAddresses: Set<String> {
    let added = Set(after.key.userIDs).subtracting(before.userIDs)
    return Set(added.map(PublicKey.address(in:)).filter { $0.contains("@") })
  }
  private var isSameKey: Bool { before.isSame(as: after.key) }

  /// True if the key or the choice of subkeys differs from what the policy has.
  var isChange: Bool { !edits.isEmpty }

  /// The edits of the policy.
  var edits: [PolicyEdit] {
    var edits: [PolicyEdit] = []
    if !isSameKey {
      edits.append(.key(person, ContentDigest(of: after.bytes)))
      if hasNewName { edits.append(.name(person, name)) }
    }
    if Set(encryptTo) != Set(entry.encryptTo) { edits.append(.encrypt(person, to: encryptTo)) }
    return edits
  }

  /// True if an admin must confirm the change: of the name, a new mail address, a subkey that is revoked as compromised, or a subkey that
  /// items are no longer encrypted to.
  var needsConfirmation: Bool {
    (!isSameKey && hasNewName) || !newAddresses.isEmpty || newRevocations.contains(where: \.isHard)
      || !Set(entry.encryptTo).isSubset(of: encryptTo)
  }

  /// The subkeys that the import revokes as compromised, or without a reason.
  var compromised: [PublicKey.Subkey] {
    changedSubkeys.filter { $0.old?.revocation != $0.new.revocation && $0.new.revocation?.isHard ?? false }
      .map(\.new)
  }

  private var newRevocations: [KeyRevocation] {
    changedSubkeys.compactMap { $0.new.revocation == $0.old?.revocation ? nil : $0.new.revocation }
  }

  private var changedSubkeys: [(old: PublicKey.Subkey?, new: PublicKey.Subkey)] {
    after.key.subkeys.compactMap { new in
      let old = before.subkeys.first { $0.fingerprint == new.fingerprint }
      return old == new ? nil : (old, new)
    }
  }

  /// The changes, each as the part of a sentence.
  var changes: [String] {
    var list = changedSubkeys.compactMap { $0.new.change(since: $0.old, of: after.key) }
    if hasNewName, !isSameKey { list.append("new name \(ErrorReport.quote(Person.shownName(name)))") }
    let (old, new) = (before.userIDs, after.key.userIDs)
    list += new.filter { !old.contains($0) && $0 != name }.map {
      "new user id \(ErrorReport.quote(Person.shownName($0)))"
    }
    list += old.filter { !new.contains($0) && $0 != entry.name }
      .map { "user id \(ErrorReport.quote(Person.shownName($0))) revoked" }
    let known = Set(before.subkeys.map(\.fingerprint))
    list += encryptTo.filter { known.contains($0) && !entry.encryptTo.contains($0) }
      .map { "items are encrypted to subkey \(KeyID(of: $0).text)" }
    list += entry.encryptTo.filter { !encryptTo.contains($0) }
      .map { "items are no longer encrypted to subkey \(KeyID(of: $0).text)" }
    return list.isEmpty ? ["other details of the key"] : list
  }
}
