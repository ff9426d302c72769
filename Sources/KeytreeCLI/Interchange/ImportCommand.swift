internal import Arguments
internal import CommandSupport
internal import Interchange
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Secrets
internal import Terminal

/// `keytree import`: imports secrets from other programs.
enum ImportCommand: Command {
  static let history = HistoryUse.after

  static let declaration = CommandDeclaration(
    name: "import", summary: "import secrets from other programs",
    details: [
      "An import adds everything in one step, or nothing. If you run it again, it adds nothing. If another secret "
        + "already has a name, the new item gets a different name; no item in the store is replaced.",
      "If some data would be lost, nothing is imported and the exit code is 1, unless you give `--accept-loss`.",
    ],
    subcommands: [pass, csv, bitwarden, onePassword, keePass, netrc, keychainDump, json])

  static func run(_ call: CommandCall) throws -> ExitCode {
    guard let source = call.arguments.operand(0)?.text else { throw call.misuse(.missingOperand("FILE")) }
    let host = try call.host()
    let keyring = try call.openKeyring()
    let givenGroup = try call.givenAttributes().group
    let group = givenGroup ?? GroupName.default
    guard keyring.policy.groups[group] != nil else { throw KeyringError.unknownGroup(group) }
    if let distrust = keyring.distrust { throw KeyringError.policyNotTrusted(distrust) }
    let run = ImportRun(
      keyring: keyring, host: host, group: group, isDryRun: call.arguments.has(dryRun),
      acceptsLoss: call.arguments.has(acceptLoss), json: call.globals.json, console: call.console)
    let reading = call.path.last?.name == pass.name ? try PassReading(path: source, host: host) : nil
    defer { call.explain(keyring.engineStatistics + (reading?.statistics ?? EngineStatistics())) }
    var draft =
      if let reading { try reading.draft(path: source, console: call.console) } else {
        try fileDraft(source, call)
      }
    draft.settleGroups(given: givenGroup, known: Set(keyring.policy.groups.keys))
    if call.arguments.has(local) { draft.keepLocal() }
    try run(draft)
    if reading == nil, source != "-", !run.isDryRun {
      call.console.say(
        "\(source) still contains these secrets unencrypted: check the import, then remove the file.")
    }
    return .done
  }

  private static func fileDraft(_ source: String, _ call: CommandCall) throws -> ImportDraft {
    let mapping = try mapping(call)
    let isArchive = call.path.last?.name == onePassword.name
    let limit = isArchive ? ArchiveReader.sizeLimit : CSVReader.sizeLimit
    if isArchive, source == "-" {
      throw call.misuse(.other("a 1PUX archive is read from a file, not from standard input"))
    }
    let bytes = try read(source, limit: limit, call)
    let showsUnknown = call.arguments.has(unknownAsAttributes)
    do {
      return switch call.path.last?.name {
      case bitwarden.name: try BitwardenImport.plan(bytes, showsUnknown: showsUnknown)
      case onePassword.name: try OnePasswordImport.plan(bytes, showsUnknown: showsUnknown)
      case keePass.name: try KeePassImport.plan(bytes, showsUnknown: showsUnknown)
      case netrc.name: try NetrcImport.plan(bytes)
      case keychainDump.name: try KeychainDumpImport.plan(bytes)
      case json.name: try KeytreeImport.plan(bytes)
      default: try CSVImport.plan(bytes, mapping: mapping, showsUnknown: showsUnknown).draft
      }
    } catch let error as SourceError {
      throw CommandError(error, file: source)
    } catch let error as CSVError {
      throw CommandError(error, file: source)
    }
  }

  private static func mapping(_ call: CommandCall) throws -> CSVMapping {
    var mapping = CSVMapping()
    for word in call.arguments.values(map) {
      guard let text = word.text, mapping.add(text) else {
        throw call.misuse(
          .other("`--map` takes COLUMN=NAME, where NAME is `secret`, `note`, `otp`, `url` or an attribute"))
      }
    }
    return mapping
  }

  private static func read(_ source: String, limit: Int, _ call: CommandCall) throws -> SecretBytes {
    guard source == "-" else { return try UserFile.read(source, limit: limit) }
    guard !call.console.inputIsTerminal else {
      throw call.misuse(.other("`-` is standard input, which is a terminal: give a file, or a pipe"))
    }
    do {
      return try call.console.readAll(limit: limit)
    } catch TerminalError.secretTooLong(let limit) {
      throw CommandError(SourceError.tooLarge(limit: limit), file: source)
    }
  }
}

extension ImportDraft {
  /// Keeps all items on this machine.
  mutating func keepLocal() {
    change { $0.isLocal = true }
  }

  /// Sets the group of each item.
  ///
  /// - Parameters:
  ///   - given: the group that the user has chosen: all items go there.
  ///   - known: the groups of the keyring; an item of any other group goes to the group of the import.
  mutating func settleGroups(given: String?, known: Set<String>) {
    change { item in
      guard let group = item.group else { return }
      if given != nil {
        item.group = nil
      } else if !known.contains(group) {
        item.group = nil
        item.remarks.append(.groupMissing(group))
      }
    }
  }

  private mutating func change(_ body: (inout PlannedItem) -> Void) {
    for login in logins.indices {
      for item in logins[login].items.indices { body(&logins[login].items[item]) }
    }
  }
}
