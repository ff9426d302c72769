internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import PasswordAudit
internal import Terminal

/// `keytree audit`: finds passwords that should be changed.
enum AuditCommand: Command {
  static let item = OperandDeclaration(
    "ITEM", .bytes, count: .optional, completion: .item, help: "only items with this name (default: all)")
  static let old = OptionDeclaration(
    "old", .required(ValueDeclaration("DAYS", .integer(1...36_500))),
    help: "also report secrets that have not changed for DAYS days, for example 365")
  static let pwned = OptionDeclaration(
    "pwned", .required(ValueDeclaration("FILE", .text, completion: .file)),
    help: "also search this list of breached passwords: a file or a folder, as Have I Been Pwned publishes it"
  )
  static let fail = OptionDeclaration(
    "fail", help: "exit with code 13 if something was found, or the strength could not be estimated; for CI")

  static let declaration = CommandDeclaration(
    name: "audit", summary: "find reused, weak, old and breached passwords",
    details: [
      "Decrypts the passwords of the groups that you are a member of, and prints names, never a secret or a digest. "
        + "Items of other groups are listed as not examined. The fields `otp` and `note`, certificates and keys are "
        + "not passwords and are skipped; other fields are examined like passwords.",
      "`reused`: several items have the same secret. `weak` and `very weak`: libzxcvbn estimates fewer than 65 or 40 "
        + "bits; account, server, service and label count as known words, and the first "
        + "\(StrengthEstimator.examinedBytes) bytes are examined. It needs the Debian package `libzxcvbn0`; without "
        + "it, the other findings are reported. Secrets with several lines are only compared with each other.",
      "`unencrypted`: the protocol or an address of the item is http, ftp, telnet or similar. `expired-key` and "
        + "`unusable-key`: the key of a member of a group cannot be used. `old` and `breached` are reported only with "
        + "their options, because a good password need not be changed regularly, and the list is large.",
      "`--pwned` reads lines `SHA1:COUNT` or `SHA1` that are sorted by digest, or a folder with a file for each range "
        + "of 5 digits. The lines of a file may have only the first digits, at least 10; a match is then reported as "
        + "`prefix`. Nothing is sent over the network. A line feed at the end of a secret is ignored.",
    ],
    operands: [item], options: [old, pwned, fail] + AttributeOptions.all,
    examples: [
      Example("keytree audit", "examines all passwords"),
      Example(
        "keytree audit --server bank.example --old 365", "examines one server, and the age of its passwords"),
      Example("keytree audit --pwned pwnedpasswords.txt --fail", "fails if a password is bad, for CI"),
    ],
    exitCodes: [3, 4, 7, 8, 9, 13])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let breaches = try call.arguments.text(pwned).map { try BreachedPasswords(path: $0) }
    let selection = try selection(call)
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    keyring.warmUp()
    let (records, isDamaged) = try records(selection, call, in: keyring.index)
    let estimator = StrengthEstimator()
    if estimator == nil {
      call.console.complain(
        "keytree: warning: weak passwords cannot be found: \(StrengthEstimator.library) is not installed")
      call.console.complain("hint: `sudo apt-get install \(StrengthEstimator.package)` installs it")
    }
    let audit = Audit(
      keyring: keyring, host: try call.host(), estimator: estimator, breaches: breaches,
      days: call.arguments.integer(old))
    let report = try audit.run(records, console: call.console)
    if call.globals.json {
      for line in report.json { call.console.print(json: line) }
    } else {
      report.print(to: call.console)
      for line in report.summary { call.console.say(line) }
    }
    if call.arguments.has(fail), !report.findings.isEmpty || !report.knowsStrength { return .failedChecks }
    return isDamaged || report.hasUnreadableItem ? .damaged : .done
  }

  private static func selection(_ call: CommandCall) throws -> ItemSelection? {
    let name = try call.itemName(0)
    let given = try call.givenAttributes()
    return name == nil && given.isEmpty ? nil : try call.selection(name, of: given)
  }

  /// Returns the passwords to examine, sorted by their paths, and true if the index is damaged.
  private static func records(
    _ selection: ItemSelection?, _ call: CommandCall, in index: Index
  ) throws -> (records: [ItemRecord], isDamaged: Bool) {
    let matches: Matches
    if let selection {
      matches = try call.find(selection.ofFields, in: index)
    } else {
      var all = Query()
      all.includesFields = true
      matches = try index.find(all)
      call.tell(matches.problems)
    }
    call.explain(matches.statistics)
    if matches.items.isEmpty, matches.isIndexLost { throw CommandError.noMatchButDamage("the index") }
    if matches.items.isEmpty, let selection {
      let name = call.nameForMessages(0)
      throw matches.problems.isEmpty
        ? try call.noMatch(selection, name, in: index) : CommandError.noMatchButDamage(name)
    }
    let passwords = matches.items.filter { record in
      (record.itemClass == .internetPassword || record.itemClass == .genericPassword)
        && record.field != FieldName.oneTimePassword && record.field != FieldName.note
    }
    // The path is computed on each access.
    let sorted = passwords.map { ($0.path, $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    return (sorted, !matches.problems.isEmpty)
  }
}
