import Arguments
import CommandSupport
import KeytreeCLI
import TestSupport
import Testing

/// The number of a closed descriptor goes to the next file that is opened; that must never be one of the store.
@Suite("With a standard stream closed")
struct ClosedDescriptorTests {
  private let program = BuiltProgramTests()

  @Test("standard input is empty, as is the secret taken from it")
  func input() throws {
    let world = try EverydayWorld()
    let before = StoreDigest(of: world.store)
    let add = try program.shell("\"$P\" add a.example <&-", world)
    #expect(add.code == 1)
    #expect(add.text.hasPrefix("keytree: cannot store the secret: it is empty\n"))
    #expect(StoreDigest(of: world.store) == before)
  }

  @Test("data that cannot be written is an error", arguments: ["get a.example", "find", "help", "--version"])
  func output(words: String) throws {
    let world = try EverydayWorld()
    #expect(world.run("add", "a.example", input: [1]).code == .done)
    let result = try program.shell("\"$P\" \(words) >&-", world)
    #expect(result.code == 1)
    #expect(result.text.hasPrefix("keytree: cannot write standard output: Bad file descriptor\nhint: "))
  }

  @Test("nothing that is said gets into the store", arguments: ["2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
  func talk(closed: String) throws {
    let world = try EverydayWorld()
    let input = closed.hasPrefix("<") ? "" : "printf x | "
    let add = try program.shell("\(input)\"$P\" add a.example \(closed)", world)
    #expect(add.code == (input.isEmpty ? 1 : 0))
    #expect(world.run("get", "a.example").text == (input.isEmpty ? "" : "x"))
    #expect(world.run("check").code == .done)
  }
}
