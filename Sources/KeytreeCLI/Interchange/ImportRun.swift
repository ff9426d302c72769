internal import CommandSupport
internal import Interchange
internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Terminal

/// An import of a draft into a store: compares, stores everything in one transaction or nothing, and reports what was
/// done.
struct ImportRun {
  let keyring: Keyring
  /// The group of new items.
  let group: String
  /// True if the user has chosen the group.
  var isGroupGiven = false
  /// True if only the report is requested.
  var isDryRun = false
  /// True if the draft has placeholders instead of secrets. An item of the store that has the name of an entry is then
  /// the entry.
  var isForecast = false
  /// True if losses are accepted.
  var acceptsLoss = false
  /// True if a different secret replaces the one of the store.
  var replaces = false
  /// True if the report lists every entry.
  var isVerbose = false
  let json: Bool
  let console: Console

  /// The number of attempts. Each one compares the source with the store again, because another process has changed it.
  private static let attempts = 3

  /// Runs the import.
  ///
  /// - Returns: the counts of the report.
  /// - Throws: `other` if data would be lost and losses were not accepted, or if other processes keep changing the
  ///   items: then nothing was imported; `KeyringError`.
  func callAsFunction(_ draft: ImportDraft) throws -> ImportReport.Counts {
    let comparison = SecretComparison(keyring)
    // Also after an error, because the next run benefits from what was compared.
    defer { comparison.finish() }
    for _ in 0..<Self.attempts {
      let plan = try self.plan(draft, comparison)
      let isRefused = plan.report.hasLoss && !acceptsLoss
      if !isDryRun, !isRefused, !plan.isEmpty {
        // The report follows the transaction, so that it contains only what was done.
        guard try apply(plan, comparison) else { continue }
      }
      show(plan.report, isRefused: isRefused)
      if isForecast {
        console.say(
          "Nothing was decrypted; `--decrypt` also reports fields, accounts in the entries, and changed secrets."
        )
      }
      if isRefused { throw refusal(plan.report) }
      if isDryRun {
        console.say("Nothing was changed.")
        console.say("hint: the same command without `--dry-run` imports this.")
      }
      return plan.report.counts
    }
    throw CommandError.other(
      .storeBusy, message: "nothing was imported: another process keeps changing the same items",
      hint: "run the command again when the other process has finished")
  }

  private func refusal(_ report: ImportReport) -> CommandError {
    let counts = report.counts
    let entries = counts.lost == 1 ? "1 entry" : "\(counts.lost) entries"
    let passkeys =
      counts.passkeys == 0
      ? "" : ", \(counts.passkeys) of them \(counts.passkeys == 1 ? "a passkey" : "passkeys")"
    return CommandError.other(
      .failure,
      message: (isDryRun ? "" : "nothing was imported: ") + "\(entries) would be lost\(passkeys)",
      hint: "`--accept-loss` imports the rest")
  }

  /// Returns the plan, after a comparison with all items of the store that have one of these names.
  private func plan(_ draft: ImportDraft, _ comparison: SecretComparison) throws -> ImportPlan {
    let lookup = RecordLookup(keyring.index)
    let others = isGroupGiven || keyring.policy.groups.count == 1 ? nil : try otherItems()
    let merge = ImportMerge<any Error>(
      group: group, replaces: replaces,
      existing: { key in try lookup(key) },
      otherGroup: { item in
        guard let (names, similar) = others else { return nil }
        if let other = names.groups(ofItemsLike: item.primaryKey(in: "")).first(where: { $0 != group }) {
          return other
        }
        let new = NewItem(
          itemClass: item.itemClass, attributes: item.attributes, group: group, isLocal: item.isLocal)
        return keyring.items(ofOtherGroupsFor: new, among: similar).first?.group
      },
      hasSecret: { record, secret in try isForecast || comparison.has(record, secret) })
    if isForecast { return try merge.plan(draft) }
    // Several threads compare the items, because the merge itself uses one thread.
    let items = try merge.itemsToCompare(with: draft)
    let progress = WorkProgress("compare", total: items.count, console: console)
    defer { progress.finish() }
    try comparison.prepare(items) { progress.step() }
    return try merge.plan(draft)
  }

  /// Returns the items of the store, and those that others have removed from groups with fewer readers.
  private func otherItems() throws -> (names: ItemsWithName, similar: SimilarItems) {
    try keyring.requireCompleteIndex(for: group)
    var all = Query()
    all.includesFields = true
    let items = try keyring.index.find(all).items + keyring.removedItems(besides: group)
    return (ItemsWithName(items), SimilarItems(items))
  }

  /// Stores everything in one transaction. Returns false if nothing was done because another process has changed one of
  /// the items concurrently.
  private func apply(_ plan: ImportPlan, _ comparison: SecretComparison) throws -> Bool {
    let items = plan.additions.map {
      NewItem(
        itemClass: $0.itemClass, attributes: $0.attributes, group: $0.group ?? group, isLocal: $0.isLocal)
    }
    let secrets = plan.additions.map(\.secret) + plan.replacements.map(\.secret)
    let progress = WorkProgress("encrypt", total: secrets.count, console: console)
    defer { progress.finish() }
    let count = secrets.count + plan.completions.count
    let records = try keyring.importAll(
      items,
      replacing: plan.replacements.map { PlannedUpdate($0.record, AttributeChanges(set: $0.attributes)) },
      updating: plan.completions.map { PlannedUpdate($0.record, AttributeChanges(set: $0.attributes)) },
      subject: "import \(count) \(count == 1 ? "item" : "items")",
      secret: { secrets[$0].copy() }, progress: { progress.step() })
    guard let records else { return false }
    comparison.keep(zip(records, secrets).map { (record: $0, secret: $1) })
    return true
  }

  private func show(_ report: ImportReport, isRefused: Bool) {
    guard !json else {
      for entry in report.entries { console.print(json: entry.json) }
      console.print(json: report.summaryJSON(isApplied: !isDryRun && !isRefused))
      return
    }
    // If the import is refused, only the losses are listed, because nothing was done.
    let lines =
      isRefused && !isDryRun ? report.losses : report.lines(all: isVerbose, isPlan: isDryRun)
    for line in lines { console.print(wrapping: console.escaping.show(line)) }
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
