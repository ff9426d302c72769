internal import Arguments
internal import CommandSupport
internal import FileSystem
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Sync
internal import Terminal

/// A run of the demo in a separate environment.
struct Demonstration {
  private let home: TemporaryHome
  private let console: Console
  private let environment: Environment
  private let isColorful: Bool
  private let program: ProgramEntry

  /// Prepares the environment, which contains no store yet.
  ///
  /// - Parameters:
  ///   - home: the folder with the keys.
  ///   - outer: the real environment, of which only the search path and the terminal are used.
  ///   - console: the console for the explanations and the output of the steps.
  ///   - program: the program that runs the steps.
  init(_ home: TemporaryHome, outer: Environment, console: Console, program: ProgramEntry) {
    self.home = home
    self.program = program
    self.console = console
    isColorful =
      console.outputIsTerminal && outer.bytes("NO_COLOR") == nil && outer.terminalKind != "dumb"
    environment = Environment([
      "HOME": home.folder, "GNUPGHOME": home.home, "XDG_RUNTIME_DIR": home.runtimeFolder,
      "KEYTREE_STORE": home.folder + "/store", "PATH": outer.searchPath,
      "TERM": outer.terminalKind ?? "dumb",
    ])
  }

  /// Runs the whole demo.
  ///
  /// - Parameter isInterrupted: called after each step; returns true if the demo must stop.
  /// - Throws: `other` if a step fails; `cancelled`.
  func callAsFunction(isInterrupted: () -> Bool) throws {
    explain(
      "This is a tour of keytree. It shows each command as you would type it, and its output. Everything happens in "
        + "\(home.folder), which is removed at the end. Your store, your keys and your settings are not touched."
    )
    console.flush()
    _ = try makeKey("Demo (temporary) <demo@example.org>", isInterrupted)
    try show(DemoStep.all, isInterrupted)
    // Without git the store has no history, which `init` has reported.
    if RealPath.of("\(home.folder)/store/.git") != nil { try show(DemoStep.together, isInterrupted) }
    let colleague = try makeKey("Bob (temporary) <bob@example.org>", isInterrupted)
    try show(DemoStep.team(colleague.text), isInterrupted)
    explain(
      "This is the end of the demo. The store is a plain folder, and gpg alone can decrypt each secret in it:"
    )
    for line in [
      "    gpg -d items/internet-password/github.com/alice-smith.gpg", "", "Next steps:", "",
      "    keytree init                            creates your own store",
      "    keytree import pass ~/.password-store   imports a pass store",
      "    keytree import csv FILE                 imports an export of your browser",
      "    keytree help                            lists all commands",
    ] { console.print(line) }
  }

  private func makeKey(_ userID: String, _ isInterrupted: () -> Bool) throws -> Fingerprint {
    do {
      return try home.makeKey(userID)
    } catch {
      if isInterrupted() { throw Self.stopped }
      throw KeyringError.engine(error, nil)
    }
  }

  private func show(_ steps: [DemoStep], _ isInterrupted: () -> Bool) throws {
    for step in steps {
      if isInterrupted() { throw Self.stopped }
      explain(step.words)
      let line: TerminalText =
        isColorful ? "\u{1B}[1m$ \(step.shown)\u{1B}[0m\n" : "$ \(step.shown)\n"
      console.write(line)
      let code = run(step)
      console.print("")
      console.flush()
      // A signal that stops the demo also stops the running gpg.
      if isInterrupted() { throw Self.stopped }
      if console.outputIsClosed { throw TerminalError.outputClosed }
      guard code == .done else {
        throw CommandError.other(
          .failure, message: "the demo failed: this command should have succeeded",
          hint: "`keytree doctor` tests everything that keytree depends on")
      }
    }
  }

  private static var stopped: TerminalError {
    .cancelled(action: "the demo was stopped, and its files were removed")
  }

  /// Prints text in lines that fit, followed by an empty line.
  private func explain(_ words: String) {
    let width = min(console.width, 80)
    var line = ""
    for word in words.split(separator: " ") {
      if !line.isEmpty, line.count + 1 + word.count > width {
        console.print(line)
        line = ""
      }
      line += line.isEmpty ? String(word) : " " + word
    }
    console.print(line)
    console.print("")
  }

  private func run(_ step: DemoStep) -> ExitCode {
    let screen = DemoScreen(console)
    let output = DemoOutput(screen, isTerminal: console.outputIsTerminal)
    // Not a terminal, because redrawn progress bars would break up the text.
    let talk = DemoOutput(screen, isTerminal: false)
    let code = program.run(
      step.arguments.map { Word($0.hasPrefix("~/") ? home.folder + $0.dropFirst() : $0) },
      environment,
      Console(input: DemoInput(step.input), output: output, talk: talk))
    screen.endLine()
    return code
  }
}
