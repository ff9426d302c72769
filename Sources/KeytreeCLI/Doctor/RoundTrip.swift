internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import OpenPGP

/// Seals and opens a few bytes, first without asking anybody, then with a passphrase where one is needed.
struct RoundTrip {
  /// A Boolean value that indicates whether the user may be asked.
  let mayAsk: Bool
  /// Tries it; is given how a passphrase may be asked for.
  let attempt: (Interaction) -> EngineError?

  /// Makes it.
  ///
  /// - Returns: how it went, and why it failed, if it did.
  func run() -> (diagnosis: Diagnosis, failure: EngineError?) {
    let failure = attempt(.never)
    switch failure {
    case nil: return (.ok("round trip", "a few bytes were sealed, signed, opened and verified"), nil)
    case .noPromptPossible, .badPassphrase: return (withPassphrase(), failure)
    case let error?: return (failed(error), error)
    }
  }

  private func withPassphrase() -> Diagnosis {
    let locked = "the key has a passphrase that the agent does not remember now"
    guard mayAsk else {
      return .wrong(
        "round trip", "\(locked), and nobody may be asked",
        advice: "run it on a terminal without `--no-input`")
    }
    switch attempt(.pinentry) {
    case nil: return .ok("round trip", "a few bytes were sealed and opened with your passphrase")
    case .cancelled: return .note("round trip", "\(locked); it was not given, so nothing was tried")
    case let error?: return failed(error)
    }
  }

  private func failed(_ error: EngineError) -> Diagnosis {
    .failed("round trip", ErrorReport(error, item: "the test message"), advice: advice(error))
  }

  private func advice(_ error: EngineError) -> String? {
    switch error {
    case .noPromptPossible: "look at the lines about pinentry and `GPG_TTY` above"
    case .unusableKey, .notARecipient: "look at the lines about keys"
    case .agentUnreachable: "`gpgconf --kill gpg-agent`, then run it again"
    case .wrongRecipients(_, _, let setting?):
      "look for `\(setting)` in /etc/gnupg/gpg.conf"
    default: nil
    }
  }
}
