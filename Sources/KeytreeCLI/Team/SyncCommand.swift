internal import Arguments
internal import CommandSupport
internal import Encoding
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

  static let keepPolicy = OptionDeclaration(
    "keep-policy",
    help:
      "keep your people and groups, and drop concurrent changes of them on the remote that are not trusted")

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
        + "an admin has signed them, and reapplies your changes on top. If `--reapply` refuses them, for "
        + "example because they were made by a person whom you have removed, `--keep-policy` shows and drops them. "
        + "Machines that have accepted them must then accept your policy with `keytree trust`. Items that are "
        + "encrypted to recipients other than the members of their groups after a merge are re-encrypted.",
      "Until the policy was accepted on this machine, the command only receives what the remote has, such as the policy "
        + "with which an admin has added you. It then reports that the policy must be accepted with `keytree trust`, "
        + "or what to send to an admin.",
      "If a branch has lost commits since the last sync, nothing is merged, because a removal may have been undone. "
        + "The command never prompts without a terminal, or with `--no-input`.",
    ],
    options: [pullOnly, acceptRewritten, reapply, keepPolicy],
    examples: [
      Example("keytree sync", "makes the store and the remote identical"),
      Example("keytree sync --pull-only --no-input", "for a machine that only reads"),
    ],
    exitCodes: [3, 4, 7, 8, 9, 10, 11, 12, 14])

  static func run(_ call: CommandCall) throws -> ExitCode {
    var options = Synchronization.Options()
    options.pullsOnly = call.arguments.has(pullOnly)
    options.acceptsRewritten = call.arguments.has(acceptRewritten)
    for other in [reapply, pullOnly] where call.arguments.has(other) && call.arguments.has(keepPolicy) {
      throw call.misuse(.conflict(other.display, keepPolicy.display))
    }
    options.asksPerson = call.mayAsk
    let keyring: Keyring
    do {
      keyring = try call.openKeyring()
    } catch KeyringError.policyNotTrusted(let reason) where reason.isWithoutPin {
      // A newcomer may have cloned the store before an admin has added them. The remote has the policy that does.
      let fetched = try RemoteReception(call, options).receiveUnaccepted()
      throw try CommandError.notAccepted(reason, fetched: fetched, call)
    }
    defer { call.explain(keyring.engineStatistics) }
    guard let repository = try call.repository() else {
      throw GitError.noRepository(store: try call.storePath())
    }
    try call.setUp(repository)
    var report: Synchronization.Report
    do {
      report = try synchronize(call, keyring, repository, options)
    } catch let error as SyncError
      where error.isAboutPolicies && (call.arguments.has(reapply) || call.arguments.has(keepPolicy))
    {
      let merge = PolicyMerge(call)
      options.policy =
        call.arguments.has(reapply)
        ? .theirs(try merge.acceptRemote(in: repository))
        : .ours(dropping: try merge.dropRemote(in: repository))
      report = try synchronize(call, try call.openKeyring(), repository, options)
    }
    let (changed, problem) = try settlePeople(&report, options, call)
    let current = try call.openKeyring()
    if changed || (report.isUnsent && current.distrust == nil) {
      try call.commitPending()
      // The remote's policy was accepted, and the local changes were reapplied on top of it.
      options.policy = .none
      report.add(try synchronize(call, current, repository, options))
    }
    try SyncReport(report, pullsOnly: options.pullsOnly).print(call)
    if let distrust = try call.openKeyring().distrust { throw KeyringError.policyNotTrusted(distrust) }
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
    var hasReapplied = false
    if call.arguments.has(reapply) {
      let confirmed = if case .theirs(let digest) = options.policy { digest } else { nil as ContentDigest? }
      hasReapplied = try PolicyMerge(call).run(confirmed: confirmed)
      hasChanged = hasReapplied
    }
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
      if try keyring.renewPassRecipients() { hasChanged = true }
      let own = try keyring.ownGroups()
      try warnOfEndedKeys(in: own, keyring, call)
      let (count, waiting) = try keyring.removeUnauthorizedReaders(in: own) {
        progress.advance(to: $0, of: $1)
      }
      report.resealed += count
      // The user has seen the new members when the policy was chosen.
      if options.policy != .none || hasReapplied, !waiting.isEmpty {
        report.resealed += try keyring.reencryptOutdated(in: own) { progress.advance(to: $0, of: $1) }
        return (true, nil)
      }
      for item in waiting {
        call.console.complain(
          "keytree: warning: "
            + (item.lacksReaders
              ? "not every member of its group can read \(call.name(of: item.record))"
                + (item.hasOtherReaders ? ", and a person who is not a member can" : "")
              : "a person who is not a member of its group can read \(call.name(of: item.record))"))
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

  /// Warns once of each group to which nothing can be added, because the key of a member has expired or was revoked.
  private static func warnOfEndedKeys(
    in groups: Set<String>, _ keyring: Keyring, _ call: CommandCall
  ) throws(KeyringError) {
    for key in try keyring.unusableKeys(ofMembersOf: groups) {
      let (state, end): (String, String)
      switch key.problem {
      case .expired: (state, end) = ("has expired", "renewed")
      case .revoked: (state, end) = ("is revoked", "replaced")
      default: continue
      }
      for group in key.groups {
        call.console.complain(
          "keytree: warning: the key of \(keyring.policy.name(of: key.person)) \(state): nothing can be added to group "
            + "\(ErrorReport.quote(group)) until it is \(end)")
      }
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

  /// Adds files to the work tree that a clone has withheld and that the policy allows.
  private static func placeWithheldFiles(_ repository: Repository, _ call: CommandCall) throws {
    let keyring = try call.openKeyring()
    if keyring.distrust != nil { return }
    try call.placeWithheldFiles(
      in: repository, of: try call.store.folder(), AllowedFiles(beside: keyring.policy), isTold: false)
  }
}

extension CommandCall {
  /// True if a program may ask the user on the terminal.
  var mayAsk: Bool { !globals.noInput && console.inputIsTerminal }
}
