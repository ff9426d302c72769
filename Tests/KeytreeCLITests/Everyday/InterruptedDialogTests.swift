import Foundation
import Glibc
import Subprocess
import TestSupport
import Testing

/// Ctrl-C while the agent asks for the passphrase of the key on the terminal of the command.
@Suite(.serialized, .waits) struct InterruptedDialogTests {
  /// A user with a locked key, one item, and a dialog that stays open on the terminal.
  private final class World {
    let folder = ScratchFolder()
    let gnupg: GnuPGHome
    var dialog: String { "\(folder.path)/dialog" }

    var variables: [String: String] {
      [
        "HOME": folder.path, "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
        "GNUPGHOME": gnupg.home, "XDG_RUNTIME_DIR": gnupg.folder + "/run",
        "KEYTREE_STORE": folder.path + "/store",
        "XDG_STATE_HOME": folder.path + "/state", "TERM": "xterm", "LC_ALL": "C.UTF-8",
      ]
    }

    init() throws {
      gnupg = try GnuPGHome(secret: [.locked])
      let answering = try TestSupport.Pinentry.answering()
      try use(answering.program)
      for words in [["init"], ["generate", "github.com/alice", "--quiet"]] {
        let (text, code) = try PseudoTerminal(words, variables: variables).finish()
        try #require(code == 0, "\(text)")
      }
      // It uses the terminal as a pinentry does: it switches off the echo and lines, and reads keys.
      let script = """
        #!/bin/bash
        echo 'OK ready'
        while read -r command rest; do
          case "$command" in
            OPTION) case "$rest" in ttyname=*) tty=${rest#*=} ;; esac; echo OK ;;
            GETINFO) echo "D $$"; echo OK ;;
            GETPIN) stty -echo -icanon <"$tty"; echo 'Passphrase: ' >"$tty"; read -r line <"$tty"
              echo "$line" >'\(dialog).typed'; echo 'ERR 83886179 Operation cancelled <Pinentry>' ;;
            BYE) echo OK; exit 0 ;;
            *) echo OK ;;
          esac
        done

        """
      try ExecutableFile.write(script, to: dialog)
      try use(dialog)
    }

    /// Replaces the pinentry of the agent, which forgets the passphrase.
    func use(_ pinentry: String) throws {
      try gnupg.configureAgent(["pinentry-program \(pinentry)"])
      gnupg.stopAgent()
    }

    /// True if the process of the dialog exists.
    var isDialogShown: Bool {
      get throws {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").contains { name in
          guard Int(name) != nil, let words = FileManager.default.contents(atPath: "/proc/\(name)/cmdline")
          else {
            return false
          }
          return words.split(separator: 0).contains { $0.elementsEqual(dialog.utf8) }
        }
      }
    }
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `a dialog on the terminal ends with the command, and the terminal is as before`(signal: Int32) throws {
    let world = try World()
    let get = try PseudoTerminal(["get", "github.com/alice"], variables: world.variables)
    try get.wait(for: "Passphrase: ")
    #expect(try world.isDialogShown)
    #expect(!get.isInLineMode)
    if signal == SIGINT { get.type("\u{3}") } else { get.end(by: signal) }
    #expect(get.finish().code == -signal)
    #expect(try !world.isDialogShown)
    #expect(get.isInLineMode)
    #expect(!FileManager.default.fileExists(atPath: world.dialog + ".typed"))
  }

  /// Runs a shell in tmux, as a user would, and interrupts the real dialog.
  @Test(
    .enabled(
      if: ["/usr/bin/tmux", "/usr/bin/pinentry-curses"].allSatisfy(FileManager.default.isExecutableFile),
      "tmux or pinentry-curses is not installed"), .slow)
  func `after Ctrl-C in pinentry-curses the shell gets what is typed`() throws {
    let world = try World()
    try world.use("/usr/bin/pinentry-curses")
    let socket = "\(world.folder.path)/tmux"
    // Foundation's `Process` would wait for the server as well, which the first call starts.
    let tmux = { (words: [String]) throws -> [UInt8] in
      var run = ProgramRun(
        "/usr/bin/tmux", ["-S", socket, "-f", "/dev/null"] + words,
        environment: ProcessEnvironment(["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"]))
      run.timeout = .seconds(60)
      let outcome = try run.run()
      try #require(outcome.succeeded, "\(String(decoding: outcome.errors, as: UTF8.self))")
      return outcome.output
    }
    let settings = world.variables.map { "\($0.key)=\($0.value)" }
    _ = try tmux(
      ["new-session", "-d", "-x", "80", "-y", "24", "env"] + settings + ["PS1=ready> ", "sh", "-i"])
    // The server ends with its last session, also if this test fails.
    defer { _ = try? tmux(["kill-server"]) }
    func wait(for text: String) throws {
      var screen = ""
      for _ in 0..<600 {
        screen = String(decoding: try tmux(["capture-pane", "-p"]), as: UTF8.self)
        if screen.contains(text) { return }
        usleep(50_000)
      }
      Issue.record("\(text) is not on the screen: \(screen)")
    }
    try wait(for: "ready>")
    _ = try tmux(["send-keys", "\(PseudoTerminal.program) get github.com/alice", "Enter"])
    try wait(for: "Please enter the passphrase")
    _ = try tmux(["send-keys", "C-c"])
    try wait(for: "ready>")
    _ = try tmux(["send-keys", "echo ended with $? && stty -a", "Enter"])
    try wait(for: "ended with 130")
    try wait(for: " icanon ")
    try wait(for: " echo ")
  }
}
