import Foundation
import Glibc
import Testing

/// The demo as seen from outside: it must work on any machine and leave nothing behind.
@Suite("The demo", .serialized)
struct DemoTests {
  private let environment = [
    "HOME": "/nonexistent", "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
  ]

  private func folder(in text: String) throws -> String {
    String(try #require(text.firstMatch(of: #/\/tmp\/keytree-demo-[A-Za-z0-9]{6}/#)).0)
  }

  private func processes(of folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { name in
      // A process can end while the list is being read.
      guard Int(name) != nil, let line = try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(name)/cmdline"))
      else { return false }
      return String(decoding: line, as: UTF8.self).contains(folder)
    }
  }

  @Test(
    "the demo shows each command in order, writes no escape sequences to a pipe, and leaves nothing behind")
  func shows() throws {
    let pipe = Pipe()
    let process = try BuiltProgram.start(["demo"], environment: environment, output: pipe)
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(!text.contains("\u{1B}"))
    var rest = Substring(text)
    for command in [
      "init", "add", "generate", "add", "find --explain", "find", "get", "set", "mv", "get", "rm", "check",
      "clone", "set", "--store ~/other set", "--store ~/other sync", "--store ~/other resolve",
    ] {
      let found = try #require(rest.range(of: "keytree \(command)"), "\(command) is missing")
      rest = rest[found.upperBound...]
    }
    #expect(text.contains("\n    correct horse\n"))
    #expect(text.contains("    2 items, 2 decrypted, nothing is wrong."))
    #expect(text.contains("    Kept 1 conflict copy.\n"))
    let folder = try folder(in: text)
    #expect(!FileManager.default.fileExists(atPath: folder))
    #expect(try processes(of: folder).isEmpty)
  }

  @Test("the demo removes its files when a signal stops it", arguments: [SIGINT, SIGTERM, SIGHUP])
  func stops(signal: Int32) throws {
    let pipe = Pipe()
    let process = try BuiltProgram.start(["demo"], environment: environment, output: pipe)
    // The first lines are printed once the folder exists; the key is still being generated.
    let text = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
    kill(process.processIdentifier, signal)
    let rest = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 3)
    let folder = try folder(in: text + rest)
    #expect(!(text + rest).contains("This is the end of the demo"))
    #expect(!FileManager.default.fileExists(atPath: folder))
    #expect(try processes(of: folder).isEmpty)
  }

  @Test("the demo removes its files when the reader of its output goes away")
  func reader() throws {
    let pipe = Pipe()
    let process = try BuiltProgram.start(["demo"], environment: environment, output: pipe)
    let folder = try folder(in: String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self))
    try pipe.fileHandleForReading.close()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit)
    #expect(!FileManager.default.fileExists(atPath: folder))
  }

  @Test("the demo tells the user what to do when gpg is missing")
  func programs() throws {
    let errors = Pipe()
    let process = try BuiltProgram.start(
      ["demo"], environment: ["PATH": "/nonexistent"], output: FileHandle.nullDevice, errors: errors)
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 1)
    #expect(text.contains("cannot find GnuPG") && text.contains("hint: "))
  }
}
