internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Terminal

/// `keytree check`: compares index, files and policy.
enum CheckCommand: Command {
  static let history = HistoryUse.after
  static let repair = OptionDeclaration(
    "repair",
    help: "rebuild the index, restore files from the history, and quarantine stray files; nothing is deleted"
  )
  static let decrypt = OptionDeclaration("decrypt", help: "also decrypt every item")

  static let declaration = CommandDeclaration(
    name: "check", summary: "compare index, files and policy",
    details: [
      "Checks every line of the index, every file and every recipient. Without `--decrypt`, it needs no secret key. "
        + "Each finding is one line: a path in the store, and the problem.",
      "`--repair` prints each repair on one line, and then checks again. It restores missing and "
        + "damaged files from the history if it contains them: those that a member has signed, and the key files that "
        + "the accepted policy names. It moves damaged files, "
        + "and files that do not belong to the store, to a folder `.keytree/quarantine-TIME`, which you may remove. A "
        + "file that a phone app has changed stays as it is; see `keytree help adopt`.",
    ],
    options: [repair, decrypt],
    examples: [
      Example("keytree check", "checks the store and changes nothing"),
      Example("keytree check --repair", "repairs what can be repaired without losing data"),
    ],
    exitCodes: [3, 4, 7, 8, 9, 11, 12, 13, 14])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let (repairs, decrypts) = (call.arguments.has(repair), call.arguments.has(decrypt))
    var done: [Repair] = []
    if repairs {
      done = try call.restoreKeyFiles()
      // Opening the keyring may accept a policy that names other key files.
      _ = try call.openKeyring()
      done += try call.restoreKeyFiles()
    }
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    let progress = WorkProgress(repairs ? "repair" : "check", console: call.console)
    if repairs {
      done += try keyring.finishChanges()
      // Before the index is rebuilt, because the index may name an item whose files are only in the history.
      done += try call.restoreFiles(in: keyring)
    }
    var report: CheckReport
    defer { progress.finish() }
    report =
      repairs
      ? try keyring.repair(decrypts: decrypts) { progress.advance(to: $0, of: $1) }
      : try keyring.check(decrypts: decrypts) { progress.advance(to: $0, of: $1) }
    report.repairs = done + report.repairs
    report.findings = try call.namingChanges(in: report.findings, keyring)
    if call.globals.json {
      printJSON(report, call.console)
    } else {
      print(report, isRepaired: repairs, call.console)
    }
    // Not a finding, because time alone must not change the result of a check. A damaged store may have no readable index.
    if report.isClean { try call.warnOfFutureDates() }
    return report.isClean ? .done : .failedChecks
  }

  private static func print(_ report: CheckReport, isRepaired: Bool, _ console: Console) {
    for repair in report.repairs { console.print(wrapping: repair.line) }
    for finding in report.findings { console.print(wrapping: finding.line) }
    var items = report.items == 1 ? "1 item" : "\(report.items) items"
    let copies = report.conflictCopies
    if copies > 0 { items += copies == 1 ? ", 1 conflict copy" : ", \(copies) conflict copies" }
    let looked = report.decrypted > 0 ? ", \(report.decrypted) decrypted" : ""
    guard !report.isClean else {
      console.say("\(items)\(looked), nothing is wrong.")
      return
    }
    let count = report.findings.count
    console.say("\(items)\(looked), \(count) \(count == 1 ? "finding" : "findings").")
    if report.findings.contains(where: \.kind.isAdoptable) {
      console.say(
        "hint: `keytree adopt` lists the files of other programs, and takes them in or undoes them.")
    }
    if report.findings.allSatisfy(\.kind.isAdoptable) { return }
    if isRepaired {
      console.say(
        "hint: restore the remaining files from git or a backup; `keytree rm` quarantines a damaged item.")
    } else if report.findings.contains(where: \.kind.isForRepair) {
      console.say("hint: `keytree check --repair` repairs what it can; nothing is deleted.")
    }
  }

  private static func printJSON(_ report: CheckReport, _ console: Console) {
    for repair in report.repairs { console.print(json: repair.json) }
    for finding in report.findings { console.print(json: finding.json) }
    console.print(
      json: .object([
        JSONMember("conflictCopies", .integer(Int64(report.conflictCopies))),
        JSONMember("decrypted", .integer(Int64(report.decrypted))),
        JSONMember("findings", .integer(Int64(report.findings.count))),
        JSONMember("items", .integer(Int64(report.items))),
        JSONMember("repairs", .integer(Int64(report.repairs.count))),
      ]))
  }
}
