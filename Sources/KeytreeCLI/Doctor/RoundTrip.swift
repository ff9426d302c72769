internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import OpenPGP

/// A test that encrypts and decrypts a few bytes, first without a prompt, then with a passphrase prompt if one is
/// needed.
struct RoundTrip {
  /// A Boolean value that indicates whether a passphrase prompt is allowed.
  let mayAsk: Bool
  /// Makes one attempt with the given kind of passphrase prompt, and returns its error.
  let attempt: (Interaction) -> EngineError?

  /// Runs the test.
  ///
  /// - Returns: the diagnosis, and the error of the first attempt if it failed.
  func run() -> (diagnosis: Diagnosis, failure: EngineError?) {
    let failure = attempt(.never)
    switch failure {
    case nil: return (.ok("round trip", "a few bytes were encrypted, signed, decrypted and verified"), nil)
    case .noPromptPossible, .badPassphrase: return (withPassphrase(), failure)
    case .restrictedAgent: return (overRestrictedSocket(), failure)
    case let error?: return (failed(error), error)
    }
  }

  private func withPassphrase() -> Diagnosis {
    let locked = "the key has a passphrase that the agent has not cached"
    guard mayAsk else {
      return .wrong(
        "round trip", "\(locked), and a prompt is not possible",
        advice: "run `keytree doctor` on a terminal without `--no-input`")
    }
    switch attempt(.pinentry) {
    case nil: return .ok("round trip", "a few bytes were encrypted and decrypted with your passphrase")
    case .cancelled: return .note("round trip", "\(locked); the prompt was cancelled, so nothing was tested")
    case let error?: return failed(error)
    }
  }

  private func overRestrictedSocket() -> Diagnosis {
    let restricted =
      "the agent answers on its restricted socket, so `--no-input` and items that ask each time cannot be used"
    guard mayAsk else {
      return .wrong(
        "round trip", "\(restricted), and nothing was tested",
        advice: "run `keytree doctor` on a terminal without `--no-input`")
    }
    switch attempt(.pinentry) {
    case nil:
      return .note("round trip", "a few bytes were encrypted, signed, decrypted and verified; \(restricted)")
    case .cancelled:
      return .note("round trip", "\(restricted); the prompt was cancelled, so nothing was tested")
    case let error?:
      return .failed(
        "round trip", ErrorReport(error, item: "the test message"),
        advice: "check pinentry on the machine where the agent runs")
    }
  }

  private func failed(_ error: EngineError) -> Diagnosis {
    .failed("round trip", ErrorReport(error, item: "the test message"), advice: advice(error))
  }

  private func advice(_ error: EngineError) -> String? {
    switch error {
    case .noPromptPossible: "see the lines about pinentry and `GPG_TTY` above"
    case .unusableKey, .notARecipient: "see the lines about keys above"
    case .agentUnreachable: "run `gpgconf --kill gpg-agent`, then run `keytree doctor` again"
    case .wrongRecipients(_, _, let setting?):
      "remove `\(setting)` from /etc/gnupg/gpg.conf"
    default: nil
    }
  }
}

/// The time of one operation with a key that a passphrase protects, and how to change it.
struct KeyTime {
  /// The measured time; nil if it was not measured.
  let time: Duration?
  /// The user's GnuPG home, if it is known.
  let gnupgHome: String?

  /// The diagnosis. There is none for a key without a passphrase, which takes no noticeable time.
  var diagnoses: [Diagnosis] {
    guard let time else { return [] }
    let milliseconds = max(1, Int((time / .milliseconds(1)).rounded()))
    let file = gnupgHome.map { $0 + "/gpg-agent.conf" } ?? "gpg-agent.conf"
    return [
      .note(
        "key time",
        "one operation with your private key takes \(milliseconds) ms: the agent derives the key from its passphrase each time",
        advice:
          "a lower `s2k-count` in \(file), followed by `gpg --passwd`, makes it faster, but also each guess "
          + "of the passphrase; `default-cache-ttl` only changes how often you are asked")
    ]
  }
}
