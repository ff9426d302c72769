import Arguments
import CommandSupport
import Foundation
import Testing

@testable import KeytreeCLI

@Suite("The manual page of keytree", .serialized)
struct ProgramManualPageTests {
  private static let groff = "/usr/bin/groff"
  private static let man = "/usr/bin/man"
  private static let mandoc = "/usr/bin/mandoc"

  @Test(
    "groff accepts the manual page without a warning, and the page names every command",
    .enabled(if: FileManager.default.isExecutableFile(atPath: groff), "groff is not installed"))
  func accepted() throws {
    // `-c` disables colours, and `-b` and `-u` disable overstriking, so that the output is plain text.
    let (status, text) = try read(Self.groff, ["-ww", "-man", "-Tutf8", "-P-c", "-P-b", "-P-u"])
    #expect(status == 0)
    #expect(!text.contains("warning"), "\(text)")
    for command in Program.declaration.visibleCommands {
      #expect(text.contains(command.summary.prefix(20)), "\(command.name)")
    }
  }
  @Test(
    "man shows the manual page without a warning",
    .enabled(if: FileManager.default.isExecutableFile(atPath: man), "man is not installed"))
  func shown() throws {
    let (status, text) = try read(Self.man, ["--warnings", "-l"])
    #expect(status == 0)
    #expect(!text.contains("warning"), "\(text)")
    #expect(text.contains("keytree otp [OPTIONS] [ITEM]"), "\(text.prefix(500))")
  }

  @Test(
    "mandoc accepts the manual page",
    .enabled(if: FileManager.default.isExecutableFile(atPath: mandoc), "mandoc is not installed"))
  func lint() throws {
    let (_, text) = try read(Self.mandoc, ["-T", "lint", "-W", "warning"])
    // The page has no date, because the date of the build would make builds irreproducible.
    let rest = text.split(separator: "\n").filter { !$0.contains("missing date") }
    #expect(rest.isEmpty, "\(text)")
  }

  /// Runs a program on the page, and returns its status and its complete output.
  private func read(_ program: String, _ arguments: [String]) throws -> (status: Int32, text: String) {
    let folder = try TemporaryFolder()
    let file = folder.path + "/keytree.1"
    try ManualPage(Program.declaration, version: ProgramVersion.number).text()
      .write(toFile: file, atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments + [file]
    process.environment = [
      "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANPAGER": "cat", "MANWIDTH": "100",
    ]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }
}
