import Foundation
import KeytreeCLI
import TestSupport
import Testing

@Suite("Libraries that are loaded when a command needs them", .serialized)
struct LoadedLibraryTests {
  /// A command that needs a library, and the package that has the library.
  struct Use: CustomTestStringConvertible, Sendable {
    let library: String
    let package: String
    let arguments: [String]
    var testDescription: String { "\(library): \(arguments[0])" }
  }

  private static func importing(_ file: String) -> [String] {
    ["import", "\(ImportFixtures.folder.path)/imports/\(file)"]
  }

  static let uses = [
    Use(library: "libexpat.so.1", package: "libexpat1", arguments: importing("keepass.xml")),
    Use(library: "libz.so.1", package: "zlib1g", arguments: importing("keepass.xml")),
    Use(library: "libz.so.1", package: "zlib1g", arguments: importing("stored.1pux")),
    Use(library: "libqrencode.so.4", package: "libqrencode4", arguments: ["get", "a.example/x", "--qr"]),
    Use(library: "libqrencode.so.4", package: "libqrencode4", arguments: ["otp", "a.example/x", "--qr"]),
  ]

  /// Makes a store, and puts a file without functions in the place of a library.
  private static func withoutLibrary(_ name: String) throws -> ProcessesProgram {
    let program = try ProcessesProgram.withStore(["a.example/x": "hunter2"])
    try Data().write(to: URL(fileURLWithPath: "\(program.folder)/\(name)"))
    return program
  }

  @Test("without the library, the command says which package has it, and does nothing", arguments: uses)
  func missing(use: Use) throws {
    let program = try Self.withoutLibrary(use.library)
    let before = try program.run(["find"]).text
    let outcome = try program.run(
      ["--explain"] + use.arguments, variables: ["LD_LIBRARY_PATH": program.folder])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("\(use.library) is not installed"))
    #expect(outcome.errors.contains("`sudo apt-get install \(use.package)` installs it"))
    #expect(outcome.output.isEmpty)
    #expect(!outcome.errors.contains("items decrypted: 1"))
    #expect(try program.run(["find"]).text == before)
  }

  @Test("a library without the functions counts as missing")
  func otherLibrary() throws {
    let program = try Self.withoutLibrary("libexpat.so.1")
    let library = try #require(
      ["/lib/x86_64-linux-gnu/libm.so.6", "/lib/aarch64-linux-gnu/libm.so.6", "/lib64/libm.so.6"]
        .first(where: FileManager.default.fileExists))
    let place = "\(program.folder)/libexpat.so.1"
    try FileManager.default.removeItem(atPath: place)
    try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: library)
    let outcome = try program.run(
      Self.importing("keepass.xml"), variables: ["LD_LIBRARY_PATH": program.folder])
    #expect(outcome.status == 1 && outcome.errors.contains("libexpat.so.1 is not installed"))
  }

  @Test("doctor names a library that is missing", arguments: ["libexpat.so.1", "libqrencode.so.4"])
  func doctor(library: String) throws {
    let program = try Self.withoutLibrary(library)
    let note = "\(library) is not installed, so"
    #expect(try program.run(["doctor"], variables: ["LD_LIBRARY_PATH": program.folder]).text.contains(note))
    #expect(try !program.run(["doctor"]).text.contains(note))
  }

  /// Each of these takes time at every start.
  @Test(
    "the program uses neither regular expressions, libdispatch nor Foundation",
    arguments: ["17_StringProcessing", "libdispatch.so", "libFoundation"])
  func start(name: String) throws {
    let program = try Data(contentsOf: URL(fileURLWithPath: ProcessesProgram.path), options: .alwaysMapped)
    #expect(program.range(of: Data(name.utf8)) == nil)
  }

  @Test("only a command that needs the library loads it", arguments: uses.prefix(4))
  func loadedWhenNeeded(use: Use) throws {
    let program = try ProcessesProgram.withStore(["a.example/x": "hunter2"])
    // A real import also runs gpg, which loads zlib.
    let needing =
      use.arguments[0] == "import" ? use.arguments + ["--dry-run", "--accept-loss"] : use.arguments
    for (arguments, loads) in [(needing, true), (["version"], false), (["find"], false)] {
      let outcome = try program.run(arguments, variables: ["LD_DEBUG": "libs"])
      #expect(outcome.status == 0)
      #expect(outcome.errors.contains(use.library) == loads)
    }
  }
}
