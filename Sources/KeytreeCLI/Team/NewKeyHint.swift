internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import OpenPGP

/// The hint for a user whose secret key was replaced by one that is not in the policy yet.
extension CommandCall {
  /// Adds the commands with which an admin lists the user's new key to the error of a command.
  ///
  /// - Parameter error: The error of the command.
  /// - Returns: The same error unless it is caused by a missing secret, and only the secret of a new key is here.
  func namingNewKey(_ error: any Error) -> any Error {
    guard case .engine(let cause, _)? = error as? KeyringError, cause.isMissingSecret,
      let (old, new) = newKey()
    else { return error }
    let report = ErrorReport(describing: error)
    return CommandError.other(
      report.exitCode, message: report.message ?? "",
      hint: CommandError.replacementRequest(of: old, by: new))
  }

  /// Returns the user's listed key, whose secret is not here, and the only other key of theirs; nil in all other cases.
  private func newKey() -> (old: Fingerprint, new: Fingerprint)? {
    // The error itself is reported in any case.
    guard let keyring = try? openKeyring(), let host = try? host(), let secrets = try? secretSubkeys(),
      let keys = try? OwnKeys(host: host).usable.map(\.fingerprint)
    else { return nil }
    let policy = keyring.policy
    let old = keyring.ownFingerprint
    let others = keys.filter { !policy.isMember($0) }
    guard policy.isMember(old), others.count == 1 else { return nil }
    // With a listed subkey of any key of the user, items can be read.
    let canRead = policy.activePeople.contains { person in
      policy.people[person]?.encryptTo.contains { secrets[person]?[$0] != nil } ?? false
    }
    return canRead ? nil : (old, others[0])
  }
}

extension EngineError {
  /// True if a secret key that the policy lists is not on this machine.
  fileprivate var isMissingSecret: Bool {
    switch self {
    case .notARecipient, .unusableKey(_, .noSecretKey), .unusableKey(_, .noSigningSecret): true
    default: false
    }
  }
}
