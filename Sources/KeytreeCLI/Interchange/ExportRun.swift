internal import Arguments
internal import CommandSupport
internal import Interchange
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Secrets
internal import Terminal

/// An export of items from a store: reports what the attributes lose, decrypts the items, and writes the file.
struct ExportRun {
  let call: CommandCall
  let keyring: Keyring
  /// The path to write to.
  let target: String
  /// The encryptor for the recipients; nil for plaintext.
  let sealer: MessageEncryptor?
  /// The format of the file; nil for a pass store.
  let format: (any ExportFile)?
  let isDryRun: Bool
  let acceptsLoss: Bool
  /// True if each item that loses data has its own line in the report.
  let isVerbose: Bool

  /// Runs the export.
  ///
  /// - Parameter records: the items; not empty.
  /// - Throws: `other` if data would be lost and losses were not accepted; `UserFileError`; `KeyringError`.
  func callAsFunction(_ records: [ItemRecord]) throws {
    let forecast = ExportForecast(records)
    let foreseen = forecast.report(report(of: entries(of: forecast.entries.flatMap(\.items))))
    if isDryRun || (foreseen.lossCount > 0 && !acceptsLoss) {
      show(foreseen, isDone: false)
      try requireAcceptance(of: foreseen, keeping: formatsWithoutLoss(forecast))
      call.console.say("Nothing was decrypted or written.")
      return
    }
    var shown: Set<ExportReport.Entry> = []
    if !call.globals.json {
      shown = Set(foreseen.entries.filter { !$0.losses.isEmpty })
      showLosses(of: foreseen.entries)
    }
    let entries = self.entries(of: try items(records))
    if let format {
      try write(entries, as: format, shown)
    } else if let sealer {
      try writeTree(entries, for: sealer, shown)
    }
  }

  /// Groups items with their fields, except for Keytree's own format, in which each item is an entry.
  private func entries(of items: [ExportedItem]) -> [ExportEntry] {
    format is KeytreeExport ? items.map { ExportEntry(main: $0) } : ExportEntry.entries(of: items)
  }

  /// Returns the report of an export of entries.
  private func report(of entries: [ExportEntry]) -> ExportReport {
    guard let format else { return PassExport(entries).report }
    let prepared = PreparedExport(entries, as: format)
    return prepared.report
  }

  /// Decrypts items, on several threads.
  ///
  /// - Throws: `KeyringError` with the first error of decryption, because an export must not lack an item.
  private func items(_ records: [ItemRecord]) throws -> [ExportedItem] {
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

  private func write(
    _ entries: [ExportEntry], as format: some ExportFile, _ shown: Set<ExportReport.Entry>
  ) throws {
    let prepared = PreparedExport(entries, as: format)
    try requireAcceptance(of: prepared.report, shown)
    if let sealer {
      let message = SecretBytes(copying: try sealer.seal(prepared.file))
      try SecretFile(path: target).write(message)
    } else {
      try SecretFile(path: target).write(prepared.file)
    }
    show(prepared.report, isDone: true, besides: shown)
    sayDone()
  }

  private func writeTree(
    _ entries: [ExportEntry], for sealer: MessageEncryptor, _ shown: Set<ExportReport.Entry>
  ) throws {
    let tree = PassExport(entries)
    try requireAcceptance(of: tree.report, shown)
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
    show(tree.report, isDone: true, besides: shown)
    sayDone()
  }

  /// Prints a report: the losses and the counts.
  ///
  /// - Parameters:
  ///   - report: the report.
  ///   - isDone: true if the export was written.
  ///   - shown: the entries that were printed before.
  private func show(_ report: ExportReport, isDone: Bool, besides shown: Set<ExportReport.Entry> = []) {
    let console = call.console
    guard !call.globals.json else {
      for entry in report.entries { console.print(json: entry.json) }
      console.print(json: report.summaryJSON(isApplied: isDone))
      return
    }
    showLosses(of: report.entries.filter { !shown.contains($0) })
    console.print(wrapping: (isDone ? "" : "plan: ") + report.summary)
  }

  private func showLosses(of entries: [ExportReport.Entry]) {
    let report = ExportReport(entries: entries)
    for line in report.lossLines(all: isVerbose) {
      call.console.print(wrapping: call.console.escaping.show(line))
    }
    if !isVerbose, report.hasGroups { call.console.say("`--verbose` lists each of these items.") }
  }

  /// Returns the commands for the formats of other programs that would lose nothing, as far as attributes show that.
  private func formatsWithoutLoss(_ forecast: ExportForecast) -> [String] {
    func isComplete(_ format: some ExportFile) -> Bool {
      let prepared = PreparedExport(forecast.entries, as: format)
      return prepared.report.lossCount == 0
    }
    var commands: [String] = []
    if !(format is BitwardenExport), isComplete(BitwardenExport()) {
      commands.append("export bitwarden")
    }
    if !(format is BitwardenCSVExport), isComplete(BitwardenCSVExport()) {
      commands.append("export csv --format bitwarden")
    }
    return commands
  }

  /// Fails if data would be lost and losses were not accepted, after a report.
  ///
  /// - Parameters:
  ///   - report: the report.
  ///   - commands: the commands for other formats that lose nothing; computed only for a failure.
  /// - Throws: `other`.
  private func requireAcceptance(
    of report: ExportReport, keeping commands: @autoclosure () -> [String] = []
  ) throws {
    guard report.lossCount > 0, !acceptsLoss else { return }
    let count = report.lossCount == 1 ? "1 item" : "\(report.lossCount) items"
    let others = commands().map { "`\($0)`" }.joined(separator: " or ")
    let alternative = others.isEmpty ? "" : ", nor does \(others) if all secrets are text"
    throw CommandError.other(
      .failure,
      message: isDryRun ? "\(count) would lose data" : "nothing was exported: \(count) would lose data",
      hint: "`--accept-loss` exports the items anyway; `export json --format keytree` loses nothing"
        + alternative)
  }

  /// Fails like `requireAcceptance(of:)` if losses were found only after decryption.
  private func requireAcceptance(of report: ExportReport, _ shown: Set<ExportReport.Entry>) throws {
    guard report.lossCount > 0, !acceptsLoss else { return }
    show(report, isDone: false, besides: shown)
    try requireAcceptance(of: report)
  }

  private func sayDone() {
    call.console.say(
      sealer == nil
        ? "\(target) contains these secrets unencrypted: remove it when you no longer need it."
        : "Wrote \(target).")
  }
}
