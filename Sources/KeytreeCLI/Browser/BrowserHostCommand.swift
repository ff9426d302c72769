internal import Arguments
internal import BrowserHost
internal import CommandSupport
internal import Personalities
internal import Sync
internal import Terminal

/// `keytree browser-host`: fills in logins in browsers.
enum BrowserHostCommand: Command {
  static let origin = OperandDeclaration(
    "ORIGIN", .bytes, count: .any, help: "the extension that calls, as a browser passes it; for tests")
  static let install = OptionDeclaration(
    "install", .required(ValueDeclaration("BROWSER", .text, completion: .words(BrowserPlace.names))),
    help: "let a browser start keytree: \(BrowserPlace.names.joined(separator: ", ")) or flatpak:ID",
    isRepeatable: true)
  static let uninstall = OptionDeclaration(
    "uninstall", .required(ValueDeclaration("BROWSER", .text, completion: .words(BrowserPlace.names))),
    help: "undo `--install`", isRepeatable: true)
  static let list = OptionDeclaration(
    "list", help: "show for each browser which program it starts, and for whom")
  static let printManifest = OptionDeclaration(
    "print-manifest", .required(ValueDeclaration("BROWSER", .text, completion: .words(BrowserPlace.names))),
    help: "print the file that `--install` writes")
  static let system = OptionDeclaration(
    "system", help: "for all users of this machine, in `/etc` or `/usr/lib`")
  static let allow = OptionDeclaration(
    "allow", .required(ValueDeclaration("ORIGIN", .text)),
    help: "also allow this extension: `chrome-extension://ID/`, or the id of a Firefox add-on",
    isRepeatable: true)
  static let replace = OptionDeclaration("replace", help: "replace the file of another program")

  static let declaration = CommandDeclaration(
    name: "browser-host", summary: "fill in logins in Chrome, Chromium, Brave and Firefox",
    details: [
      "The browser extension Browserpass finds logins by the host of a web page and fills them in. `--install` makes a "
        + "browser start keytree instead of the extension's own program. The browser calls `browserpass-keytree`, a "
        + "link to keytree in the same folder.",
      "The extension receives the names of internet passwords for `https` and `http`, and of generic passwords with a "
        + "`url`. It receives a secret only after you choose a login, one at a time. Notes are never sent, and seeds of "
        + "one-time passwords only if you enable that in the extension.",
      "Settings (`keytree config`): `browser.stores` lists other stores for the extension, `browser.protocols` other "
        + "protocols, `browser.origins` other extensions, each separated by commas. `browser.fetchesPerMinute` limits "
        + "the number of logins (default: 30). `browser.restrictToSite` refuses a login on a page of another site. "
        + "`browser.generic` lets the extension store logins whose names have no host.",
    ],
    operands: [origin], options: [install, uninstall, list, printManifest, system, allow, replace],
    examples: [
      Example("keytree browser-host --install firefox", "sets up Firefox for this user"),
      Example("keytree browser-host --list", "shows what is set up"),
      Example("keytree config browser.restrictToSite true", "fills in a login only on its own site"),
    ],
    exitCodes: [4, 5])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let arguments = call.arguments
    let modes = [install, uninstall, list, printManifest].filter(arguments.has)
    if modes.isEmpty {
      if let stray = [system, allow, replace].first(where: arguments.has) {
        throw call.misuse(.other("\(stray.display) is for \(install.display)"))
      }
      guard arguments.operand(0) != nil else { throw call.misuse(.missingOperand(origin.value.name)) }
      let status = BrowserHostProgram(call).status(of: arguments.operands)
      if status != 0 { throw CommandError.exit(status: status) }
      return .done
    }
    guard modes.count == 1, arguments.operand(0) == nil else {
      throw call.misuse(.other("\(modes[0].display) cannot be combined with another action"))
    }
    let unused: [OptionDeclaration] =
      switch modes[0].name {
      case install.name: []
      case list.name: [system, allow, replace]
      default: [allow, replace]
      }
    if let stray = unused.first(where: arguments.has) {
      throw call.misuse(.other("\(stray.display) is for \(install.display)"))
    }
    let manager = try BrowserSetup(call)
    switch modes[0].name {
    case install.name:
      let more = arguments.values(allow).compactMap(\.text)
      for caller in more { try check(caller, call) }
      try manager.install(try places(install, call), allowing: more, replacing: arguments.has(replace))
    case uninstall.name: try manager.uninstall(try places(uninstall, call))
    case list.name: manager.list()
    default: for place in try places(printManifest, call) { try manager.printManifest(place) }
    }
    return .done
  }

  /// Checks the origin of an extension or the id of an add-on.
  ///
  /// - Throws: a usage error.
  static func check(_ caller: String, _ call: CommandCall) throws {
    guard BrowserCaller.isWellFormed(caller) else {
      throw call.misuse(
        .other(
          "an extension is `chrome-extension://ID/` with 32 letters from a to p, or the id of a Firefox add-on"
        ))
    }
  }

  private static func places(_ option: OptionDeclaration, _ call: CommandCall) throws -> [BrowserPlace] {
    try call.arguments.values(option).compactMap(\.text).map { name in
      guard let place = BrowserPlace(name: name, isSystem: call.arguments.has(system), call.environment)
      else {
        throw call.misuse(
          .notAChoice(
            "BROWSER", choices: BrowserPlace.names + ["flatpak:ID"],
            suggestion: Suggestion.nearest(to: name, among: BrowserPlace.names)))
      }
      return place
    }
  }
}
