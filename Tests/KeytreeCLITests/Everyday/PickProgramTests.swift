import Arguments
import CommandSupport
import Foundation
import Subprocess
import TestSupport
import Testing

/// `keytree pick` with real pickers, on a terminal and in a window.
@Suite("Choosing with real programs", .serialized, .waits)
struct PickProgramTests {
  private static func isInstalled(_ programs: String...) -> Bool {
    programs.allSatisfy { FileManager.default.isExecutableFile(atPath: "/usr/bin/" + $0) }
  }

  private func prepare(_ picker: String) throws -> CommandFixture {
    let world = try CommandFixture()
    for (name, secret) in [
      ("github.com/alice", "one"), ("github.com/bob", "two"), ("mail.example/bob", "three"),
    ] {
      #expect(world.run("add", Word(name), input: Array(secret.utf8)).code == .done)
    }
    #expect(world.run("config", "picker", Word(picker)).code == .done)
    return world
  }

  @Test("fzf on a terminal", .enabled(if: isInstalled("fzf"), "fzf is not installed"))
  func fzf() throws {
    let world = try prepare("fzf --no-color")
    let terminal = try PseudoTerminal(["pick", "--print"], variables: world.variables)
    try terminal.wait(for: "mail.example/bob")
    terminal.type("hub bob")
    try terminal.wait(for: "1/3")
    terminal.type("\r")
    let (text, code) = terminal.finish()
    #expect(code == 0 && text.hasSuffix("two\r\n"))
    let cancelled = try PseudoTerminal(["pick", "--print"], variables: world.variables)
    try cancelled.wait(for: "mail.example/bob")
    cancelled.type("\u{3}")
    #expect(cancelled.finish().1 == ExitCode.cancelled.rawValue)
  }

  @Test(
    "dmenu in a window",
    .enabled(if: isInstalled("dmenu", "Xvfb", "xdotool"), "dmenu, Xvfb or xdotool is not installed"))
  func dmenu() throws { try chooseInWindow("dmenu") }

  @Test(
    "rofi in a window",
    .enabled(if: isInstalled("rofi", "Xvfb", "xdotool"), "rofi, Xvfb or xdotool is not installed"))
  func rofi() throws { try chooseInWindow("rofi -dmenu") }

  private func chooseInWindow(_ picker: String) throws {
    let world = try prepare(picker)
    // The X server chooses a free number and writes it. Keys are lost until the window has taken the keyboard, so they
    // are sent again.
    let script = """
      cd "$1"
      Xvfb -displayfd 3 -screen 0 800x600x24 -nolisten tcp 3> display & server=$!
      while ! [ -s display ]; do sleep 0.1; done
      export DISPLAY=:$(cat display)
      ("$2" pick --print > secret; echo $? > status) &
      while ! [ -s status ]; do
        sleep 0.5
        timeout 5 xdotool key ctrl+u h u b space b o b Return
      done
      kill $server
      wait
      cat status secret
      """
    let entries = world.variables.map { Array("\($0.key)=\($0.value)".utf8) }
    var run = ProgramRun(
      "/bin/sh", ["-c", script, "sh", world.folder.path, PseudoTerminal.program],
      environment: ProcessEnvironment(entries: entries, locale: nil))
    run.timeout = .seconds(120)
    let outcome = try run.run()
    #expect(outcome.succeeded && outcome.output == Array("0\ntwo".utf8))
  }
}
