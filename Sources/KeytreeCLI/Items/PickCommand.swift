internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Terminal

/// `keytree pick`: lets the user choose a login and copies its secret.
enum PickCommand: Command {
  static let history = HistoryUse.none
  static let word = OperandDeclaration(
    "WORD", .bytes, count: .any, help: "a part of any attribute; every word must occur")
  static let printed = OptionDeclaration("print", help: "print the secret instead of copying it")
  static let otp = OptionDeclaration("otp", help: "use the one-time password instead of the secret")
  static let type = OptionDeclaration(
    "type", help: "type it into the active window with wtype or xdotool instead of copying it")

  static let declaration = CommandDeclaration(
    name: "pick", summary: "choose a login and copy its secret",
    details: [
      "Lists the logins that match, and copies the secret of the chosen one to the clipboard, as `get --clip` does. "
        + "With one match, that one is taken.",
      "The list is shown by the program in the setting `picker`, for example `fzf`, `rofi -dmenu`, `wofi --dmenu`, "
        + "`bemenu` or `dmenu`; without the setting, on the terminal. The program receives names and labels, never a "
        + "secret.",
      "`--type` passes the secret to `wtype` on Wayland and to `xdotool` on X11 through a pipe. It types text of one "
        + "line only, because a line feed would submit a form.",
    ],
    operands: [word], options: [printed, otp, type] + ClipboardTarget.options + AttributeOptions.all,
    examples: [
      Example("keytree pick", "chooses among all logins"),
      Example("keytree pick github --otp", "copies the one-time password of a login at github"),
      Example("keytree pick --type", "types the secret into the active window"),
    ],
    exitCodes: [3, 4, 7, 8, 9])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let exclusive = [printed, type, ClipboardTarget.clip].filter(call.arguments.has)
    if exclusive.count > 1 { throw call.misuse(.conflict(exclusive[0].display, exclusive[1].display)) }
    // The target is created first, so that an error costs no passphrase prompt.
    let typist = call.arguments.has(type) ? try Typist(call.environment) : nil
    let isCopied = typist == nil && !call.arguments.has(printed)
    let clipboard = isCopied ? try ClipboardTarget(call, isImplied: true) : nil
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    keyring.warmUp()
    let found = try ItemSearch(call, words: call.arguments.operands).run(in: keyring.index)
    let items = found.logins.filter { login in
      !call.arguments.has(otp) || login.fieldNames.contains(FieldName.oneTimePassword)
    }.map(\.item)
    guard !items.isEmpty else {
      throw CommandError.other(
        .notFound,
        message: call.arguments.has(otp) ? "no login with a one-time password matches" : "no item matches",
        hint: "`keytree find WORD...` shows what each word matches")
    }
    let chosen = items.count == 1 ? items[0] : try ItemChooser(call).choose(among: items)
    if items.count == 1 { call.console.say("Only \(chosen.reference.text) matches.") }
    let delivery = Delivery(call: call, record: chosen, typist: typist, clipboard: clipboard)
    guard call.arguments.has(otp) else {
      let query = Query(predicates: [.path(chosen.path)])
      try delivery.deliver(try keyring.secret(for: chosen, matching: query), as: "the secret")
      return .done
    }
    var seed = try OneTimePasswordItem(call, ofLogin: chosen, in: keyring)
    let code = try seed.code(at: call.environment.clock())
    // A counter has changed the store.
    if code.counter != nil { try call.commitPending() }
    try delivery.deliver(code.digits, as: "the code")
    if let seconds = code.seconds {
      call.console.say("Valid for \(seconds) \(seconds == 1 ? "second" : "seconds").")
    }
    return .done
  }

  /// The destination of the secret.
  private struct Delivery {
    let call: CommandCall
    let record: ItemRecord
    let typist: Typist?
    let clipboard: ClipboardTarget?

    func deliver(_ secret: borrowing SecretBytes, as name: String) throws {
      let name = "\(name) of \(record.reference.text)"
      if let typist {
        try typist.type(secret)
        call.console.say("Typed \(name).")
      } else if let clipboard {
        try clipboard.deliver(secret, as: name)
      } else {
        try call.show(secret, of: record)
      }
    }
  }
}
