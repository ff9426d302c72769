internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Sync
internal import Terminal

/// The report of a synchronization as text and as JSON.
struct SyncReport {
  private let report: Synchronization.Report
  private let pullsOnly: Bool

  /// Creates the text of a report.
  ///
  /// - Parameters:
  ///   - report: the result of the synchronization.
  ///   - pullsOnly: true if nothing was meant to be pushed.
  init(_ report: Synchronization.Report, pullsOnly: Bool) {
    (self.report, self.pullsOnly) = (report, pullsOnly)
  }

  /// Prints the report: as data with `--json`, otherwise as diagnostics; and the warnings in both cases.
  ///
  /// - Throws: the errors of reading the conflicts, after everything else was printed.
  func print(_ call: CommandCall) throws {
    if call.globals.json { call.console.write(json) } else { say(call.console) }
    warn(call)
    if !call.globals.json { try sayConflicts(call) }
  }

  /// Prints the lines that say what was received, sent and merged.
  func say(_ console: Console) {
    for line in lines { console.say(line) }
  }

  /// Prints, for each new conflict copy, which version of the item was kept.
  ///
  /// - Throws: the errors of reading the conflict copies and the items.
  func sayConflicts(_ call: CommandCall) throws {
    if report.copies.isEmpty { return }
    let keyring = try call.openKeyring()
    for conflict in try SyncConflict.of(report.copies, in: keyring) {
      call.console.say(conflict.text(keyring.policy, naming: call.name))
    }
    call.console.say("hint: `keytree resolve` lists the conflicts.")
  }

  /// Prints the warnings about refused, foreign, outdated and deleted items, even with `--quiet`.
  func warn(_ call: CommandCall) {
    for line in warnings(call) { call.console.complain(line) }
  }

  private var lines: [String] {
    var lines: [String] = []
    if report.received > 0 { lines.append("Received \(count(report.received, "change")).") }
    if report.sent > 0 { lines.append("Sent \(count(report.sent, "change")).") }
    if let branch = report.renamedBranch {
      lines.append(
        "The branch on the remote was renamed to \(ErrorReport.quote(branch)), and is used from now on.")
    }
    if report.received == 0, report.sent == 0 {
      let mayDiffer = pullsOnly || report.withheld > 0
      lines.append(mayDiffer ? "The remote has nothing new." : "Already up to date.")
    }
    if report.signed > 0 {
      lines.append("Merged \(count(report.signed, "item")) that both sides changed.")
    }
    if report.signedAgain > 0 {
      lines.append(
        "Signed \(count(report.signedAgain, "record")) again, because their signers have left the groups.")
    }
    if report.signedAgainForKeys > 0 {
      lines.append(
        "Signed \(count(report.signedAgainForKeys, "record")) again, because the keys of their signers are no longer valid."
      )
    }
    if report.resealed > 0 { lines.append("Re-encrypted \(count(report.resealed, "item")).") }
    if report.newCopies > 0 {
      lines.append("Kept \(count(report.newCopies, "conflict copy", "conflict copies")).")
    }
    if report.removedCopies > 0 {
      lines.append(
        "Removed \(count(report.removedCopies, "conflict copy", "conflict copies")) resolved on another machine."
      )
    }
    return lines
  }

  /// The warnings about refused, foreign, outdated and deleted items, each with the committer if it is known.
  private func warnings(_ call: CommandCall) -> [String] {
    func by(_ committer: String?) -> String {
      committer.map { " (committed by \(ErrorReport.quoteCompact($0)))" } ?? ""
    }
    return report.refused.map { change in
      "\(change.warning)\(change.commit.map { " in commit \($0)" } ?? "")\(by(change.committer))"
    }
      + foreignFiles(by)
      + report.olderVersions.map { record in
        "keytree: warning: an older version of \(call.name(of: record)) became a conflict copy"
      }
      + report.deletions.map { deletion in
        (deletion.isReplaced ? "Another item has replaced " : "Deleted ")
          + "\(call.name(of: deletion.record))\(by(deletion.committer))."
      } + abandoned(call) + withheld
  }

  /// The warnings about versions of this clone that others have refused, and where they are.
  private func abandoned(_ call: CommandCall) -> [String] {
    let lines = report.abandoned.map { item in
      "keytree: warning: the version of \(call.name(of: item.record)) in this clone was refused, because no member of "
        + "the group \(item.record.group) has signed it; "
        + (item.isReplaced ? "another version has replaced it" : "it was removed")
    }
    guard let first = report.abandoned.first else { return [] }
    return lines + [
      "hint: the history keeps it: `keytree history \(call.spokenName(of: first.record).commandLine)` shows the commits"
    ]
  }

  /// The warning about changes that are not sent.
  private var withheld: [String] {
    if report.withheld == 0 { return [] }
    let (verb, pronoun) = report.withheld == 1 ? ("was", "it stays") : ("were", "they stay")
    return [
      "keytree: warning: \(count(report.withheld, "change")) \(verb) not sent, because an admin has removed you from "
        + "the keyring; \(pronoun) in this clone",
      "hint: if an admin adds you again, the next `keytree sync` sends what your groups allow",
    ]
  }

  /// The warnings about files of other programs. The first lines name the files; the last one says what to do.
  private func foreignFiles(_ by: (String?) -> String) -> [String] {
    if report.foreignFiles.isEmpty { return [] }
    let named = report.foreignFiles.prefix(CommandCall.problemLimit).map { file in
      let name = ErrorReport.quoteCompact(file.path)
      let change =
        file.item.map { item in
          let own = StoreLayout.itemFile(item, isLocal: false)
          return own == file.path
            ? "changed \(name)" : "changed \(ErrorReport.quoteCompact(own)); the change is kept as \(name)"
        } ?? "added \(name)"
      return "keytree: warning: another program has \(change)\(by(file.committer))"
    }
    let rest = report.foreignFiles.count - named.count
    return named
      + (rest > 0 ? ["keytree: warning: \(count(rest, "more file")) of other programs"] : [])
      + ["hint: `keytree adopt` lists these files, and takes them in or undoes them"]
  }

  private func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
    number == 1 ? "1 \(noun)" : "\(number) \(plural ?? noun + "s")"
  }

  private var json: [JSONMember] {
    [
      JSONMember("abandoned", .array(report.abandoned.map { .string($0.record.reference.text) })),
      JSONMember("deleted", .array(report.deletions.map { .string($0.record.reference.text) })),
      JSONMember("notAdopted", .array(report.foreignFiles.map { .string($0.path) })),
      JSONMember("refused", .array(report.refused.map { .string($0.path) })),
      JSONMember("signed", .integer(Int64(report.signed))),
      JSONMember("signedAgain", .integer(Int64(report.signedAgain + report.signedAgainForKeys))),
      JSONMember("conflictCopies", .integer(Int64(report.newCopies))),
      JSONMember("conflictCopiesRemoved", .integer(Int64(report.removedCopies))),
      JSONMember("conflicts", .array(report.copies.map { .string($0.reference.text) })),
      JSONMember("merged", .bool(report.hasMerged)),
      JSONMember("olderVersions", .array(report.olderVersions.map { .string($0.reference.text) })),
      JSONMember("received", .integer(Int64(report.received))),
      JSONMember("resealed", .integer(Int64(report.resealed))),
      JSONMember("sent", .integer(Int64(report.sent))),
      JSONMember("withheld", .integer(Int64(report.withheld))),
    ]
  }
}
