internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Sync
internal import Terminal

/// `keytree sync`: synchronizes the store with another repository.
enum SyncCommand: Command {
  static let pullOnly = OptionDeclaration("pull-only", help: "fetch and merge, but do not push")
  static let acceptRewritten = OptionDeclaration(
    "accept-rewritten", help: "merge a branch that has lost commits since the last sync")

  static let reapply = OptionDeclaration(
    "reapply",
    help: "accept the people and groups of the remote, and reapply your changes of them on top")

  static let history = HistoryUse.before

  static let declaration = CommandDeclaration(
    name: "sync", summary: "commit, fetch, merge and push",
    details: [
      "Commits pending changes, fetches the upstream of your branch, merges it item by item, and pushes the result. "
        + "If another user has pushed in between, it starts again. Files never conflict: if both sides changed a "
        + "secret, the later one becomes the current one, and the other one is kept as a conflict copy, which "
        + "`keytree status` reports and `keytree resolve` resolves.",
      "Nothing is decrypted. A change that no member of the item's group has signed is refused by name and reverted "
        + "for everyone; all other changes are merged.",
      "If people or groups were changed on both sides, nothing is merged; `--reapply` accepts those of the remote, if "
        + "an admin has signed them, and reapplies your changes on top. Items that are encrypted to recipients other "
        + "than the members of their groups after a merge are re-encrypted.",
      "If a branch has lost commits since the last sync, nothing is merged, because a removal may have been undone. "
        + "The command never prompts without a terminal, or with `--no-input`.",
    ],
    options: [pullOnly, acceptRewritten, reapply],
    examples: [
      Example("keytree sync", "makes the store and the remote identical"),
      Example("keytree sync --pull-only --no-input", "for a machine that only reads"),
    ],
    exitCodes: [3, 4, 7, 8, 9, 10, 11, 12])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    guard let repository = try call.repository() else {
      throw GitError.noRepository(store: try call.storePath())
    }
    try call.setUp(repository)
    var options = Synchronization.Options()
    options.pullsOnly = call.arguments.has(pullOnly)
    options.acceptsRewritten = call.arguments.has(acceptRewritten)
    options.takesTheirPolicy = call.arguments.has(reapply)
    options.asksPerson = call.mayAsk
    var report = try synchronize(call, keyring, repository, options)
    let (changed, problem) = try settlePeople(&report, options, call)
    if changed {
      try call.commitPending()
      let second = try synchronize(call, try call.openKeyring(), repository, options)
      report.add(second)
    }
    if call.globals.json {
      call.console.write(json(report))
    } else {
      for line in lines(report, options) { call.console.say(line) }
    }
    for line in warnings(report) { call.console.complain(line) }
    try checkPolicy(report, call)
    try placeWithheldFiles(repository, call)
    return problem ?? .done
  }

  /// Reapplies our changes of people if `--reapply` was given, and re-encrypts items that a merge left encrypted to
  /// other recipients than the members of their group.
  ///
  /// - Returns: true if there are new changes to send, and the exit code if items could not be re-encrypted. That error
  ///   has already been reported.
  private static func settlePeople(
    _ report: inout Synchronization.Report, _ options: Synchronization.Options, _ call: CommandCall
  ) throws -> (hasChanged: Bool, problem: ExitCode?) {
    var hasChanged = false
    if call.arguments.has(reapply) { hasChanged = try PolicyMerge(call).run() }
    // With `--pull-only` nothing is re-encrypted, because nothing is sent.
    if options.pullsOnly { return (hasChanged, nil) }
    let keyring = try call.openKeyring()
    // A store of one person has no other recipients. Work that was interrupted the last time is completed now.
    guard keyring.policy.people.count > 1 else { return (hasChanged, nil) }
    guard keyring.distrust == nil, keyring.policy.isMember(keyring.ownFingerprint) else {
      return (hasChanged, nil)
    }
    let progress = WorkProgress("encrypt", console: call.console)
    do {
      defer { progress.finish() }
      let own = Set(keyring.policy.groups(of: keyring.ownFingerprint))
      let (count, waiting) = try keyring.removeUnauthorizedReaders(in: own) {
        progress.advance(to: $0, of: $1)
      }
      report.resealed += count
      // With `--reapply` the user has already seen the new members.
      if call.arguments.has(reapply), !waiting.isEmpty {
        report.resealed += try keyring.reencryptOutdated(in: own) { progress.advance(to: $0, of: $1) }
        return (true, nil)
      }
      for record in waiting {
        call.console.complain(
          "keytree: warning: not every member of its group can read \(record.reference.text)"
        )
      }
      if !waiting.isEmpty {
        call.console.complain(
          "hint: `keytree who ITEM` shows the recipients; `keytree group reseal` encrypts the items to all members"
        )
      }
      return (hasChanged || count > 0, nil)
    } catch {
      // The merge is complete and is sent. Another person who can decrypt these items, or this user later, can
      // re-encrypt them.
      let report = ErrorReport(error)
      for line in report.lines { call.console.complain(line) }
      call.console.complain(
        "hint: `keytree group reseal` re-encrypts items whose recipients are not the members of their groups")
      return (hasChanged, report.exitCode)
    }
  }

  private static func synchronize(
    _ call: CommandCall, _ keyring: Keyring, _ repository: Repository, _ options: Synchronization.Options
  ) throws -> Synchronization.Report {
    let (tree, host) = (try call.store.folder(), try call.host())
    // The merge may bring a new policy.
    defer { call.store.closeKeyring() }
    return try Synchronization(
      keyring, tree: tree, repository: repository, timeout: host.lockTimeout, options: options,
      author: { Keyring.ownName(in: tree, host: host) }
    ).run()
  }

  /// Throws if the merge brought a policy that has not been accepted on this machine.
  private static func checkPolicy(
    _ report: Synchronization.Report, _ call: CommandCall
  ) throws {
    guard report.hasNewPolicy else { return }
    let keyring = try call.openKeyring()
    guard let distrust = keyring.distrust else { return }
    throw KeyringError.policyNotTrusted(distrust)
  }

  private static func lines(
    _ report: Synchronization.Report, _ options: Synchronization.Options
  ) -> [String] {
    var lines: [String] = []
    if report.received > 0 { lines.append("Received \(count(report.received, "change")).") }
    if report.sent > 0 { lines.append("Sent \(count(report.sent, "change")).") }
    if lines.isEmpty {
      lines.append(
        options.pullsOnly ? "The remote has nothing new." : "Already up to date.")
    }
    if report.signed > 0 {
      lines.append("Merged \(count(report.signed, "item")) that both sides changed.")
    }
    if report.resealed > 0 { lines.append("Re-encrypted \(count(report.resealed, "item")).") }
    if report.newCopies > 0 {
      lines.append("Kept \(count(report.newCopies, "conflict copy", "conflict copies")).")
      lines.append("hint: `keytree resolve` lists the conflicts.")
    }
    if report.removedCopies > 0 {
      lines.append(
        "Removed \(count(report.removedCopies, "conflict copy", "conflict copies")) resolved on another machine."
      )
    }
    return lines
  }

  /// Returns warnings about refused, outdated and deleted items, each with the committer if it is known.
  private static func warnings(_ report: Synchronization.Report) -> [String] {
    func by(_ committer: String?) -> String {
      committer.map { " (committed by \($0))" } ?? ""
    }
    return report.refused.map { "\($0.warning)\(by($0.committer))" }
      + report.olderVersions.map { record in
        "keytree: warning: received an older version of \(record.reference.text), and kept it as a conflict copy"
      }
      + report.deletions.map { deletion in
        "Deleted \(deletion.record.reference.text)\(by(deletion.committer))."
      }
  }

  /// Adds files to the work tree that a clone has withheld and that the policy allows.
  private static func placeWithheldFiles(_ repository: Repository, _ call: CommandCall) throws {
    let keyring = try call.openKeyring()
    if keyring.distrust != nil { return }
    try call.placeWithheldFiles(
      in: repository, of: try call.store.folder(), AllowedFiles(beside: keyring.policy), isTold: false)
  }

  private static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
    number == 1 ? "1 \(noun)" : "\(number) \(plural ?? noun + "s")"
  }

  private static func json(_ report: Synchronization.Report) -> [JSONMember] {
    [
      JSONMember("deleted", .array(report.deletions.map { .string($0.record.reference.text) })),
      JSONMember("refused", .array(report.refused.map { .string($0.path) })),
      JSONMember("signed", .integer(Int64(report.signed))),
      JSONMember("conflictCopies", .integer(Int64(report.newCopies))),
      JSONMember("conflictCopiesRemoved", .integer(Int64(report.removedCopies))),
      JSONMember("merged", .bool(report.hasMerged)),
      JSONMember("olderVersions", .array(report.olderVersions.map { .string($0.reference.text) })),
      JSONMember("received", .integer(Int64(report.received))),
      JSONMember("resealed", .integer(Int64(report.resealed))),
      JSONMember("sent", .integer(Int64(report.sent))),
    ]
  }
}

extension CommandCall {
  /// True if a program may ask the user on the terminal.
  var mayAsk: Bool { !globals.noInput && console.inputIsTerminal }
}
