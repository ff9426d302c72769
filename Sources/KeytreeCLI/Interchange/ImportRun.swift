internal import CommandSupport
internal import Interchange
internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Synchronization
internal import Terminal

/// An import of a draft into a store: compares, reports, and adds everything in one transaction or nothing.
struct ImportRun {
  let keyring: Keyring
  let host: HostContext
  let group: String
  /// True if only the report is requested.
  let isDryRun: Bool
  /// True if losses are accepted.
  let acceptsLoss: Bool
  let json: Bool
  let console: Console

  /// Runs the import.
  ///
  /// - Throws: `other` if data would be lost and losses were not accepted: then nothing was imported; `KeyringError`.
  func callAsFunction(_ draft: ImportDraft) throws {
    let plan: ImportPlan = try self.plan(draft)
    let isRefused = plan.report.hasLoss && !acceptsLoss
    var late = 0
    if !isDryRun, !isRefused, !plan.isEmpty {
      late = try apply(plan)
    }
    show(plan.report, isRefused: isRefused)
    if isRefused {
      let lost = plan.report.counts.lost
      let entries = lost == 1 ? "1 entry" : "\(lost) entries"
      let message =
        isDryRun ? "\(entries) would be lost" : "nothing was imported: \(entries) would be lost"
      throw CommandError.other(.failure, message: message, hint: "`--accept-loss` imports the rest")
    }
    if late > 0 {
      throw CommandError.other(
        .failure, message: "\(late) of these items were added by another process at the same time",
        hint: "run the command again: it compares the items, and adds those that are missing")
    }
    if isDryRun { console.say("Nothing was changed.") }
  }

  /// Returns the plan, after a comparison with all items of the store that have one of these names.
  private func plan(_ draft: ImportDraft) throws -> ImportPlan {
    let lookup = RecordLookup(keyring.index)
    let secrets = StoredSecrets(keyring)
    let merge = ImportMerge<any Error>(
      group: group,
      existing: { key in try lookup(key) },
      hasSecret: { record, secret in try secrets.has(record, secret) })
    // Several threads decrypt the items to compare, because the merge itself uses one thread.
    var seen: Set<ItemPlace> = []
    let rivals = try merge.rivals(of: draft).filter { seen.insert($0.place).inserted }
    try secrets.learn(rivals, workers: host.workers, console: console)
    return try merge.plan(draft)
  }

  /// Adds and completes items in one transaction.
  ///
  /// - Returns: the number of items that another process added concurrently. Their secrets were not compared.
  private func apply(_ plan: ImportPlan) throws -> Int {
    let items = plan.additions.map {
      NewItem(
        itemClass: $0.itemClass, attributes: $0.attributes, group: $0.group ?? group, isLocal: $0.isLocal)
    }
    let secrets = plan.additions.map(\.secret)
    let updates = plan.completions.map {
      PlannedUpdate($0.record, AttributeChanges(set: $0.attributes))
    }
    let progress = WorkProgress("encrypt", total: items.count, console: console)
    defer { progress.finish() }
    let count = items.count + updates.count
    let outcomes = try keyring.addAll(
      items, updating: updates, subject: "import \(count) \(count == 1 ? "item" : "items")",
      secret: { secrets[$0].copy() }, progress: { _ in progress.step() })
    return outcomes.count { if case .exists = $0 { true } else { false } }
  }

  private func show(_ report: ImportReport, isRefused: Bool) {
    guard !json else {
      for entry in report.entries { console.print(json: entry.json) }
      console.print(json: report.summaryJSON(isApplied: !isDryRun && !isRefused))
      return
    }
    // If the import is refused, only the losses are listed, because nothing was done.
    let lines =
      isDryRun ? report.lines(all: true, isPlan: true) : isRefused ? report.losses : report.lines(all: false)
    for line in lines { console.print(console.escaping.show(line)) }
  }
}

/// A lookup of stored items by their primary keys, which searches for each key once.
private final class RecordLookup {
  private let index: Index
  private var known: [PrimaryKey: ItemRecord?] = [:]

  init(_ index: Index) { self.index = index }

  func callAsFunction(_ key: PrimaryKey) throws -> ItemRecord? {
    if let found = known[key] { return found }
    let found = try index.find(.item(with: key)).items.first { $0.primaryKey == key }
    known[key] = .some(found)
    return found
  }
}
