internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Terminal

/// `keytree adopt`: takes in files that other programs have put into the store.
enum AdoptCommand: Command {
  static let history = HistoryUse.after
  static let yes = OptionDeclaration("yes", help: "do not ask; needs at least one PATH")
  static let undo = OptionDeclaration(
    "undo", help: "restore the files of changed items from the history, and quarantine new files")
  static let update = OptionDeclaration(
    "update", help: "replace the secret of a login, or a field, that exists already")

  static let declaration = CommandDeclaration(
    name: "adopt", summary: "take in files that other programs have added or changed",
    details: [
      "A phone app for `pass` stores, and `pass` itself, write encrypted files below `items/` that no member has signed. "
        + "No command uses them. This one lists them, asks for each file, decrypts it with your key, and stores the "
        + "content as an item that you sign, encrypted to the members of the group. The first line is the secret, and "
        + "the rest is read as by `import pass`. The file itself is removed in the same step.",
      "If such a program has changed the file of an item, `sync` keeps the signed file, and stores the changed one "
        + "beside it, as `alice (1f2e3d4c).gpg`. After the question, its content becomes the secret of the item. If the "
        + "old secret had one line, further lines become the fields `otp` and `note`; an existing field is replaced after "
        + "another question or with `--update`. `--undo` moves the file to a quarantine folder. A file that was changed "
        + "in this folder replaces the signed one; then `--undo` restores the old file from the history of git.",
      "Anyone who can push to the repository can create such a file with any content; the author of the commit is not "
        + "verified. Adopt only what you or your team have written. If other members of the group will be able to read "
        + "the content, the question names them, and `--yes` needs `--widen`. A copy of another encrypted file, also of "
        + "one in the history, is refused.",
      "Without PATH and without a terminal, or with `--json`, it only lists the files; the exit code is 13 if there are "
        + "any. A script must name the files and give `--yes`. A file that cannot be decrypted or has the name of an "
        + "existing login is reported and left as it is, and the others are adopted.",
    ],
    operands: [
      OperandDeclaration(
        "PATH", .text, count: .any,
        help: "the files, as listed; `items/` and `.gpg` can be omitted; without it, all files")
    ],
    options: [AttributeOptions.group, update, undo, yes, Widening.option],
    examples: [
      Example("keytree adopt", "lists the files and asks for each"),
      Example("keytree adopt web/forum.example/alice --yes", "takes in one file without asking"),
      Example(
        "keytree adopt github.com/alice --undo", "restores the file of an item that a phone has changed"),
    ],
    exitCodes: [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let isNamed = !call.arguments.operands.isEmpty
    if call.arguments.has(yes), !isNamed {
      throw call.misuse(
        .other("`--yes` needs the PATH of each file, because anyone who can push can add files to the list"))
    }
    if call.arguments.has(undo) {
      for option in [update, Widening.option, AttributeOptions.group] where call.arguments.has(option) {
        throw call.misuse(.conflict(option.display, undo.display))
      }
    }
    let keyring = try call.openKeyring()
    let entries = try call.foreignFiles(in: keyring)
    let mayAsk = !call.globals.noInput && call.console.inputIsTerminal
    guard isNamed || mayAsk && !call.globals.json else { return list(entries, call) }
    let chosen = try select(among: entries, call)
    if chosen.isEmpty { return list([], call) }
    try call.requireWritable(keyring)
    let run = AdoptionRun(call: call, keyring: keyring, asks: !call.arguments.has(yes))
    return try call.arguments.has(undo) ? run.undo(chosen) : run.adopt(chosen)
  }

  private static func list(_ entries: [ForeignFileEntry], _ call: CommandCall) -> ExitCode {
    for entry in entries {
      if call.globals.json {
        call.console.print(json: .object(entry.members + [JSONMember("outcome", .string("listed"))]))
      } else {
        call.console.print(wrapping: entry.line)
      }
    }
    if entries.isEmpty {
      call.console.say("No other program has added or changed a file.")
      return .done
    }
    call.console.say("hint: `keytree adopt PATH` takes one in, and `keytree adopt PATH --undo` undoes it.")
    return .failedChecks
  }

  /// Returns the files that the command line names; all without a name.
  private static func select(
    among entries: [ForeignFileEntry], _ call: CommandCall
  ) throws -> [ForeignFileEntry] {
    if call.arguments.operands.isEmpty { return entries }
    // A shell pattern can name all files.
    let byPath = Dictionary(grouping: entries) { $0.file.path }
    var chosen: [ForeignFileEntry] = []
    var paths: Set<String> = []
    for index in call.arguments.operands.indices {
      let name = call.arguments.operand(index)?.text ?? ""
      let found = byPath[name] ?? entries.filter { $0.file.hasName(name) }
      guard let entry = found.first else {
        throw CommandError.other(
          .notFound, message: "no other program has added or changed \(ErrorReport.quote(name))",
          hint: "`keytree adopt --no-input` lists the files")
      }
      if found.count > 1 {
        throw CommandError.other(
          .ambiguous, message: "\(found.count) files are called \(ErrorReport.quote(name))",
          hint: "give one of these paths: " + found.map(\.name).joined(separator: ", "))
      }
      if paths.insert(entry.file.path).inserted { chosen.append(entry) }
    }
    return chosen
  }
}

extension ForeignFile {
  /// Returns true if a person may call the file by a name: its path without `items/` and `.gpg`, or without its class.
  fileprivate func hasName(_ name: String) -> Bool {
    // A list shows one blank instead of several.
    let path = ErrorReport.compact(path)
    let name = ErrorReport.compact(name)
    let short = String(
      path.dropFirst(StoreLayout.items.utf8.count + 1).dropLast(StoreLayout.secretExtension.utf8.count))
    let names =
      [short]
      + ItemClass.allCases.compactMap { itemClass in
        let folder = "\(itemClass.rawValue)/"
        return short.hasPrefix(folder) ? String(short.dropFirst(folder.utf8.count)) : nil
      }
    return names.contains { name == $0 || name == "\($0)\(StoreLayout.secretExtension)" }
      || name == "\(StoreLayout.items)/\(short)" || name == path
  }
}
