import Arguments
import CommandSupport
import Foundation
import KeyringModel
import KeytreeCLI
import Terminal
import TestSupport
import Testing

/// Tests `init` with several usable keys on a terminal.
@Suite(.serialized) struct InitChoiceTests {
  private let world: MaintenanceFixture

  init() throws { world = try MaintenanceFixture([.alice, .bob, .expired]) }

  private func create(_ answers: [String], isTerminal: Bool = true) -> (ExitCode, String) {
    let memory = MemoryConsole(answers, isTerminal: isTerminal)
    let code = Program.run(["init"], environment: Environment(world.variables), console: memory.console)
    return (code, memory.talk.text)
  }

  @Test func `the user chooses one of several keys on a terminal`() {
    let (code, talk) = create(["3", "x", "2"])
    #expect(code == .done, "\(talk)")
    #expect(talk.contains("1  ") && talk.contains("2  ") && !talk.contains("3  "), "\(talk)")
    #expect(talk.components(separatedBy: "Give a number from 1 to 2.").count == 3, "\(talk)")
    #expect(talk.contains("Its owner is \(GnuPGKey.bob.fingerprint.text)"), "\(talk)")
    #expect(talk.contains("`keytree add github.com/alice` stores a password"), "\(talk)")
  }

  @Test(arguments: [[""], ["0", "-1", "9"], []])
  func `no store is created without a valid answer`(answers: [String]) {
    let (code, talk) = create(answers)
    #expect(code == .cancelled, "\(talk)")
    #expect(!FileManager.default.fileExists(atPath: world.store))
  }

  @Test func `a script must give the key`() {
    #expect(create(["2"], isTerminal: false).0 == .ambiguous)
  }
}
