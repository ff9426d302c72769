internal import Arguments
internal import CommandSupport
internal import Encoding
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
      "The format is detected from the content: a folder is a pass store. Name the format if it cannot be detected, or "
        + "for a file that has the name of a format.",
      "An import stores everything in one step, or nothing. If you run it again, it adds nothing. A login that is "
        + "already in the store with another secret is reported and not changed, unless you give `--update`. So is a "
        + "login that is in another group, unless you give `--group`.",
      "If some data would be lost, nothing is imported and the exit code is 1, unless you give `--accept-loss`.",
    ],
    operands: [
      OperandDeclaration(
        "FILE|DIR", .text, count: .optional, completion: .file,
        help:
          "the file or the pass store, `-` for standard input (default with `--dry-run`: `~/.password-store`)"
      )
    ],
    options: common,
    subcommands: [pass, csv, bitwarden, enpass, onePassword, keePass, netrc, keychainDump, json],
    examples: [
      Example(
        "keytree import ~/.password-store --dry-run", "reports what would be imported, and changes nothing"),
      Example(
        "keytree import passwords.csv --update", "imports a file, and replaces the secrets that have changed"),
    ],
    exitCodes: codes)

  static func run(_ call: CommandCall) throws -> ExitCode {
    let source = try source(call)
    let keyring = try call.openKeyring()
    let givenGroup = try call.givenAttributes().group
    let group = givenGroup ?? GroupName.default
    guard keyring.policy.groups[group] != nil else { throw KeyringError.unknownGroup(group) }
    if let distrust = keyring.distrust { throw KeyringError.policyNotTrusted(distrust) }
    if source != "-", let known = UnsupportedFile(name: source) {
      throw CommandError(SourceError.unsupported(known), file: source)
    }
    let passStore = isPassStore(source, call) ? try PassReading(path: source) : nil
    let isForecast = passStore != nil && call.arguments.has(dryRun) && !call.arguments.has(decrypt)
    let run = ImportRun(
      keyring: keyring, group: group, isGroupGiven: givenGroup != nil, isDryRun: call.arguments.has(dryRun),
      isForecast: isForecast, acceptsLoss: call.arguments.has(acceptLoss),
      replaces: call.arguments.has(update),
      isVerbose: call.arguments.has(verbose), json: call.globals.json, console: call.console)
    let reader = passStore != nil && !isForecast ? try MessageDecryptor(host: call.host()) : nil
    defer { call.explain(keyring.engineStatistics + (reader?.statistics ?? EngineStatistics())) }
    var draft =
      if let passStore, let reader {
        try passStore.draft(reader, console: call.console)
      } else if let passStore {
        try passStore.forecast(besides: items(of: group, in: keyring), OwnKeys(host: call.host()))
      } else {
        try fileDraft(source, call)
      }
    draft.assignGroups(given: givenGroup, known: Set(keyring.policy.groups.keys))
    if call.arguments.has(local) { draft.keepLocal() }
    let counts = try run(draft)
    let isComplete = counts.different == 0 && counts.inOtherGroup == 0
    if passStore == nil, source != "-", !run.isDryRun {
      call.console.say(
        "\(source) still contains these secrets unencrypted: check the import, then remove the file."
          + (isComplete ? "" : " It also contains secrets that are not in the store."))
    }
    if !run.isDryRun, counts.added > 0 {
      call.console.say(
        "hint: `keytree find` lists the items; `keytree audit` finds weak and reused passwords.")
    }
    // As `add`, with and without `--update`.
    guard counts.inOtherGroup > 0 else { return .done }
    return run.replaces ? .ambiguous : .alreadyExists
  }

  /// Returns the source: the operand or, for a dry run, the user's store of pass.
  ///
  /// - Throws: a usage error if there is none, or for `--decrypt` without `--dry-run`.
  private static func source(_ call: CommandCall) throws -> String {
    if call.arguments.has(decrypt), !call.arguments.has(dryRun) {
      throw call.misuse(.other("`--decrypt` is for `--dry-run`; an import always decrypts"))
    }
    if let source = call.arguments.operand(0)?.text { return source }
    guard let passStore = call.environment.passStore else { throw call.misuse(.missingOperand("FILE|DIR")) }
    guard call.arguments.has(dryRun) else {
      throw call.misuse(
        .advised(
          "FILE|DIR is missing",
          hint: "`keytree import \(passStore.shellWord) --dry-run` shows what your pass store has"))
    }
    call.console.say("Reading \(passStore).")
    return passStore
  }

  private static func items(of group: String, in keyring: Keyring) throws -> [ItemRecord] {
    var all = Query()
    all.includesFields = true
    return try keyring.index.find(all).items.filter { $0.group == group }
  }

  /// Returns true for a store of pass: by the name of the format, or because it is a folder.
  private static func isPassStore(_ source: String, _ call: CommandCall) -> Bool {
    guard call.path.last?.name == declaration.name else { return call.path.last?.name == pass.name }
    return source != "-" && UserFile.isFolder(source)
  }

  private static func fileDraft(_ source: String, _ call: CommandCall) throws -> ImportDraft {
    let mapping = try mapping(call)
    let given = call.path.last.flatMap { SourceFormat(rawValue: $0.name) }
    if given == .onePassword, source == "-" { throw archiveFromInput(call) }
    let isText = given != nil && given != .onePassword
    let bytes = try read(source, limit: isText ? CSVReader.sizeLimit : ArchiveReader.sizeLimit, call)
    do {
      if let known = UnsupportedFile(bytes) { throw SourceError.unsupported(known) }
      let found = if let given { given } else { try SourceFormat.detect(bytes) }
      guard let format = found else { throw unknownFormat(source, call) }
      if format == .onePassword, source == "-" { throw archiveFromInput(call) }
      if format != .onePassword, bytes.count > CSVReader.sizeLimit {
        throw SourceError.tooLarge(limit: CSVReader.sizeLimit)
      }
      return try plan(bytes, in: format, mapping: mapping, call)
    } catch let error as SourceError {
      throw CommandError(error, file: source)
    } catch let error as CSVError {
      throw CommandError(error, file: source)
    }
  }

  private static func plan(
    _ bytes: consuming SecretBytes, in format: SourceFormat, mapping: CSVMapping, _ call: CommandCall
  ) throws -> ImportDraft {
    let showsUnknown = call.arguments.has(unknownAsAttributes)
    switch format {
    case .bitwarden: return try BitwardenImport.plan(bytes, showsUnknown: showsUnknown)
    case .onePassword: return try OnePasswordImport.plan(bytes, showsUnknown: showsUnknown)
    case .keePass: return try KeePassImport.plan(bytes, showsUnknown: showsUnknown)
    case .enpass: return try EnpassImport.plan(bytes, showsUnknown: showsUnknown)
    case .csv: return try table(bytes, mapping, call)
    case .netrc: return try NetrcImport.plan(bytes)
    case .keychainDump: return try KeychainDumpImport.plan(bytes)
    case .keytree: return try KeytreeImport.plan(bytes)
    }
  }

  /// Plans a CSV file, in the encoding that the user has given.
  private static func table(
    _ bytes: consuming SecretBytes, _ mapping: CSVMapping, _ call: CommandCall
  ) throws -> ImportDraft {
    let showsUnknown = call.arguments.has(unknownAsAttributes)
    if let given = call.arguments.text(encoding), let encoding = TextEncoding(rawValue: given) {
      guard let text = encoding.decode(bytes) else { throw CSVError.notInEncoding(encoding) }
      return try CSVImport.plan(text, mapping: mapping, showsUnknown: showsUnknown).draft
    }
    let draft = try CSVImport.plan(bytes, mapping: mapping, showsUnknown: showsUnknown).draft
    if !bytes.isUTF8 {
      call.console.say(
        "The file is not UTF-8 and is imported byte for byte; `keytree import csv FILE --encoding windows-1252` "
          + "converts it.")
    }
    return draft
  }

  private static func archiveFromInput(_ call: CommandCall) -> UsageError {
    call.misuse(.other("a 1PUX archive is read from a file, not from standard input"))
  }

  private static func unknownFormat(_ source: String, _ call: CommandCall) -> UsageError {
    let name = source == "-" ? "standard input" : source
    let formats = declaration.subcommands.map { "`\($0.name)`" }.joined(separator: ", ")
    return call.misuse(
      .advised(
        "cannot detect the format of \(name)",
        hint:
          "name the format, as in `keytree import csv FILE --map COLUMN=secret`; the formats are \(formats)"))
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
  mutating func assignGroups(given: String?, known: Set<String>) {
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
