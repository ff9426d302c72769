internal import FileSystem
internal import KeyringModel

extension Keyring {
  /// The keyring by whose policy the items of a remote are judged: this one, or the one with the remote's policy.
  ///
  /// - Parameters:
  ///   - last: The policy of the remote, with its signature and key files.
  ///   - past: The policies that the history has.
  /// - Returns: The keyring; where the policy does not follow the accepted one, a keyring that trusts nothing: its items
  ///   come in and cannot be used before somebody has accepted that policy.
  /// - Throws: `KeyringError.policyNotTrusted` when the policy cannot be read; `.engine`, or a file error.
  package func judge(
    of last: PolicyStep, past: () throws(KeyringError) -> PastPolicySteps
  ) throws(KeyringError) -> Keyring {
    if last.bytes == policy.encode() { return self }
    let (engine, tree, host) = (engine, tree, host)
    let trusted = trusted
    do throws(KeyringError) {
      let link = try withoutActuallyEscaping(past) { past throws(KeyringError) in
        try PolicyAcceptance(
          tree: tree, host: host, engine: { _, keys in engine.with(keys: keys) }, past: past
        )
        .followed(from: trusted, to: last)
      }
      return Keyring(
        tree: tree,
        trusted: TrustedPolicy(policy: link.policy, signer: trusted.signer, keys: link.keys),
        engine: engine.with(keys: link.keys), host: host)
    } catch {
      guard case .policyNotTrusted = error else { throw error }
      let theirs: Policy
      do throws(PolicyError) {
        theirs = try Policy.parse(last.bytes)
      } catch {
        throw .policyNotTrusted(.unreadable(error))
      }
      let keys = last.keys.filter { theirs.isMember($0.key) }
      return Keyring(
        tree: tree, trusted: TrustedPolicy(unaccepted: theirs, keys: keys), engine: engine.with(keys: keys),
        host: host)
    }
  }

  /// Whether the members of a group would believe a record of theirs that this user signs now.
  ///
  /// - Parameters:
  ///   - group: The group.
  ///   - message: The encrypted file that the record describes. Nobody believes a signer who cannot read it.
  package func canSign(for group: String, _ message: [UInt8]) -> Bool {
    guard distrust == nil, policy.groups[group]?.contains(trusted.signer) ?? false else { return false }
    // With damage or without the engine nothing is signed, and both versions stay.
    return (try? ItemReader(keyring: self).isReader(trusted.signer, of: message)) ?? false
  }

  /// The recipients of the default group, as programs that read stores of pass have them.
  package var passRecipients: [UInt8] { policy.passRecipients }

  /// The name of the person at this machine, as the accepted policy has it; nil when nothing was accepted.
  package static func ownName(in tree: FileTree, host: HostContext) -> String? {
    // Without it git has to know the person, and says so.
    guard let trusted = try? TrustedPolicy(in: tree, stateBase: host.stateBase) else { return nil }
    return trusted.policy.people[trusted.signer]?.name
  }
}
