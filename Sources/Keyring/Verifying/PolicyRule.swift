package import KeyringModel
internal import OpenPGP

/// The rule that decides whether one policy follows another, as in ``PolicyChain``, with an exact report of each fault.
package struct PolicyRule {
  private let room: VerificationWorkspace

  /// Creates a rule that verifies signatures in a workspace.
  package init(in room: VerificationWorkspace) { self.room = room }

  /// Returns a link for an unverified policy, with those of the key files beside it that the policy names.
  package static func link(_ state: PolicyState, keys: KeyFiles) -> PolicyChain.Link {
    let keys = keys.filter { state.policy.isMember($0.key) && state.policy.covers($0.value, of: $0.key) }
    return PolicyChain.Link(policy: state.policy, digest: state.digest, keys: keys)
  }

  /// Verifies the first policy of a history: one of its own admins must have signed it.
  ///
  /// - Parameters:
  ///   - state: The policy.
  ///   - keys: The key files beside it.
  ///   - anchors: The allowed signers. If empty, any admin is allowed.
  /// - Returns: The signer, or the fault.
  /// - Throws: `KeyringError.engine` when GnuPG cannot be used.
  package func signer(
    ofFirst state: PolicyState, keys: KeyFiles, anchors: [Fingerprint]
  ) throws(KeyringError) -> Result<Fingerprint, ChainProblem> {
    guard let signature = state.signature else { return .failure(.unsigned) }
    let link = Self.link(state, keys: keys)
    let admins = state.policy.admins
    let preferred = admins.filter(Set(anchors).contains)
    let engine = room.engine(for: link.policy.keyring, keys: link.keys(of: admins))
    let signer = try PolicyVerification(engine: engine, people: link.policy).signer(
      of: state.bytes, signature: signature, among: preferred + admins)
    guard let signer else { return .failure(try fault(of: signature, over: state, after: link, keys: keys)) }
    return anchors.isEmpty || preferred.contains(signer)
      ? .success(signer) : .failure(.unexpectedSigner(signer))
  }

  /// Verifies a policy that replaces another one.
  ///
  /// - Parameters:
  ///   - next: The policy.
  ///   - keys: The key files beside it.
  ///   - link: The policy before it.
  /// - Returns: The verified step, or the fault.
  /// - Throws: `KeyringError.engine` when GnuPG cannot be used.
  package func follow(
    _ next: PolicyState, keys: KeyFiles, after link: PolicyChain.Link
  ) throws(KeyringError) -> Result<PolicyChain.Followed, ChainProblem> {
    let chain = chain(of: link.policy)
    do throws(KeyringError) {
      let step = PolicyStep(bytes: next.bytes, signature: next.signature, keys: keys)
      return .success(try chain.signedStep(step, after: link))
    } catch {
      guard case .policyNotTrusted(let reason) = error else { throw error }
      switch reason {
      case .unsigned: return .failure(.unsigned)
      case .keyMissing(let person), .keyExchanged(let person, _): return .failure(.keyExchanged(person))
      case .foreignSubkey(let foreign): return .failure(.foreignSubkey(foreign))
      case .unusableKeyFile(let person, let problem): return .failure(.unusableKeyFile(person, problem))
      case .badSignature:
        return .failure(try fault(of: next.signature ?? [], over: next, after: link, keys: keys))
      default: return .failure(Self.order(next.policy, after: link))
      }
    }
  }

  /// Returns true if a merge may prefer some policies to another one, as in ``PolicyChain/newest(after:in:)``. A person from
  /// whom the other policy has taken the right to sign must not be preferred.
  ///
  /// - Parameters:
  ///   - kept: The preferred policies, in order.
  ///   - link: The policy before them.
  ///   - left: The policy that is replaced.
  ///   - common: The last policy that both have in common; nil if it is not known.
  /// - Throws: `KeyringError.engine` when GnuPG cannot be used.
  package func mayReplace(
    _ left: PolicyChain.Link, by kept: [PolicyChain.Followed], after link: PolicyChain.Link,
    since common: PolicyChain.Link?
  ) throws(KeyringError) -> Bool {
    try chain(of: left.policy).agrees(
      left, with: kept, after: link, since: common, in: HistoricalPolicies([]))
  }

  private func chain(of policy: Policy) -> PolicyChain {
    PolicyChain { room.engine(for: policy.keyring, keys: $0) }
  }

  /// Returns the reason why a policy does not follow another one, from the content of both.
  private static func order(_ next: Policy, after link: PolicyChain.Link) -> ChainProblem {
    let (generation, last) = (next.generation, link.policy.generation)
    if next.keyring != link.policy.keyring { return .foreign }
    if generation < last { return .older(generation: generation, before: last) }
    if generation == last { return .forked(generation: generation) }
    if generation > last + 1 { return .skipped(generation: generation, before: last) }
    return .notNext(generation: generation)
  }

  /// Returns the reason why a signature is not the signature of an admin.
  private func fault(
    of signature: [UInt8], over state: PolicyState, after link: PolicyChain.Link, keys: KeyFiles
  ) throws(KeyringError) -> ChainProblem {
    let policy = link.policy
    // Includes removed people, so that the report can name them.
    let step = PolicyStep(bytes: state.bytes, signature: signature, keys: keys)
    let judged = link.keys(of: policy.admins).joined(with: step.keys(namedIn: state.policy))
      .merging(link.keys) { joined, _ in joined }
    let known = keys.filter { policy.covers($0.value, of: $0.key) }.merging(judged) { _, believed in believed
    }
    let facts: [SignatureFact]
    do throws(EngineError) {
      facts = try room.engine(for: policy.keyring, keys: known)
        .verifyDetached(signature: signature, of: state.bytes)
    } catch {
      throw policy.error(error)
    }
    let good = facts.filter { $0.status == .good }.compactMap(\.primary)
    if let signer = good.first(where: { policy.people[$0] != nil }) {
      return policy.isMember(signer) ? .signedByMember(signer) : .signedByRemoved(signer)
    }
    if let signer = good.first { return .signedByStranger(signer) }
    for fact in facts {
      guard case .invalidKey(let problem) = fact.status, let signer = fact.primary else { continue }
      switch problem {
      case .revoked: return .signedByRevoked(signer)
      case .expired(let end): return .signedByExpired(signer, end)
      }
    }
    guard let unknown = facts.first(where: { $0.status == .unknownKey }) else { return .badSignature }
    let lost = policy.admins.filter { link.keys[$0] == nil }
    return lost.isEmpty ? .signedByStranger(unknown.key) : .signerUnknown(lost)
  }
}

extension Policy {
  /// Returns true if a file is the key file that this policy names for a person, or if it names none for them.
  ///
  /// - Parameters:
  ///   - file: The content of the file.
  ///   - person: The person's fingerprint.
  /// - Returns: False if the policy does not list the person.
  package func covers(_ file: [UInt8], of person: Fingerprint) -> Bool {
    guard let person = people[person] else { return false }
    return person.key.map { $0 == ContentDigest(of: file) } ?? true
  }
}
