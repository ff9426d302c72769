package import Encoding
internal import KeyringModel
internal import OpenPGP

// Versions in the history whose signers had the right to sign then, and have it no longer.

extension Keyring {
  /// Returns the policy that ended the validity of a version that is valid by an earlier policy only.
  ///
  /// - Parameters:
  ///   - item: The version.
  ///   - step: The earlier policy, which led to the accepted one.
  ///   - past: The policies in the history.
  ///   - byRevocation: True if the policy that imported a revocation of the signer's key counts, too.
  /// - Returns: The digest of the first policy after the earlier one in which the signer is not a member of the item's
  ///   group, or by whose key files the version is not valid.
  /// - Throws: `KeyringError.policyNotTrusted` if a key file of a later policy is missing; `.engine`.
  package func policy(
    ending item: HistoricalItem, after step: PolicyStep, past: HistoricalPolicies, byRevocation: Bool
  ) throws(KeyringError) -> ContentDigest {
    var key = (try? Policy.parse(step.bytes))?.people[item.signer]?.key
    for later in ancestors(in: past).prefix(while: { $0.digest != step.digest }).reversed() {
      // A policy that cannot be read is not an ancestor.
      guard let policy = try? Policy.parse(later.bytes) else { continue }
      if !policy.isMember(item.signer, ofAny: [item.record.group]) { return later.digest }
      let next = policy.people[item.signer]?.key
      if byRevocation, next != key, try !isValid(item, under: later, past) { return later.digest }
      key = next
    }
    // The caller has found that the accepted policy does not accept it.
    return ContentDigest(of: policy.encode())
  }

  private func isValid(
    _ item: HistoricalItem, under step: PolicyStep, _ past: HistoricalPolicies
  ) throws(KeyringError) -> Bool {
    guard let judge = try judge(ofAncestor: step, past: past) else { return false }
    let file = item.item.verified.file
    do throws(KeyringError) {
      _ = try judge.historicalItem(file.bytes, message: item.item.message, at: item.record.path)
      return true
    } catch {
      guard case .itemDamaged = error else { throw error }
      return false
    }
  }

  /// Returns the key files with which signatures under an earlier policy are judged now: its own, joined with the last
  /// ones that the later policies of the chain name for the same people. So a later revocation counts, also of a key
  /// whose owner has left since.
  func currentKeys(of link: PolicyChain.Link, past: HistoricalPolicies) -> KeyFiles {
    var later = trusted.keys
    for step in ancestors(in: past).prefix(while: { $0.digest != link.digest }) {
      // A policy that cannot be read is not an ancestor.
      guard let policy = try? Policy.parse(step.bytes) else { continue }
      later.merge(step.keys(namedIn: policy)) { newer, _ in newer }
    }
    return link.keys.joined(with: later)
  }
}
