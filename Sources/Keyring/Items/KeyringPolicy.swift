internal import FileSystem
internal import KeyringModel

extension Keyring {
  /// Opens a store whose policy this machine has not accepted yet, to receive newer files from the remote.
  ///
  /// Nothing can be decrypted, signed or written by a user with it, and no pin is read or created. A missing key file
  /// is not an error here.
  ///
  /// - Parameters:
  ///   - tree: The folder of the store.
  ///   - host: The facts about this machine.
  /// - Throws: `KeyringError.policyNotTrusted` when the policy cannot be read, `.noStore`, or a file error.
  package static func openUnaccepted(in tree: FileTree, host: HostContext) throws(KeyringError) -> Keyring {
    let state = try PolicyState(in: tree)
    let keys = try tree.keyFiles(of: state.policy.people.filter { $0.value.removed == nil }.keys)
    return Keyring(
      tree: tree, trusted: TrustedPolicy(unaccepted: state.policy, keys: keys),
      engine: host.engine(for: state.policy.keyring, keys: keys), host: host)
  }

  /// Opens a store with a policy that this machine has just accepted and that is not in the store's folder yet, to merge
  /// the commit that has it.
  ///
  /// - Parameters:
  ///   - step: The accepted policy with its key files.
  ///   - tree: The folder of the store.
  ///   - host: The facts about this machine.
  /// - Throws: `KeyringError.policyNotTrusted` when this machine has accepted another policy, none, or other key files;
  ///   a file error.
  package static func open(
    accepted step: PolicyStep, in tree: FileTree, host: HostContext
  ) throws(KeyringError) -> Keyring {
    let policy: Policy
    do throws(PolicyError) {
      policy = try Policy.parse(step.bytes)
    } catch {
      throw .policyNotTrusted(.unreadable(error))
    }
    let accepted = try PinStore(base: host.stateBase, keyring: policy.keyring).read()
    guard let accepted, accepted.pin.digest == step.digest else { throw .policyNotTrusted(.notPinned) }
    let keys = step.keys.filter { policy.isMember($0.key) }
    let engine = host.engine(for: policy.keyring, keys: keys)
    if let person = accepted.pin.changedKeys(keys).first {
      throw .policyNotTrusted(.keyChanged(person, name: policy.people[person]?.name ?? ""))
    }
    return Keyring(
      tree: tree,
      trusted: TrustedPolicy(
        policy: policy, signer: try engine.preferred(accepted.signer, in: policy), keys: keys),
      engine: engine, host: host)
  }

  /// False if this machine has not accepted any policy of the keyring, so that nothing in the store is trusted.
  package var isAccepted: Bool { distrust != .notPinned }

  /// Returns the keyring with which to verify the items of a remote: this keyring, or one with the remote's policy.
  ///
  /// - Parameters:
  ///   - last: The policy of the remote, with its signature and key files.
  ///   - past: The policies in the history, with those of the remote as the branch.
  /// - Throws: `KeyringError.policyNotTrusted` if the remote's policy does not follow the accepted one; `.engine`, or a
  ///   file error.
  package func judge(
    of last: PolicyStep, past: HistoricalPolicies
  ) throws(KeyringError) -> Keyring {
    if last.bytes == policy.encode() { return self }
    let engine = engine
    let acceptance = PolicyAcceptance(tree: tree, host: host) { _, keys in engine.with(keys: keys) }
    return try with(acceptance.followed(from: trusted, to: last, past: past))
  }

  /// Returns true if a policy of a branch was replaced before by the accepted one, or by one before that: it precedes the
  /// accepted one, or a merge has left it out.
  ///
  /// - Parameters:
  ///   - step: The policy.
  ///   - past: The policies in the history, with those of the branch that has the policy.
  package func hasReplaced(_ step: PolicyStep, in past: HistoricalPolicies) -> Bool {
    if past.ancestors(of: policy).contains(step.digest) { return true }
    // A policy that cannot be read is none that was replaced.
    guard let generation = (try? Policy.parse(step.bytes))?.generation else { return false }
    return generation < policy.generation && past.isOnBranch(trusted.link.digest)
  }

  /// Returns the keyring with the last policy that follows that of this keyring in the history of a commit, which has the
  /// policy of this keyring or an earlier one.
  ///
  /// - Parameter past: The policies in the history, with those of the commit as the branch.
  /// - Returns: The keyring, and its policy with signature and key files; this keyring and nil if no policy follows.
  /// - Throws: `KeyringError.policyNotTrusted` with `contradictory`; `.engine`.
  package func newest(in past: HistoricalPolicies) throws(KeyringError) -> (judge: Keyring, step: PolicyStep?)
  {
    guard let newest = try PolicyChain(engine: engine).newest(after: trusted.link, in: past) else {
      return (self, nil)
    }
    return (try with(newest.link), newest.step)
  }

  private func with(_ link: PolicyChain.Link) throws(KeyringError) -> Keyring {
    Keyring(
      tree: tree,
      trusted: TrustedPolicy(
        policy: link.policy, signer: try engine.preferred(trusted.signer, in: link.policy), keys: link.keys),
      engine: engine.with(keys: link.keys), host: host)
  }

  /// Returns true if the members of a group would accept a record that this user signs now.
  ///
  /// - Parameters:
  ///   - group: The group.
  ///   - message: The encrypted file of the record. A signer who cannot read it is not accepted.
  package func canSign(for group: String, _ message: [UInt8]) -> Bool {
    // If the message is damaged or the engine fails, nothing is signed and both versions are kept.
    guard distrust == nil, let signer = try? signer(for: [group]) else { return false }
    return (try? ItemReader(keyring: self).isReader(signer, of: message)) ?? false
  }

  /// The content of the file that lists the recipients of the default group for programs that read pass stores.
  package var passRecipients: [UInt8] { policy.passRecipients }

  /// Returns this user's name in the accepted policy; nil if no policy was accepted.
  package static func ownName(in tree: FileTree, host: HostContext) -> String? {
    // Without a name, git uses its own settings, or reports that they are missing.
    guard let trusted = try? TrustedPolicy(in: tree, stateBase: host.stateBase) else { return nil }
    return trusted.policy.people[trusted.signer]?.name
  }
}
