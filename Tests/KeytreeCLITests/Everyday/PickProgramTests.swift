import Arguments
import CommandSupport
import Foundation
import TestSupport
import Testing

/// `keytree pick` with real pickers, on a terminal and in a window.
@Suite("Choosing with real programs")
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
  func dmenu() throws {
    let world = try prepare("dmenu")
    let server = Process()
    server.executableURL = URL(fileURLWithPath: "/usr/bin/Xvfb")
    // The server chooses a free number and writes it to standard output.
    server.arguments = ["-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp"]
    let display = Pipe()
    server.standardOutput = display
    server.standardError = FileHandle.nullDevice
    try server.run()
    defer {
      server.terminate()
      server.waitUntilExit()
    }
    let number = String(decoding: display.fileHandleForReading.availableData, as: UTF8.self)
    let variables = world.variables.merging([
      "DISPLAY": ":" + number.trimmingCharacters(in: .whitespacesAndNewlines)
    ]) {
      $1
    }
    let pick = Process()
    pick.executableURL = URL(fileURLWithPath: PseudoTerminal.program)
    pick.arguments = ["pick", "--print"]
    pick.environment = variables
    let output = Pipe()
    pick.standardOutput = output
    pick.standardError = FileHandle.nullDevice
    pick.standardInput = FileHandle.nullDevice
    try pick.run()
    // The keys are lost until the window has taken the keyboard, so they are sent again. Escape would end dmenu.
    for _ in 0..<40 where pick.isRunning {
      Thread.sleep(forTimeInterval: 0.5)
      let keys = Process()
      keys.executableURL = URL(fileURLWithPath: "/usr/bin/xdotool")
      keys.arguments = ["key", "ctrl+u", "h", "u", "b", "space", "b", "o", "b", "Return"]
      keys.environment = variables
      try keys.run()
      keys.waitUntilExit()
    }
    if pick.isRunning { pick.terminate() }
    pick.waitUntilExit()
    #expect(pick.terminationStatus == 0)
    #expect(String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) == "two")
  }
}
