internal import Arguments
internal import CommandSupport
internal import Interchange
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Secrets
internal import Terminal

/// An export of items from a store: decrypts them, reports the losses, and writes the file.
struct ExportRun {
  let call: CommandCall
  let keyring: Keyring
  /// The path to write to.
  let target: String
  /// The encryptor for the recipients; nil for plaintext.
  let sealer: MessageEncryptor?
  let isDryRun: Bool
  let acceptsLoss: Bool

  /// Decrypts items, on several threads.
  ///
  /// - Throws: `KeyringError` with the first error of decryption, because an export must not lack an item.
  func items(_ records: [ItemRecord]) throws -> [ExportedItem] {
    let progress = WorkProgress("decrypt", total: records.count, console: call.console)
    defer { progress.finish() }
    let keyring = keyring
    @Sendable func item(_ record: ItemRecord) throws -> ExportedItem {
      defer { progress.step() }
      return ExportedItem(record: record, secret: SecretSlice(try keyring.secret(for: record)))
    }
    // The first item is decrypted alone, because it may prompt for a passphrase (threat T36).
    var items = [try item(records[0])]
    items += try WorkerPool(workers: try call.host().workers).map(records.count - 1) {
      number -> ExportedItem in
      try item(records[number + 1])
    }
    return items
  }

  /// Writes one file.
  ///
  /// - Throws: `other` if data would be lost and losses were not accepted; `UserFileError`; `KeyringError`.
  func write(_ entries: [ExportEntry], as format: some ExportFile) throws {
    let prepared = PreparedExport(entries, as: format)
    guard try settle(prepared.report) else { return }
    if let sealer {
      let message = SecretBytes(copying: try sealer.seal(prepared.file))
      try SecretFile(path: target).write(message)
    } else {
      try SecretFile(path: target).write(prepared.file)
    }
    sayDone()
  }

  /// Writes a password store.
  ///
  /// - Throws: the errors of `write(_:as:)`.
  func writeTree(_ entries: [ExportEntry], for sealer: MessageEncryptor) throws {
    let tree = PassExport(entries)
    guard try settle(tree.report) else { return }
    let folder = try ExportFolder(path: target)
    let ids = sealer.recipients.map { $0.text + "\n" }.joined()
    try folder.write([Array(".gpg-id".utf8)], Array(ids.utf8))
    let progress = WorkProgress("encrypt", total: tree.files.count, console: call.console)
    defer { progress.finish() }
    let files = tree.files
    let messages: [[UInt8]] = try WorkerPool(workers: try call.host().workers).map(files.count) {
      number -> [UInt8] in
      defer { progress.step() }
      let content = files[number].content.copy()
      return try sealer.seal(content)
    }
    for (file, message) in zip(files, messages) {
      var components = file.components
      components[components.count - 1] += PassScan.suffix
      try folder.write(components, message)
    }
    try folder.finish()
    sayDone()
  }

  /// Prints the report. Returns true if the export may be written.
  private func settle(_ report: ExportReport) throws -> Bool {
    let isRefused = report.lossCount > 0 && !acceptsLoss
    let console = call.console
    if call.globals.json {
      for entry in report.entries { console.print(json: entry.json) }
      console.print(json: report.summaryJSON(isApplied: !isDryRun && !isRefused))
    } else {
      for entry in report.entries where isDryRun || !entry.losses.isEmpty {
        console.print(console.escaping.show(entry.line))
      }
      console.print((isDryRun || isRefused ? "would be: " : "") + report.summary)
    }
    if isRefused {
      let count = report.lossCount == 1 ? "1 item" : "\(report.lossCount) items"
      throw CommandError.other(
        .failure,
        message: isDryRun
          ? "\(count) would lose data" : "nothing was exported: \(count) would lose data",
        hint: "`--accept-loss` exports the items anyway; `export json --format keytree` loses nothing")
    }
    if isDryRun { console.say("Nothing was written.") }
    return !isDryRun
  }

  private func sayDone() {
    call.console.say(
      sealer == nil
        ? "\(target) contains these secrets unencrypted: remove it when you no longer need it."
        : "Wrote \(target).")
  }
}
