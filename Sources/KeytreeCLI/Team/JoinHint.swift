internal import CommandSupport
internal import Encoding
internal import Keyring
internal import KeyringModel
internal import OpenPGP

/// The hint for a user who is not in the policy of a store yet: how an admin receives their public key.
enum JoinHint {
  /// Returns the hint for a user with some secret keys.
  ///
  /// - Parameters:
  ///   - policy: the policy, in which none of the keys is.
  ///   - former: the person in it as whom the user has used the store on this machine.
  ///   - folder: the folder of the store if it is not the one that commands use without `--store`.
  static func text(
    for keys: OwnKeys, in policy: Policy, former: Fingerprint? = nil, folder: String? = nil
  ) -> String {
    if let (old, new) = replacement(among: keys, in: policy, former) {
      // Another machine of the user may have the old key. A mail address can also be that of several people.
      let choice =
        former == old
        ? "" : " if your other key is lost, or `keytree group add \(GroupName.default) FILE` to keep both"
      return "\(CommandError.replacementRequest(of: old, by: new))\(choice); then run \(trustCommand(folder))"
    }
    guard !keys.usable.isEmpty else {
      return
        "\(ErrorReport.newKeyHint). `gpg --armor --export MAIL` prints its public part for an admin. Or import the "
        + "secret key from your other machine"
    }
    let commands = keys.usable.prefix(shownKeys).map { key in
      "`gpg --armor --export \(mail(of: key, among: keys) ?? key.fingerprint.text)`"
    }
    return
      "send an admin the output of \(commands.joined(separator: " or ")), to be added with `keytree group add "
      + "default FILE`; then run \(trustCommand(folder))"
  }

  /// Returns the command that accepts the policy of a store.
  ///
  /// - Parameter folder: as for ``text(for:folder:)``.
  static func trustCommand(_ folder: String?) -> String {
    "`keytree \(folder.map { "--store \($0.shellWord) " } ?? "")trust`"
  }

  /// Returns the user's key in a policy that is not on this machine, and the only other one that is; nil unless there is
  /// exactly one of each. The user is recognised by what this machine remembers, or by a mail address.
  private static func replacement(
    among keys: OwnKeys, in policy: Policy, _ former: Fingerprint?
  ) -> (old: Fingerprint, new: Fingerprint)? {
    if let former, policy.isMember(former) {
      return keys.usable.count == 1 ? (former, keys.usable[0].fingerprint) : nil
    }
    let pairs = keys.usable.flatMap { key in
      let mails = Set(key.userIDs.map(PublicKey.address(in:)).filter { $0.contains("@") })
      return policy.activePeople.filter { person in
        mails.contains { policy.people[person]?.hasMail($0) ?? false }
      }.map { (old: $0, new: key.fingerprint) }
    }
    return pairs.count == 1 ? pairs[0] : nil
  }

  /// The largest number of keys that are named.
  private static let shownKeys = 3

  /// Returns the mail address of a key if it names no other key of the user and is a plain word for a shell.
  private static func mail(of key: OwnKeys.Candidate, among keys: OwnKeys) -> String? {
    guard let mail = key.userIDs.first.map(PublicKey.address) else { return nil }
    guard mail.shellWord == mail, mail.contains("@"), keys.matchingExactly(mail).count == 1 else {
      return nil
    }
    return mail
  }
}

extension CommandError {
  /// Returns the error for a store whose policy this machine has not accepted. The hint depends on whether the user can
  /// accept it, or has to be added by an admin first.
  ///
  /// - Parameter fetched: the policy of the remote, if it could not be merged.
  /// - Throws: `KeyringError` if the policy or the user's keys cannot be read.
  static func notAccepted(
    _ reason: PolicyDistrust, fetched: PolicyStep?, _ call: CommandCall
  ) throws -> CommandError {
    let policy = try fetched.map { try Policy.parse($0.bytes) } ?? PolicyState(in: call.store.folder()).policy
    let keys = try OwnKeys(host: try call.host())
    let isMember = keys.candidates.contains { policy.isMember($0.fingerprint) }
    return .other(
      .policyNotTrusted,
      message: "the policy of the store is not trusted: \(reason.message)"
        + (isMember ? "" : ", and none of your secret keys belongs to a person in it"),
      hint: isMember ? reason.hint : JoinHint.text(for: keys, in: policy))
  }
}
