internal import CommandSupport
internal import Keyring
internal import KeyringModel

/// A conflict that a merge has left: the version of an item that it kept, and the one that became a conflict copy.
struct SyncConflict {
  /// The version that became a conflict copy.
  let copy: ConflictCopy
  /// The item that was kept; nil if none has the id or the name of the copy.
  let item: VerifiedRecord?

  /// Finds the conflicts of some new conflict copies.
  ///
  /// - Parameters:
  ///   - records: The versions that became conflict copies.
  ///   - keyring: The store after the merge.
  /// - Throws: The errors of reading the conflict copies and the items.
  static func of(_ records: [ItemRecord], in keyring: Keyring) throws -> [SyncConflict] {
    try keyring.conflictCopies().filter { copy in records.contains(copy.record) }.map { copy in
      let holder = try keyring.holder(of: copy)
      return SyncConflict(
        copy: copy, item: try holder.flatMap { try keyring.verifiedRecords(of: [$0]).first })
    }
  }

  /// The item, who signed each version, and when each was changed.
  ///
  /// - Parameters:
  ///   - policy: The policy with the names of the people.
  ///   - name: Returns the name of an item.
  func text(_ policy: Policy, naming name: (ItemRecord) -> String) -> String {
    func version(_ record: ItemRecord, _ signer: Fingerprint?) -> String {
      (signer.map { "the version of \(policy.name(of: $0))" } ?? "a version that no member has signed")
        + " (\(record.modified.second))"
    }
    let lost = "\(version(copy.record, copy.signer)) became conflict copy \(copy.shortName)"
    guard let item else {
      return "Conflict: \(name(copy.record)): \(lost); the item no longer exists."
    }
    return "Conflict: \(name(item.record)): kept \(version(item.record, item.signer)); \(lost)."
  }
}
