internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Terminal

/// The resolution of a pending secret: it is stored in its item, stays pending, or is discarded.
struct PendingSecretResolution {
  let call: CommandCall
  let keyring: Keyring
  private var console: Console { call.console }

  /// Shows a pending secret on the terminal.
  func show(_ pending: PendingSecret) throws {
    console.write(secret: try keyring.secret(for: pending.record))
  }

  /// Asks whether the new secret is in use, and then stores it in its item, discards it, or leaves it pending.
  ///
  /// - Parameters:
  ///   - pending: the new secret.
  ///   - record: the item that will get it.
  /// - Throws: `KeyringError`, `NotCommittedError`; `other` if the secret of the item was changed concurrently.
  func finish(_ pending: PendingSecret, for record: ItemRecord) throws {
    console.complain("The new secret is kept on this machine. Set it wherever the old one is in use.")
    if try console.confirm("Is the new secret in use") { return try put(pending, into: record) }
    if try console.confirm("Discard the new secret") { return try discard(pending) }
    console.complain("The new secret stays pending: `keytree rotate next` asks again.")
  }

  /// Asks what to do with a secret that an earlier run has left pending.
  ///
  /// - Returns: true if the secret was stored or discarded; false if it stays pending.
  /// - Throws: the errors of `finish(_:for:)`; `cancelled` if the input ends.
  func goOn(with pending: PendingSecret) throws -> Bool {
    let found = try keyring.find(Query(predicates: [.id(pending.item)], limit: .one)).items.first
    let name =
      found.map { call.name(of: $0) }
      ?? pending.record.attributes[.label].map { label in
        let text = String(decoding: label.shownBytes, as: UTF8.self)
        // The label is the reference that the item had.
        return ItemReference(text)?.spokenName ?? text
      }
    console.complain(
      "A new secret for \(name ?? pending.item.hex) has been pending since \(pending.record.created.second)."
    )
    if let found, found.revision != pending.replaced {
      if try isThere(pending, in: found) {
        try keyring.delete([pending.record])
        console.complain("The item already has this secret, so it is no longer pending.")
        return true
      }
      console.complain("The secret of the item has changed since then.")
    }
    if found == nil { console.complain("The item no longer exists.") }
    while true {
      let question = "[s]how it, [i]t is in use, [d]iscard it, [l]ater"
      guard let answer = try console.ask(question) else {
        throw TerminalError.cancelled(action: "the new secret stays pending")
      }
      switch (answer.lowercased().first, found) {
      case ("s", _): try show(pending)
      case ("i", let found?):
        try put(pending, into: found)
        return true
      case ("i", nil):
        console.complain("The item no longer exists: show the new secret, and add an item with it.")
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

  /// Stores the secret in its item. If the secret of the item was changed concurrently, keeps both.
  private func put(_ pending: PendingSecret, into record: ItemRecord) throws {
    var base = record
    base.revision = pending.replaced
    let secret = try keyring.secret(for: pending.record)
    let outcome = try EditedSecret(of: base, keyring: keyring, console: console).store(secret)
    try keyring.delete([pending.record])
    try call.commitPending()
    switch outcome {
    case .replaced(let result): call.report("Changed the secret of", result)
    case .restored(let result): call.report("The item was removed concurrently; stored it again as", result)
    case .kept:
      throw CommandError.other(
        .failure,
        message:
          "the secret of \(call.name(of: record)) was changed concurrently: yours is kept as a conflict copy",
        hint: "`keytree resolve` shows both, and keeps the one that you choose")
    }
  }

  private func discard(_ pending: PendingSecret) throws {
    try keyring.delete([pending.record])
    console.complain("The new secret was discarded. The item keeps its old secret.")
  }
}
