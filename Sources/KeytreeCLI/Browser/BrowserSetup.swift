internal import Arguments
internal import BrowserHost
internal import CommandSupport
internal import Encoding
internal import Glibc
internal import Personalities
internal import Sync
internal import Terminal

/// Sets up browsers, so that they start keytree for the extension.
struct BrowserSetup {
  private let call: CommandCall
  /// The path of the link that a browser starts.
  private let program: String
  /// The name of the program that the link points to, in the same folder.
  private let target: String

  /// Finds this program.
  ///
  /// - Throws: `other` if its path is not known.
  init(_ call: CommandCall) throws {
    guard let own = Repository.ownProgram, let slash = own.lastIndex(of: "/") else {
      throw CommandError.other(
        .failure, message: "the path of this program is unknown", hint: "mount `/proc`")
    }
    self.init(call, folder: String(own[..<slash]), target: String(own[own.index(after: slash)...]))
  }

  /// Creates the setup for a program.
  ///
  /// - Parameters:
  ///   - call: the command line.
  ///   - folder: the folder of the program.
  ///   - target: the name of the program.
  init(_ call: CommandCall, folder: String, target: String) {
    self.call = call
    program = "\(folder)/\(ProgramName.browserHost.rawValue)"
    self.target = target
  }

  /// Writes the manifests of browsers.
  ///
  /// - Parameters:
  ///   - places: the browsers.
  ///   - more: extensions besides the published ones. They are also added to the settings, because this program checks
  ///     its caller, too.
  ///   - replacing: true to replace the manifest of another program.
  /// - Throws: `other` if another program has a manifest, or if the link cannot be created; `UserFileError`.
  func install(_ places: [BrowserPlace], allowing more: [String], replacing: Bool) throws {
    let configured = try call.configuration().list(.browserOrigins)
    let callers = more.reduce(into: configured) { list, caller in
      if !list.contains(caller) { list.append(caller) }
    }
    for place in places {
      // A file that cannot be read is treated like that of another program.
      let found = try? BrowserManifest(of: place)
      let isOther = found?.program != starter(place).path && place.manifest.exists
      if isOther, !replacing {
        throw CommandError.other(
          .alreadyExists,
          message:
            "\(place.manifest.path) makes \(place.title) start another program: \(found?.program ?? "unreadable")",
          hint: "add `\(BrowserHostCommand.replace.display)` to replace it")
      }
    }
    try makeLink()
    if callers != configured { try allow(callers) }
    for place in places {
      if place.sandbox != nil { try writeWrapper(place) }
      try place.manifest.replace(
        with: manifest(place, callers).bytes(for: place.family), isForAllUsers: place.isForAllUsers)
      call.console.say("Wrote \(place.manifest.path).")
      explain(place)
    }
  }

  /// Removes the manifests of browsers.
  ///
  /// - Throws: `other` if there is none, or if it belongs to another program; `UserFileError`.
  func uninstall(_ places: [BrowserPlace]) throws {
    for place in places {
      let path = place.manifest.path
      guard let found = try BrowserManifest(of: place) else {
        throw CommandError.other(
          .notFound, message: "\(path) does not exist",
          hint: "`keytree browser-host --list` shows what is set up")
      }
      guard found.program == starter(place).path else {
        throw CommandError.other(
          .alreadyExists, message: "\(path) belongs to another program: \(found.program)",
          hint: "remove the file if you do not need that program")
      }
      if place.sandbox != nil { try starter(place).remove() }
      try place.manifest.remove()
      call.console.say("Removed \(path).")
    }
  }

  /// Prints all manifests that exist.
  func list() {
    var table = Table(
      ["browser", "manifest", "program", "allowed"], isTerminal: call.console.outputIsTerminal, cellWidth: nil
    )
    var count = 0
    for place in BrowserPlace.all(call.environment) where place.manifest.exists {
      // A file that cannot be read is listed without a program.
      let found = try? BrowserManifest(of: place)
      let (path, callers) = (found?.program ?? "", found?.callers ?? [])
      count += 1
      if call.globals.json {
        call.console.write([
          JSONMember("browser", .string(place.title)), JSONMember("manifest", .string(place.manifest.path)),
          JSONMember("program", .string(path)), JSONMember("allowed", .array(callers.map { .string($0) })),
          JSONMember("isKeytree", .bool(path == starter(place).path)),
        ])
      } else {
        table.add([place.title, place.manifest.path, path, callers.joined(separator: " ")])
      }
    }
    if !call.globals.json { call.console.write(table) }
    if count == 0 {
      call.console.say("No browser is set up; `keytree browser-host --install BROWSER` does it.")
    }
  }

  /// Prints the manifest of a browser.
  func printManifest(_ place: BrowserPlace) throws {
    call.console.write(
      manifest(place, try call.configuration().list(.browserOrigins)).bytes(for: place.family))
  }

  // MARK: Parts

  /// The program that a browser starts: the link, or for Flatpak a script that leaves the sandbox.
  func starter(_ place: BrowserPlace) -> BrowserFile {
    let path = place.sandbox.map { "\($0)/data/keytree/\(ProgramName.browserHost.rawValue)" }
    return BrowserFile(path: path ?? program, sandbox: place.sandbox)
  }

  private func manifest(_ place: BrowserPlace, _ callers: [String]) -> BrowserManifest {
    BrowserManifest(program: starter(place).path, for: place.family, allowing: callers)
  }

  /// Creates the link that browsers start, next to this program, unless it exists.
  private func makeLink() throws {
    // The link of a package, or a copy of the program, works as well.
    if unsafe access(program, X_OK) == 0 { return }
    guard unsafe symlink(target, program) == 0 else {
      let reason = ErrorReport.systemMessage(errno)
      throw CommandError.other(
        .failure, message: "cannot create the link \(program): \(reason)",
        hint: "`sudo ln -sfn \(target) \(program)` creates it, then run this command again")
    }
    call.console.say("Created the link \(program).")
  }

  private func allow(_ callers: [String]) throws {
    let file = ConfigurationFile(call.environment)
    var configuration = try file.read()
    do {
      try configuration.set(.browserOrigins, to: callers.joined(separator: ","))
    } catch {
      throw call.misuse(.other(error.message))
    }
    try file.write(configuration)
  }

  /// Writes the script that leaves the sandbox of a Flatpak.
  private func writeWrapper(_ place: BrowserPlace) throws {
    let script = "#!/bin/sh\nexec flatpak-spawn --host \(program.shellQuoted) \"$@\"\n"
    try starter(place).replace(with: Array(script.utf8), isExecutable: true)
  }

  /// Says what to do in the browser.
  private func explain(_ place: BrowserPlace) {
    let address =
      place.family == .firefox
      ? "https://addons.mozilla.org/firefox/addon/browserpass-ce/"
      : "https://chrome.google.com/webstore/detail/browserpass/naepdomgkenhinolocfifgehidddafch"
    call.console.say("Install the extension in \(place.title): \(address)")
    guard let sandbox = place.sandbox, let id = sandbox.split(separator: "/").last else { return }
    call.console.say(
      "\(place.title) needs a permission: `flatpak override --user --talk-name=org.freedesktop.Flatpak \(id)`"
    )
    call.console.say(
      "Warning: with this permission the browser, and anyone who takes it over, can run every program as you."
    )
  }
}
