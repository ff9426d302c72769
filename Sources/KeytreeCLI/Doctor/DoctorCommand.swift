internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Terminal

/// `keytree doctor`: checks everything the program depends on.
enum DoctorCommand: Command {
  static let history = HistoryUse.before
  static let declaration = CommandDeclaration(
    name: "doctor", summary: "test everything that keytree depends on",
    details: [
      "Reports GnuPG, its agent and socket, and your keys with their problems. Makes a round trip: encrypts and "
        + "decrypts a few bytes. If a passphrase protects your key, reports the time of one operation with it. "
        + "Without a store, it checks only GnuPG, your keys and the git program.",
      "Each line begins with `ok`, `note` (information) or `wrong` (a problem). The line below it says what to do.",
      "For git, it reports the program and the repository, and configures what a clone needs: attributes that pushed "
        + "files cannot override, and keytree as the program that merges and shows items. It reports the changes that "
        + "it makes.",
      "If a browser was set up with `keytree browser-host --install`, it also checks whether the browser can start "
        + "keytree and whether pinentry has a window.",
    ],
    examples: [Example("keytree doctor", "reports what works and what does not")],
    exitCodes: [11, 13])

  static func run(_ call: CommandCall) throws -> ExitCode {
    var spent = EngineStatistics()
    let list = try examine(call, &spent)
    defer { call.explain(spent) }
    if call.globals.json {
      for diagnosis in list { call.console.print(json: diagnosis.json) }
    } else {
      let indent = Diagnosis.indentation(of: list)
      for line in Diagnosis.lines(list) { call.console.print(wrapping: line, indent: indent) }
    }
    let count = list.count { $0.state == .wrong }
    if !call.globals.json, count > 0 {
      call.console.say("\(count) \(count == 1 ? "problem was" : "problems were") found.")
    }
    return count == 0 ? .done : .failedChecks
  }

  private static func examine(
    _ call: CommandCall, _ spent: inout EngineStatistics
  ) throws -> [Diagnosis] {
    let path = try call.storePath()
    var host = try call.host()
    // All checks run without a prompt; only the round trip may ask.
    host.interaction = .never
    let store = StoreExamination(at: path, host: host)
    let list = examine(store, host, call, &spent)
    if let keyring = store.keyring { spent = spent + keyring.engineStatistics }
    let history = GitExamination(call).diagnoses(of: store.keyring)
    let browsers = BrowserExamination(call, store.keyring?.index).diagnoses
    let desktop = DesktopExamination(
      environment: call.environment, gnupgHome: store.keyring?.engineReport()?.userHome ?? host.gnupgHome)
    return [.ok("keytree", "version \(ProgramVersion.number)")] + list + history + browsers
      + desktop.diagnoses + LibraryExamination.diagnoses
      + leftovers(call, path)
  }

  /// Returns notes about the folders of killed edits, clipboards that were not cleared, and pending merge files.
  private static func leftovers(_ call: CommandCall, _ path: String) -> [Diagnosis] {
    let environment = call.environment
    var list = EditorFolder.leftBehind(below: Editor.folders(environment)).map { path in
      let place = path
      return Diagnosis.note(
        "editor", "\(place) was left by an edit that was killed, and may contain a secret",
        advice: "`rm -r \(place)`")
    }
    let now = environment.clock().microseconds / 1_000_000
    if let base = environment.runtimeBase,
      Clipboard.all(environment).contains(where: {
        ClipboardTurns.isOverdue(session: $0.turnSession, in: base, now: now)
      })
    {
      list.append(
        .note(
          "clipboard", "it was not cleared in time and may still contain a secret",
          advice: "`keytree \(ClipboardTarget.clearCommand)` clears it"))
    }
    // Without a store nothing is pending.
    let pending = (try? call.store.folder()).flatMap { try? PendingMergeFiles(of: $0).paths() } ?? []
    if !pending.isEmpty {
      let names = pending.joined(separator: ", ")
      list.append(
        .note(
          "merging", "merges by plain git are not complete; files about them are pending: \(names)",
          advice:
            "finish the merge or check out its branch; the next command then removes them. `rm` discards them"
        )
      )
    }
    return list
  }

  private static func examine(
    _ store: StoreExamination, _ host: HostContext, _ call: CommandCall, _ spent: inout EngineStatistics
  ) -> [Diagnosis] {
    let user = UserKeyring(locations: host.engineLocations)
    // Before the secret keys are listed, because that starts an agent.
    let before = store.keyring?.engineReport()
    let own: [PublicKey]
    var ring: [Fingerprint: PublicKey] = [:]
    do {
      own = try user.secretKeys()
      if let policy = store.keyring?.policy { ring = try known(policy, user) }
    } catch {
      let report = ErrorReport(error, item: nil)
      return [.failed("gpg", report, advice: GnuPGExamination.advice(error))] + store.diagnoses
    }
    let here = own.flatMap(\.subkeys).filter { $0.secret != .elsewhere }
    let secrets = Dictionary(here.map { ($0.fingerprint, $0.secret) }) { first, _ in first }
    let keys = KeyExamination(own: own, now: host.clock(), secrets: secrets)
    let mayAsk = !call.globals.noInput && call.console.inputIsTerminal
    if let keyring = store.keyring, let before {
      var (tried, time) = (EngineStatistics(), nil as Duration?)
      let (result, failure) = RoundTrip(mayAsk: mayAsk) { interaction in
        roundTrip(at: store.path, host, interaction, &tried, &time)
      }.run()
      spent = spent + tried
      let gnupg = GnuPGExamination(
        environment: call.environment, before: before, after: keyring.engineReport() ?? before,
        agentFailed: failure?.isForWantOfAnAgent ?? false)
      let people = keys.people(
        of: keyring.policy, mine: Set(own.map(\.fingerprint)).union([keyring.ownFingerprint]),
        keys: before.keys, problems: before.problems,
        ring: ring, path: store.path)
      let keyTime = KeyTime(time: time, gnupgHome: before.userHome)
      return gnupg.diagnoses + store.diagnoses + people + [result] + keyTime.diagnoses
    }
    return withoutStore(keys, user, host, call, mayAsk: mayAsk, store, &spent)
  }

  private static func withoutStore(
    _ keys: KeyExamination, _ user: UserKeyring, _ host: HostContext, _ call: CommandCall, mayAsk: Bool,
    _ store: StoreExamination, _ spent: inout EngineStatistics
  ) -> [Diagnosis] {
    var files: [Fingerprint: [UInt8]] = [:]
    let usable = keys.own.first(where: keys.isUsable)
    if let usable {
      do {
        files[usable.fingerprint] = try user.exportMinimal(usable.fingerprint)
      } catch {
        let report = ErrorReport(error, item: nil)
        return [.failed("gpg", report, advice: GnuPGExamination.advice(error))] + store.diagnoses
      }
    }
    let engine = Engine(
      locations: host.engineLocations, keyringID: "doctor", keys: files, interaction: .never)
    let before = engine.report()
    var results: [Diagnosis] = []
    var (tried, failure) = (EngineStatistics(), nil as EngineError?)
    if let usable {
      let trip = RoundTrip(mayAsk: mayAsk) { interaction in
        let engine = Engine(
          locations: host.engineLocations, keyringID: "doctor", keys: files, interaction: interaction)
        defer { tried = tried + engine.statistics }
        do throws(EngineError) {
          try engine.roundTrip(recipients: [Recipient(usable.fingerprint)], signer: usable.fingerprint)
          return nil
        } catch {
          return error
        }
      }
      let (result, problem) = trip.run()
      (results, failure) = ([result], problem)
    }
    let gnupg = GnuPGExamination(
      environment: call.environment, before: before, after: engine.report(),
      agentFailed: failure?.isForWantOfAnAgent ?? false)
    spent = spent + tried + engine.statistics
    return gnupg.diagnoses + store.diagnoses + keys.ownKeys + results
  }

  private static func roundTrip(
    at path: String, _ host: HostContext, _ interaction: Interaction, _ spent: inout EngineStatistics,
    _ time: inout Duration?
  ) -> EngineError? {
    var host = host
    host.interaction = interaction
    do {
      let keyring = try Keyring.open(at: path, host: host)
      defer { spent = spent + keyring.engineStatistics }
      try keyring.roundTrip()
      time = keyring.timeOfProtectedKey()
      return nil
    } catch {
      guard case .engine(let error, _) = error else {
        return .other(code: 0, source: "keytree", text: ErrorReport(error).message ?? "")
      }
      return error
    }
  }

  /// Returns the keys of a policy's people in the user's own keyring.
  private static func known(
    _ policy: Policy, _ user: UserKeyring
  ) throws(EngineError) -> [Fingerprint: PublicKey] {
    var found: [Fingerprint: PublicKey] = [:]
    for fingerprint in policy.people.keys { found[fingerprint] = try user.publicKey(fingerprint) }
    return found
  }
}

extension EngineError {
  /// True if an unreachable agent could explain the error.
  fileprivate var isForWantOfAnAgent: Bool {
    switch self {
    case .agentUnreachable, .other, .notARecipient, .unusableKey(_, .noSecretKey): true
    default: false
    }
  }
}
