internal import Encoding
internal import KeyringModel

/// The revocations of keys in the output of `gpg --with-colons --list-sigs`, which libgpgme does not report.
///
/// The format is described in GnuPG's doc/DETAILS. GnuPG has verified the self-signatures when it imported the keys, so
/// a revocation that names the primary key of its block was made by it. Those by other keys are ignored.
struct RevocationListing {
  /// The own revocations of each key and subkey; an empty array for a key without any.
  private(set) var revocations: [Fingerprint: [KeyRevocation]] = [:]
  /// The ids of the primary keys that another key may revoke.
  private var revocable: Set<Substring> = []

  /// The record types that GnuPG 2.2 to 2.5 prints in such a listing and that say nothing about a revocation of a key.
  private static let otherRecords: Set<Substring> = ["tru", "fp2", "sig", "spk", "rvs", "grp", "pkd"]

  /// Reads a listing strictly.
  ///
  /// - Parameter output: All bytes that gpg wrote.
  /// - Returns: nil for a truncated listing, or one with unexpected records.
  init?(_ output: [UInt8]) {
    guard output.isEmpty || output.last == UInt8(ascii: "\n") else { return nil }
    var block = Block()
    for line in output.split(separator: UInt8(ascii: "\n")) {
      let fields = String(decoding: line, as: UTF8.self).split(
        separator: ":", omittingEmptySubsequences: false)
      guard fields.count >= 10 || fields[0] == "spk" || fields[0] == "tru", read(fields, in: &block) else {
        return nil
      }
    }
    guard block.isComplete else { return nil }
  }

  /// The state while the records of one primary key are read.
  private struct Block {
    /// The id of the primary key.
    var primaryID: Substring = ""
    /// The key or subkey to which the following signatures belong; nil before its fingerprint was read.
    var part: Fingerprint?
    /// True if the last record needs a fingerprint.
    var expectsFingerprint = false
    /// True if the following signatures belong to a user id.
    var isAtUser = false

    var isComplete: Bool { !expectsFingerprint }
  }

  private mutating func read(_ fields: [Substring], in block: inout Block) -> Bool {
    switch fields[0] {
    case "pub", "sub":
      guard block.isComplete, fields[0] == "pub" || !block.primaryID.isEmpty else { return false }
      if fields[0] == "pub" { block.primaryID = fields[4] }
      (block.part, block.expectsFingerprint, block.isAtUser) = (nil, true, false)
      return fields[4].utf8.count == 16
    case "fpr":
      guard block.expectsFingerprint else { return false }
      // A policy cannot name a key with an unknown form of fingerprint, so its signatures do not matter.
      block.part = Fingerprint(String(fields[9]))
      block.expectsFingerprint = false
      if let part = block.part, revocations[part] == nil { revocations[part] = [] }
      return true
    case "uid", "uat":
      block.isAtUser = true
      return block.isComplete
    case "rvk":
      revocable.insert(block.primaryID)
      return true
    case "rev": return block.isComplete && readRevocation(fields, in: block)
    default: return Self.otherRecords.contains(fields[0])
    }
  }

  /// Reads the record of a revocation. The eleventh field is the class of the signature, a letter, and the reason if
  /// one is stated: `28x,01`.
  private mutating func readRevocation(_ fields: [Substring], in block: Block) -> Bool {
    guard fields.count > 10, let seconds = Int(fields[5]) else { return false }
    let words = fields[10].split(separator: ",", omittingEmptySubsequences: false)
    guard words.count <= 2, let kind = UInt8(words[0].prefix(2), radix: 16) else { return false }
    // The revocation of a user id.
    if kind == 0x30 { return true }
    guard kind == 0x20 || kind == 0x28 else { return false }
    guard fields[4] == block.primaryID, !block.isAtUser, let part = block.part else { return true }
    var reason: KeyRevocation.Reason?
    if words.count == 2 {
      guard let number = UInt8(words[1], radix: 16) else { return false }
      reason = KeyRevocation.Reason(rawValue: number)
    }
    revocations[part, default: []].append(KeyRevocation(created: Timestamp(seconds: seconds), reason: reason))
    return true
  }
}

extension RevocationListing {
  /// Returns keys with the revocations in this listing.
  ///
  /// - Parameter keys: Keys as libgpgme lists them: it reports that a key is revoked, but neither why nor when. A
  ///   revoked primary key makes it report all subkeys as revoked.
  /// - Returns: nil if a key is not in this listing, which then is not one of the same keys, or if the listing has no
  ///   revocation of a revoked key that only its owner can revoke.
  func completing(_ keys: [PublicKey]) -> [PublicKey]? {
    var completed: [PublicKey] = []
    for var key in keys {
      let primary = revocations[key.fingerprint].flatMap(KeyRevocation.deciding)
      for index in key.subkeys.indices where key.subkeys[index].revoked {
        guard let own = revocations[key.subkeys[index].fingerprint] else { return nil }
        // Without an own revocation, another key of the owner's choice has revoked the primary key. The reason is then
        // not known.
        let deciding = KeyRevocation.deciding(among: own) ?? primary
        if let deciding {
          key.subkeys[index].revocation = deciding
        } else if !revocable.contains(Substring(key.subkeys[0].keyID.text)) {
          return nil
        }
      }
      completed.append(key)
    }
    return completed
  }
}
