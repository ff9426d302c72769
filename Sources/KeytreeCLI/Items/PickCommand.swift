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
    "WORD", .bytes, count: .any,
    help: "a part of any attribute; every word must occur; or one name of an item")
  static let printed = OptionDeclaration("print", help: "print the secret instead of copying it")
  static let otp = OptionDeclaration("otp", help: "use the one-time password instead of the secret")
  static let type = OptionDeclaration(
    "type", help: "type it into the active window with wtype or xdotool instead of copying it")

  static let declaration = CommandDeclaration(
    name: "pick", summary: "choose a login and copy its secret",
    details: [
      "Lists the logins that match, and copies the secret of the chosen one to the clipboard, as `get --clip` does. "
        + "With one match, that one is taken. Without a terminal or a picker, the command fails.",
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
    exitCodes: [3, 4, 6, 7, 8, 9, 10, 11, 12, 14])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let exclusive = [printed, type, ClipboardTarget.clip].filter(call.arguments.has)
    if exclusive.count > 1 { throw call.misuse(.conflict(exclusive[0].display, exclusive[1].display)) }
    if call.arguments.has(printed), call.globals.json {
      throw call.misuse(.conflict(printed.display, GlobalOptions.json.display))
    }
    // The target is created first, so that an error costs no passphrase prompt.
    let typist = call.arguments.has(type) ? try Typist(call.environment) : nil
    let isCopied = typist == nil && !call.arguments.has(printed)
    let clipboard = isCopied ? try ClipboardTarget(call, isImplied: true) : nil
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    keyring.warmUp()
    let chosen = try choose(among: try items(call, in: keyring.index), call)
    let delivery = Delivery(call: call, record: chosen, typist: typist, clipboard: clipboard)
    guard call.arguments.has(otp) else {
      let query = Query(predicates: [.path(chosen.path)])
      try delivery.deliver(try keyring.secret(for: chosen, matching: query), as: "the secret")
      return .done
    }
    var seed = try OneTimePasswordItem(call, ofLogin: chosen, in: keyring)
    try seed.code(at: call.environment.clock()).deliver(call) { code in
      try delivery.deliver(code.digits, as: "the code")
      if let seconds = code.seconds {
        call.console.say("Valid for \(seconds) \(seconds == 1 ? "second" : "seconds").")
      }
    }
    return .done
  }

  /// Returns the items that match and have what is wanted: a secret of their own, or a seed. A field without an item has
  /// no secret of a login.
  private static func items(_ call: CommandCall, in index: Index) throws -> [ItemRecord] {
    let words = call.arguments.operands
    var logins = try ItemSearch(call, words: words).run(in: index).logins
    if logins.isEmpty, words.count == 1, words[0].bytes.contains(UInt8(ascii: "/")) {
      // The name of an item is not a part of one attribute.
      let selection = try call.selection(0)
      logins = try call.find(selection, in: index).items.map { try call.login(of: $0, in: index) }
    }
    let hasSeed = call.arguments.has(otp)
    let items = logins.filter { login in
      guard hasSeed else { return login.item.field == nil }
      return ([login.item.field].compactMap { $0 } + login.fieldNames).contains(FieldName.oneTimePassword)
    }.map(\.item)
    guard items.isEmpty else { return items }
    throw CommandError.other(
      .notFound, message: hasSeed ? "no login with a one-time password matches" : "no item matches",
      hint: "`keytree find WORD...` shows what each word matches")
  }

  /// Returns the item that the user chooses, or the only one. A script must name an item exactly, so that without a
  /// terminal or a picker not even the only one is taken.
  private static func choose(among items: [ItemRecord], _ call: CommandCall) throws -> ItemRecord {
    let chooser = ItemChooser(call)
    guard items.count == 1, try chooser.isPossible else { return try chooser.choose(among: items) }
    call.console.complain("Only \(call.name(of: items[0])) matches.")
    return items[0]
  }

  /// The destination of the secret.
  private struct Delivery {
    let call: CommandCall
    let record: ItemRecord
    let typist: Typist?
    let clipboard: ClipboardTarget?

    func deliver(_ secret: borrowing SecretBytes, as name: String) throws {
      let name = "\(name) of \(call.name(of: record))"
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
