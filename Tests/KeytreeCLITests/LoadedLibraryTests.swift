import Foundation
import KeytreeCLI
import TestSupport
import Testing

@Suite("Libraries that are loaded when a command needs them", .serialized)
struct LoadedLibraryTests {
  /// A library, the package that has it, and a command that needs it.
  struct Library: CustomTestStringConvertible, Sendable {
    let fileName: String
    let package: String
    let arguments: [String]
    var testDescription: String { fileName }
  }

  // A real import also runs gpg, which loads zlib.
  private static func importing(_ file: String) -> [String] {
    ["import", "\(ImportFixtures.folder.path)/imports/\(file)", "--dry-run"]
  }

  static let all = [
    Library(fileName: "libexpat.so.1", package: "libexpat1", arguments: importing("keepass.xml")),
    Library(fileName: "libz.so.1", package: "zlib1g", arguments: importing("stored.1pux")),
    Library(
      fileName: "libqrencode.so.4", package: "libqrencode4", arguments: ["get", "a.example/x", "--qr"]),
  ]

  @Test("without the library, the command says which package has it, and changes nothing", arguments: all)
  func missing(library: Library) throws {
    let program = try ProcessesProgram.withStore(["a.example/x": "hunter2"])
    let before = try program.run(["find"]).text
    // A file that is no library takes the place of the one that is installed.
    try Data().write(to: URL(fileURLWithPath: "\(program.folder)/\(library.fileName)"))
    let outcome = try program.run(library.arguments, variables: ["LD_LIBRARY_PATH": program.folder])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("\(library.fileName) is not installed"))
    #expect(outcome.errors.contains("`sudo apt-get install \(library.package)` installs it"))
    #expect(outcome.output.isEmpty)
    #expect(try program.run(["find"]).text == before)
  }

  @Test("only a command that needs the library loads it", arguments: all)
  func loadedWhenNeeded(library: Library) throws {
    let program = try ProcessesProgram.withStore(["a.example/x": "hunter2"])
    for (arguments, loads) in [(library.arguments, true), (["version"], false), (["find"], false)] {
      let outcome = try program.run(arguments, variables: ["LD_DEBUG": "libs"])
      #expect(outcome.errors.contains(library.fileName) == loads)
    }
  }
}
