import Arguments
import CommandSupport
import KeytreeCLI
import TestSupport
import Testing

/// The next file that is opened gets the number of a closed descriptor. If it were a file of the store, output would be
/// written into it.
@Suite("With a standard stream closed", .serialized)
struct ClosedDescriptorTests {
  private let program = BuiltProgramTests()

  @Test("closed standard input is empty, and so is the secret read from it")
  func input() throws {
    let world = try CommandFixture()
    let before = StoreDigest(of: world.store)
    let add = try program.shell("\"$P\" add a.example <&-", world)
    #expect(add.code == 1)
    #expect(add.text.hasPrefix("keytree: cannot store the secret: it is empty\n"))
    #expect(StoreDigest(of: world.store) == before)
  }

  @Test("data that cannot be written is an error", arguments: ["get a.example", "find", "help", "--version"])
  func output(words: String) throws {
    let world = try CommandFixture()
    #expect(world.run("add", "a.example", input: [1]).code == .done)
    let result = try program.shell("\"$P\" \(words) >&-", world)
    #expect(result.code == 1)
    #expect(result.text.hasPrefix("keytree: cannot write standard output: Bad file descriptor\nhint: "))
  }

  @Test("diagnostics are not written into the store", arguments: ["2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
  func talk(closed: String) throws {
    let world = try CommandFixture()
    let input = closed.hasPrefix("<") ? "" : "printf x | "
    let add = try program.shell("\(input)\"$P\" add a.example \(closed)", world)
    #expect(add.code == (input.isEmpty ? 1 : 0))
    #expect(world.run("get", "a.example").text == (input.isEmpty ? "" : "x"))
    #expect(world.run("check").code == .done)
  }
}
