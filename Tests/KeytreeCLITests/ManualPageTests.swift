import Arguments
import Foundation
import Testing

@testable import KeytreeCLI

@Suite("The manual page of keytree")
struct ProgramManualPageTests {
  private static let groff = "/usr/bin/groff"

  @Test(
    "is accepted by groff without a warning and names every command",
    .enabled(if: FileManager.default.isExecutableFile(atPath: groff), "groff is not installed"))
  func accepted() throws {
    let folder = try TemporaryFolder()
    let file = folder.path + "/keytree.1"
    try ManualPage(Program.declaration, version: Program.version).text()
      .write(toFile: file, atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Self.groff)
    // Without overstriking the text is plain: `-c` keeps grotty from colours, `-b`, `-u` from the old ways.
    process.arguments = ["-ww", "-man", "-Tutf8", "-P-c", "-P-b", "-P-u", file]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(!text.contains("warning"), "\(text)")
    for command in Program.declaration.visibleCommands {
      #expect(text.contains(command.summary.prefix(20)), "\(command.name)")
    }
  }
}
