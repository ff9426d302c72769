internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Terminal

/// `keytree rotate accept`: an admin's decision that a secret stays.
struct RotationAcceptance {
  private let call: CommandCall

  init(_ call: CommandCall) { self.call = call }

  /// Finds the selected entry and accepts it.
  ///
  /// - Throws: a usage error; `noMatch`, `ambiguous`; `KeyringError`, with `team` and `notAnAdmin` if the user is not
  ///   an admin; `NotCommittedError`.
  func run() throws -> ExitCode {
    let selection = try call.selection(0)
    guard let reason = call.arguments.text(RotateCommand.reason) else {
      throw call.misuse(.missingOperand("--reason"))
    }
    try Self.check(reason, call)
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    try Self.requireAdmin(keyring)
    let list = try Rotations(call, keyring).list
    let meant = selection.selected(among: list.entries.map(\.record))
    guard let record = try call.single(meant) else {
      let item = try call.findOne(selection, in: keyring.index)
      throw CommandError.other(
        .notFound, message: "\(call.name(of: item)) is not on the rotation list",
        hint: "`keytree rotate status` shows the list")
    }
    try Self.accept(record, because: reason, in: keyring, call)
    return .done
  }

  /// Checks the length of a reason.
  ///
  /// - Throws: a usage error.
  static func check(_ reason: String, _ call: CommandCall) throws {
    guard !reason.isEmpty, reason.utf8.count <= AcceptedRisk.maximumReason else {
      throw call.misuse(.other("a reason has 1 to \(AcceptedRisk.maximumReason) bytes"))
    }
  }

  /// Checks that the user is an admin, before any prompt and before anything is read.
  static func requireAdmin(_ keyring: Keyring) throws {
    if let distrust = keyring.distrust { throw KeyringError.policyNotTrusted(distrust) }
    guard keyring.policy.admins.contains(keyring.ownFingerprint) else { throw KeyringError.team(.notAnAdmin) }
  }

  /// Writes the decision to the policy and commits it.
  ///
  /// - Throws: `KeyringError`, `NotCommittedError`.
  static func accept(
    _ record: ItemRecord, because reason: String, in keyring: Keyring, _ call: CommandCall
  ) throws {
    let risk = AcceptedRisk(
      revision: record.revision, reason: reason, by: keyring.ownFingerprint, at: try call.host().clock())
    let change = try keyring.plan([.accept(record.id, risk)])
    let progress = WorkProgress("encrypt", console: call.console)
    defer { progress.finish() }
    _ = try call.make(change, of: keyring, subject: "accept that a secret stays") {
      progress.advance(to: $0, of: $1)
    }
    try call.commitPending()
    call.console.say("Accepted: the secret of \(call.name(of: record)) stays as it is.")
  }
}
