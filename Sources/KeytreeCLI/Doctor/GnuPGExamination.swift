internal import CommandSupport
internal import Glibc
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Terminal

/// The GnuPG checks of `doctor`: programs, homes, agent, settings.
struct GnuPGExamination {
  let environment: Environment
  /// The report of the engine before the round trip.
  let before: EngineReport
  /// The report of the engine after the round trip, which starts an agent if none is running.
  let after: EngineReport
  /// A Boolean value that indicates whether the round trip needed an agent and could not reach one.
  let agentFailed: Bool

  /// The diagnoses, in order of dependence.
  var diagnoses: [Diagnosis] {
    if let failure = after.failure {
      return [.failed("gpg", ErrorReport(failure, item: nil), advice: Self.advice(failure))]
    }
    return [
      .ok("gpg", "\(show(after.program)), version \(show(after.version))"),
      .ok("gpgme", "version \(show(after.libraryVersion))"),
      .ok("GnuPG home", show(after.userHome)),
    ] + configuration + [agent] + [
      .ok("engine home", show(after.engineHome)), redirect,
    ] + pinentry
  }

  /// Returns advice for a gpg that cannot be used at all.
  static func advice(_ failure: EngineError) -> String? {
    switch failure {
    case .engineMissing: "install it (`apt install gnupg`), or add its folder to `PATH`"
    case .unsafeEngine: "remove the folder from `PATH`, or remove the write permission of other users"
    case .engineTooOld: "install a newer version and put it first in `PATH`"
    default: nil
    }
  }

  private var configuration: [Diagnosis] {
    let machine = "/etc/gnupg/gpg.conf"
    let user = after.userHome.map { "\($0)/gpg.conf" }
    return [(user, GnuPGConfiguration.Owner.user), (machine, .machine)].flatMap { path, owner in
      guard let path, let text = UserFile.text(path) else { return [Diagnosis]() }
      return GnuPGConfiguration.examine(text, path: path, owner: owner)
    }
  }

  private var agent: Diagnosis {
    let socket = show(after.agentSocket)
    guard after.agentIsReachable else {
      // gpg starts the agent on demand, so a missing agent is a problem only if the round trip needed it.
      guard agentFailed else {
        return .ok("agent", "not running; it is started on demand, at \(socket)")
      }
      return .wrong(
        "agent", "does not answer at \(socket)",
        advice: "`gpgconf --launch gpg-agent` starts it, `gpgconf --kill gpg-agent` stops one that hangs")
    }
    return before.agentIsReachable
      ? .ok("agent", "answers at \(socket)")
      : .ok("agent", "answers at \(socket); it was not running and has been started")
  }

  private var redirect: Diagnosis {
    switch after.redirect {
    case .inPlace:
      before.redirect == .inPlace
        ? .ok("redirect", "points from the engine home to the agent")
        : .ok(
          "redirect",
          "points from the engine home to the agent; it was missing or wrong and has been repaired")
    case .missing:
      .wrong(
        "redirect", "missing: nothing points from the engine home to the agent",
        advice: "remove the folder \(show(after.engineHome)); keytree recreates it")
    case .stale(let socket):
      .wrong(
        "redirect", "points to \(show(socket)), which is not the socket of the agent",
        advice: "remove the folder \(show(after.engineHome)); keytree recreates it")
    }
  }

  /// The diagnosis of pinentry, the program that prompts for passphrases, and of the terminal that it uses.
  private var pinentry: [Diagnosis] {
    let settings = after.userHome.flatMap { UserFile.text("\($0)/gpg-agent.conf") } ?? ""
    let chosen = GnuPGConfiguration.options(of: settings).last { $0.option == "pinentry-program" }?.value
    let folder = after.program.map { $0.dropLast("gpg".utf8.count) } ?? "/usr/bin/"
    let program = chosen ?? "\(folder)pinentry"
    guard unsafe access(program, X_OK) == 0 else {
      return [
        .note(
          "pinentry", "\(show(program)) is not available, so passphrase prompts are not possible",
          advice: "install it (`apt install pinentry-curses`), or set `pinentry-program` in gpg-agent.conf")
      ]
    }
    let hasDisplay = environment.text("DISPLAY") != nil || environment.text("WAYLAND_DISPLAY") != nil
    if let terminal = environment.text("GPG_TTY") {
      return [.ok("pinentry", "\(show(program)), on the terminal \(show(terminal))")]
    }
    if hasDisplay { return [.ok("pinentry", "\(show(program)), on the display")] }
    return [
      .note(
        "pinentry", "\(show(program)), but `GPG_TTY` is not set, so it may not find your terminal",
        advice: "add `export GPG_TTY=$(tty)` to the startup file of your shell")
    ]
  }

  private func show(_ text: String?) -> String { text ?? "unknown" }
}
