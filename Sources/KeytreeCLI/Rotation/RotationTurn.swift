internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Terminal

/// `keytree rotate next`: changes one secret in a dialog.
///
/// A new secret is stored on this machine before the user sees it (`PendingSecret`), and becomes the secret of the item
/// when the user confirms that it is in use. If the program ends before that, the next run continues there.
struct RotationTurn {
  private let call: CommandCall
  private let console: Console
  private let generator: SecretGenerator

  init(_ call: CommandCall) throws {
    self.call = call
    console = call.console
    generator = try GenerateCommand.generator(call, count: 0)
  }

  /// Runs the dialog.
  ///
  /// - Throws: `promptImpossible` without a terminal, before anything is read; `cancelled` if the input ends;
  ///   `KeyringError`, `GitError`, `SyncError`, `NotCommittedError`.
  func run() throws -> ExitCode {
    try requirePerson()
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    try call.requireWritable(keyring)
    keyring.warmUp()
    let settlement = PendingSecretResolution(call: call, keyring: keyring)
    let pending = try PendingSecret.all(in: keyring.index)
    for kept in pending where try settlement.goOn(with: kept) { return .done }
    let rotations = try Rotations(call, keyring)
    rotations.reportGaps(console)
    let open = rotations.list.entries(.open).filter { entry in
      !pending.contains { $0.item == entry.record.id && $0.replaced == entry.record.revision }
    }
    for (number, entry) in open.enumerated() {
      guard try canChange(entry, in: keyring) else { continue }
      switch try turn(entry, keyring, settlement) {
      case .skipped: continue
      case .stopped: return .done
      case .settled:
        let rest = open.count - number - 1
        if rest > 0 {
          console.say("\(rest) more \(rest == 1 ? "is" : "are") open; `keytree rotate next` continues.")
        }
        return .done
      }
    }
    console.say(open.isEmpty ? "No secret has to be changed." : "You cannot change any other open secret.")
    return .done
  }

  private func requirePerson() throws {
    try Editor.requirePerson(at: console)
    guard console.outputIsTerminal else {
      throw CommandError.other(
        .cancelled, message: "cannot show secrets: standard output is not a terminal",
        hint: "run the command on a terminal")
    }
  }

  /// Returns true if this user can change an entry; otherwise reports why not.
  private func canChange(_ entry: RotationList.Entry, in keyring: Keyring) throws -> Bool {
    let name = call.name(of: entry.record)
    if try keyring.ownGroups().contains(entry.record.group) { return true }
    console.complain("You cannot change \(name): you are not in group \(entry.record.group).")
    return false
  }

  // MARK: One item

  private enum Ending { case settled, skipped, stopped }

  private static let question =
    "[g]enerate, [t]ype or [e]dit a new secret, show the [o]ld one, [s]kip, [a]ccept, [q]uit"

  private func turn(
    _ entry: RotationList.Entry, _ keyring: Keyring, _ settlement: PendingSecretResolution
  ) throws -> Ending {
    show(entry, keyring.policy)
    while true {
      guard let answer = try console.ask(Self.question) else {
        throw TerminalError.cancelled(action: "nothing was changed")
      }
      switch answer.lowercased().first {
      case nil, "g":
        var random = SystemRandomNumberGenerator()
        let pending = try keep(generator.make(using: &random), for: entry.record, keyring)
        console.complain("A new secret, \(generator.explanation):")
        try settlement.show(pending)
        try settlement.finish(pending, for: entry.record)
        return .settled
      case "t":
        guard let pending = try typed(for: entry.record, keyring) else { continue }
        try settlement.finish(pending, for: entry.record)
        return .settled
      case "e":
        guard let pending = try edited(entry.record, keyring) else { continue }
        try settlement.finish(pending, for: entry.record)
        return .settled
      case "o": console.write(secret: try keyring.secret(for: entry.record))
      case "s": return .skipped
      case "a": if try accept(entry, keyring) { return .settled }
      case "q": return .stopped
      default: console.complain("Please answer with one of the letters.")
      }
    }
  }

  private func show(_ entry: RotationList.Entry, _ policy: Policy) {
    let record = entry.record
    var facts = FactList()
    facts.add("item", call.name(of: record))
    for attribute in record.attributes.entries {
      facts.add(
        attribute.name.text,
        (String(decoding: attribute.value.shownBytes, as: UTF8.self)))
    }
    facts.add("group", record.group)
    facts.add("secret from", record.secretModified.day)
    for reader in entry.readers {
      facts.add("read by", (reader.words(policy, group: record.group)))
    }
    console.complain(facts)
  }

  private func typed(for record: ItemRecord, _ keyring: Keyring) throws -> PendingSecret? {
    let secret = try console.newSecret(
      for: call.name(of: record), limit: StoreLayout.secretLimit)
    // The secret can be changed even if the old one cannot be read.
    if let old = try? keyring.secret(for: record), old.isEqual(to: secret) {
      console.complain("That is the current secret.")
      return nil
    }
    return try keep(secret, for: record, keyring)
  }

  private func edited(_ record: ItemRecord, _ keyring: Keyring) throws -> PendingSecret? {
    let old = try keyring.secret(for: record)
    let editor = Editor(environment: call.environment)
    guard let secret = try editor.edit(old, limit: StoreLayout.secretLimit, console: console) else {
      console.complain("Nothing was changed.")
      return nil
    }
    return try keep(secret, for: record, keyring)
  }

  private func keep(
    _ secret: borrowing SecretBytes, for record: ItemRecord, _ keyring: Keyring
  ) throws -> PendingSecret {
    do {
      return try PendingSecret.keep(secret, for: record, in: keyring)
    } catch KeyringError.itemExists(let reference) {
      throw CommandError.other(
        .alreadyExists,
        message: "another new secret for \(call.name(of: record)) is pending on this machine",
        hint: "`keytree rotate next` asks about it first; `keytree get \(reference.text)` shows it")
    }
  }

  private func accept(_ entry: RotationList.Entry, _ keyring: Keyring) throws -> Bool {
    do {
      try RotationAcceptance.requireAdmin(keyring)
    } catch {
      for line in ErrorReport(describing: error).lines { console.complain(line) }
      return false
    }
    guard let reason = try console.ask("Why may the secret stay"), !reason.isEmpty,
      reason.utf8.count <= AcceptedRisk.maximumReason
    else { return false }
    try RotationAcceptance.accept(entry.record, because: reason, in: keyring, call)
    return true
  }
}
