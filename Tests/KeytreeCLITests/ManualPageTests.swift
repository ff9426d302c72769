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

  private static let pages = ManualPage(Program.declaration, version: ProgramVersion.number)
  // `-c` disables colours, and `-b` and `-u` disable overstriking, so that the output is plain text.
  private static let plain = ["-ww", "-man", "-Tutf8", "-P-c", "-P-b", "-P-u"]

  @Test(
    "groff accepts the manual page without a warning, and the page begins with the tasks and names every command",
    .enabled(if: FileManager.default.isExecutableFile(atPath: groff), "groff is not installed"))
  func accepted() throws {
    let (status, text) = try read(Self.groff, Self.plain)
    #expect(status == 0)
    #expect(!text.contains("warning"), "\(text)")
    for command in Program.declaration.visibleCommands {
      #expect(text.contains("keytree-\(command.name)(1)"), "\(command.name)")
    }
    let tasks = try #require(text.range(of: "TASKS")?.lowerBound)
    let options = try #require(text.range(of: "OPTIONS OF EVERY COMMAND")?.lowerBound)
    let task = try #require(text.range(of: "keytree add github.com/alice")?.lowerBound)
    #expect(tasks < task && task < options)
  }

  @Test(
    "groff accepts the page of each command, which has its options and examples",
    .enabled(if: FileManager.default.isExecutableFile(atPath: groff), "groff is not installed"))
  func acceptedPages() throws {
    for command in Program.declaration.visibleCommands {
      let (status, text) = try read(Self.groff, Self.plain, page: Self.pages.text(of: command))
      #expect(status == 0)
      #expect(!text.contains("warning"), "\(text)")
      #expect(text.contains("keytree-\(command.name)"))
      for option in command.options {
        #expect(text.contains(option.display), "\(command.name) \(option.name)")
      }
      for example in command.examples {
        #expect(text.contains("$ " + example.line.prefix(40)), "\(command.name): \(example.line)")
      }
    }
  }

  @Test(
    "man shows the manual page without a warning",
    .enabled(if: FileManager.default.isExecutableFile(atPath: man), "man is not installed"))
  func shown() throws {
    let (status, text) = try read(Self.man, ["--warnings", "-l"])
    #expect(status == 0)
    #expect(!text.contains("warning"), "\(text)")
    #expect(text.contains("keytree otp github.com/alice"), "\(text.prefix(500))")
  }

  @Test(
    "mandoc accepts the manual page",
    .enabled(if: FileManager.default.isExecutableFile(atPath: mandoc), "mandoc is not installed"))
  func lint() throws {
    for page in [Self.pages.text()] + Program.declaration.visibleCommands.map(Self.pages.text) {
      let (_, text) = try read(Self.mandoc, ["-T", "lint", "-W", "warning"], page: page)
      // The page has no date, because the date of the build would make builds irreproducible.
      let rest = text.split(separator: "\n").filter { !$0.contains("missing date") }
      #expect(rest.isEmpty, "\(text)")
    }
  }

  /// Runs a program on a page, by default that of keytree, and returns its status and its complete output.
  private func read(
    _ program: String, _ arguments: [String], page: String = pages.text()
  ) throws -> (status: Int32, text: String) {
    let folder = try TemporaryFolder()
    let file = folder.path + "/keytree.1"
    try page.write(toFile: file, atomically: true, encoding: .utf8)
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
