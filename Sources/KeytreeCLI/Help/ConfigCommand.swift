internal import Arguments
internal import BrowserHost
internal import CommandSupport
internal import Encoding
internal import Terminal

/// `keytree config`: shows and changes the user's settings.
enum ConfigCommand: Command {
  static let name = OperandDeclaration(
    "NAME", .text, count: .optional, help: "the setting; without it, all are shown with their defaults")
  static let value = OperandDeclaration("VALUE", .text, count: .optional, help: "the new value")
  static let unset = OptionDeclaration("unset", help: "remove the setting")

  static let declaration = CommandDeclaration(
    name: "config", summary: "show or change your settings",
    details: [
      "The settings are in `$XDG_CONFIG_HOME/keytree/config.json` (default: `~/.config/keytree/config.json`). A store "
        + "never contains settings. The file is not used if another user can write to it.",
      "`stores.NAME` is the folder of a named store, for `--store NAME` and `KEYTREE_STORE`. `defaultStore` is the name "
        + "or the folder of the store for all other commands. `clipboardSeconds` is the time for `--clip`. "
        + "`generate.length` and `generate.charset` are the defaults of `keytree generate`. `picker` is the program "
        + "with which you choose an item, for example `fzf` or `rofi -dmenu`.",
      "`browser.stores`, `browser.protocols`, `browser.origins`, `browser.fetchesPerMinute`, `browser.restrictToSite` and "
        + "`browser.generic` are settings of `keytree browser-host`; its help explains them.",
    ],
    operands: [name, value], options: [unset],
    examples: [
      Example("keytree config stores.team ~/team/secrets", "names a store"),
      Example("keytree --store team find", "uses it"),
      Example("keytree config picker fzf", "chooses items with fzf from then on"),
      Example("keytree config", "shows all settings, their values and their defaults"),
    ],
    exitCodes: [4])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let file = ConfigurationFile(call.environment)
    let isChange = call.arguments.operand(1) != nil || call.arguments.has(unset)
    var configuration = try file.read(isChecked: !isChange)
    guard let text = call.arguments.operand(0)?.text else {
      if call.arguments.has(unset) { throw call.misuse(.missingOperand(name.value.name)) }
      return list(configuration, call)
    }
    guard let setting = Configuration.Setting(name: text) else {
      let known = Configuration.Setting.fixed.map(\.name) + ["stores.NAME"]
      throw call.misuse(
        .notAChoice(name.value.name, choices: known, suggestion: Suggestion.nearest(to: text, among: known)))
    }
    let new = call.arguments.operand(1)?.text
    if call.arguments.has(unset) {
      if new != nil { throw call.misuse(.other("\(unset.display) takes no value")) }
      guard configuration.has(setting) else { throw notSet(setting) }
    } else if new == nil {
      guard let value = configuration.text(setting) else { throw notSet(setting) }
      if call.globals.json { return list(configuration, call, only: setting) }
      call.console.print(value)
      return .done
    }
    do {
      try check(new, of: setting, call)
      try configuration.set(setting, to: new)
      try configuration.check()
    } catch let problem as Configuration.Problem {
      throw call.misuse(.other(problem.message))
    }
    try file.write(configuration)
    call.console.say(new == nil ? "Removed `\(setting.name)`." : "Set `\(setting.name)`.")
    return .done
  }

  private static func notSet(_ setting: Configuration.Setting) -> CommandError {
    .other(
      .notFound, message: "`\(setting.name)` is not set",
      hint: "`keytree config \(setting.name) VALUE` sets it")
  }

  /// Checks a value that another part of the program interprets.
  ///
  /// - Throws: a usage error.
  private static func check(_ text: String?, of setting: Configuration.Setting, _ call: CommandCall) throws {
    guard let text else { return }
    switch setting {
    case .generateCharset: _ = try GenerateCommand.charset(text, call)
    case .picker:
      guard ProgramCommand.split(text)?.isEmpty == false else {
        throw call.misuse(.other("`picker` has a quotation mark that is not closed"))
      }
      guard ProgramCommand(text, searchPath: call.environment.searchPath) != nil else {
        throw CommandError.other(
          .failure, message: "the picker \(ErrorReport.quote(text)) is not installed",
          hint: "it is searched in the absolute folders of `PATH` that no other user can change")
      }
    case .browserOrigins:
      var wanted = Configuration()
      try wanted.set(setting, to: text)
      for caller in wanted.list(setting) { try BrowserHostCommand.check(caller, call) }
    case .store, .defaultStore, .clipboardSeconds, .generateLength, .browserStores, .browserProtocols,
      .browserFetchesPerMinute, .browserRestrictToSite, .browserGeneric:
      break
    }
  }

  private static func list(
    _ configuration: Configuration, _ call: CommandCall, only setting: Configuration.Setting? = nil
  ) -> ExitCode {
    let settings = configuration.settings
    if call.globals.json {
      call.console.write(
        settings.filter { setting == nil || $0 == setting }.map { setting in
          let number = configuration.number(setting).map { JSONValue.integer(Int64($0)) }
          return JSONMember(setting.name, number ?? .string(configuration.text(setting) ?? ""))
        })
      return .done
    }
    var table = Table(
      ["setting", "value", "default"], isTerminal: call.console.outputIsTerminal, cellWidth: nil)
    let stores = settings.filter { !Configuration.Setting.fixed.contains($0) }
    for setting in Configuration.Setting.fixed + stores {
      table.add([setting.name, configuration.text(setting) ?? "", defaultText(setting)])
    }
    call.console.write(table)
    if stores.isEmpty {
      call.console.say("hint: `keytree config stores.NAME FOLDER` names a store for `--store NAME`.")
    }
    return .done
  }

  /// Returns the value that applies without a setting, as text.
  private static func defaultText(_ setting: Configuration.Setting) -> String {
    switch setting {
    case .store: ""
    case .defaultStore: "$XDG_DATA_HOME/keytree"
    case .clipboardSeconds: String(ClipboardTarget.defaultSeconds)
    case .generateLength: String(SecretGenerator.defaultLength)
    case .generateCharset: "all"
    case .picker: "a list on the terminal"
    case .browserStores, .browserProtocols, .browserOrigins: "none"
    case .browserFetchesPerMinute: String(BrowserSettings().fetchesPerMinute)
    case .browserRestrictToSite, .browserGeneric: "false"
    }
  }
}
