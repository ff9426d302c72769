internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Terminal

/// The end of a new secret that is kept on this machine: it is stored in its item, stays pending, or is
/// discarded.
struct PendingSecretResolution {
  let call: CommandCall
  let keyring: Keyring
  private var console: Console { call.console }

  /// Shows a kept secret to the person at the terminal.
  func show(_ pending: PendingSecret) throws {
    console.write(secret: try keyring.secret(for: pending.record))
  }

  /// Asks whether a new secret is in place, and does what follows from that.
  ///
  /// - Parameters:
  ///   - pending: The secret.
  ///   - record: The item that it is for.
  /// - Throws: `KeyringError`, `NotCommittedError`; `other` when the item has got yet another secret meanwhile.
  func finish(_ pending: PendingSecret, for record: ItemRecord) throws {
    console.complain("It is kept on this machine. Set it where the old one is in use.")
    if try console.confirm("Is it in place") { return try put(pending, into: record) }
    if try console.confirm("Shall it be discarded") { return try discard(pending) }
    console.complain("It goes on waiting: `keytree rotate next` asks again.")
  }

  /// Goes on with a secret that was left waiting.
  ///
  /// - Returns: Whether something became of it; else it goes on waiting, and it is the next one's turn.
  /// - Throws: as `finish(_:for:)`; `cancelled` when the input ends.
  func goOn(with pending: PendingSecret) throws -> Bool {
    let found = try keyring.find(Query(predicates: [.id(pending.item)], limit: .one)).items.first
    let name =
      found.map { $0.reference.text }
      ?? pending.record.attributes[.label].map { label in
        String(decoding: label.shownBytes, as: UTF8.self)
      }
    console.complain(
      "A new secret waits since \(pending.record.created.rfc3339) for \(name ?? pending.item.hex)."
    )
    if let found, found.revision != pending.replaced {
      if try isThere(pending, in: found) {
        try keyring.delete([pending.record])
        console.complain("It is the item's already, and waits no more.")
        return true
      }
      console.complain("The item has got another secret since.")
    }
    if found == nil { console.complain("The item is gone.") }
    while true {
      let question = "[s]how it, [i]t is in place, [d]iscard it, [l]ater"
      guard let answer = try console.ask(question) else {
        throw TerminalError.cancelled(action: "it goes on waiting")
      }
      switch (answer.lowercased().first, found) {
      case ("s", _): try show(pending)
      case ("i", let found?):
        try put(pending, into: found)
        return true
      case ("i", nil): console.complain("There is no item to put it into: show it, and add one with it.")
      case ("d", _):
        try discard(pending)
        return true
      case (nil, _), ("l", _): return false
      default: console.complain("Please answer with one of the letters.")
      }
    }
  }

  // MARK: Helpers

  /// Returns true if a process that was killed had already stored the secret in the item.
  private func isThere(_ pending: PendingSecret, in record: ItemRecord) throws -> Bool {
    let new = try keyring.secret(for: pending.record)
    let current = try keyring.secret(for: record)
    return new.isEqual(to: current)
  }

  /// Makes the secret that of the item, and keeps both where somebody else has changed it.
  private func put(_ pending: PendingSecret, into record: ItemRecord) throws {
    var base = record
    base.revision = pending.replaced
    let secret = try keyring.secret(for: pending.record)
    let outcome = try EditedSecret(of: base, keyring: keyring, console: console).store(secret)
    try keyring.delete([pending.record])
    try call.commitPending()
    switch outcome {
    case .replaced(let result): call.report("Changed the secret of", result)
    case .restored(let result): call.report("It was removed meanwhile; stored it again as", result)
    case .kept(let copy):
      throw CommandError.other(
        .failure,
        message:
          "\(record.reference.text) has got another secret meanwhile: yours is kept as "
          + copy.reference.text,
        hint: "`keytree resolve` shows both, and keeps the one that you choose")
    }
  }

  private func discard(_ pending: PendingSecret) throws {
    try keyring.delete([pending.record])
    console.complain("The new secret is gone; the item has the one that it had.")
  }
}
