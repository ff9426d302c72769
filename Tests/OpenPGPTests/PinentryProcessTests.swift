import Foundation
import TestSupport
import Testing

@testable import OpenPGP

@Suite struct PinentryProcessTests {
  /// Starts programs, each of which starts the next one, and the last one a dialog. Then tries to end the dialog.
  ///
  /// - Parameter names: The names of the programs.
  /// - Returns: True if the dialog was interrupted; false if it waited until its input ended.
  private func interruptsDialog(of names: [String]) throws -> Bool {
    let folder = ScratchFolder()
    let paths = names.map { "\(folder.path)/\($0)" } + ["\(folder.path)/dialog"]
    for (program, next) in zip(paths, paths.dropFirst()) {
      try ExecutableFile.write("#!/bin/sh\n'\(next)'\nexit $?\n", to: program)
    }
    let dialog = "#!/bin/sh\ntrap 'exit 3' INT\necho $$\nread -r line\nexit 4\n"
    try ExecutableFile.write(dialog, to: paths[names.count])
    let program = Process()
    // A shell cannot handle a signal that was ignored when it started.
    program.executableURL = URL(filePath: "/usr/bin/env")
    program.arguments = ["--default-signal=INT", paths[0]]
    let (input, output) = (Pipe(), Pipe())
    (program.standardInput, program.standardOutput) = (input, output)
    try program.run()
    do {
      // The dialog ends with its input, also if this test fails.
      defer { try? input.fileHandleForWriting.close() }
      let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      let number = try #require(pid_t(line.trimmingCharacters(in: .newlines)))
      PinentryProcess(launchStatus: "\(number) curses:1.2.1")?.end()
    }
    program.waitUntilExit()
    #expect([3, 4].contains(program.terminationStatus))
    return program.terminationStatus == 3
  }

  @Test(arguments: [["gpg-agent"], ["gpg-agent", "my) S 1 (pinentry"]])
  func `a dialog of the agent is ended`(names: [String]) throws {
    #expect(try interruptsDialog(of: names))
  }

  /// A process id of the remote machine can be that of any process here.
  @Test(arguments: ["sshd", "gpg-agentx", "gpg-agent) S 1"])
  func `a process of another program is not ended`(name: String) throws {
    let isInterrupted = try interruptsDialog(of: [name])
    #expect(!isInterrupted)
  }

  @Test(arguments: ["", "curses", "0 curses", "1", "-5 curses", "99999999999999999999"])
  func `arguments without the id of a process are refused`(arguments: String) {
    #expect(PinentryProcess(launchStatus: arguments) == nil)
  }
}
