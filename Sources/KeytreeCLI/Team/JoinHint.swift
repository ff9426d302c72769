internal import CommandSupport
internal import Encoding
internal import Keyring
internal import KeyringModel
internal import OpenPGP

/// The hint for a user who is not in the policy of a store yet: how an admin receives their public key.
enum JoinHint {
  /// Returns the hint for a user with some secret keys.
  ///
  /// - Parameter folder: the folder of the store if it is not the one that commands use without `--store`.
  static func text(for keys: OwnKeys, folder: String? = nil) -> String {
    guard !keys.usable.isEmpty else {
      return
        "`gpg --quick-generate-key \"NAME <MAIL>\"` generates a key, and `gpg --armor --export MAIL` prints its "
        + "public part for an admin; or import the secret key from your other machine"
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
      hint: isMember ? reason.hint : JoinHint.text(for: keys))
  }
}
