import Foundation
import KeytreeCLI
import TestSupport
import Testing

@Suite("The built program audits", .serialized)
struct AuditProgramTests {
  @Test("without libzxcvbn, audit says which package has it, and reports the rest", .needsZxcvbn)
  func missingLibrary() throws {
    let program = try ProcessesProgram.withStore(["a.example/x": "hunter2", "b.example/x": "hunter2"])
    // A file that is no library takes the place of the one that is installed.
    try Data().write(to: URL(fileURLWithPath: program.folder + "/libzxcvbn.so.0"))
    let variables = ["LD_LIBRARY_PATH": program.folder]
    let complete = try program.run(["audit"])
    #expect(complete.text.contains("weak\t"))
    for (arguments, status) in [
      (["audit"], Int32(0)), (["audit", "--quiet", "--json"], 0), (["audit", "--fail"], 13),
    ] {
      let outcome = try program.run(arguments, variables: variables)
      #expect(outcome.status == status)
      #expect(outcome.text.contains("reused"))
      #expect(!outcome.text.contains("weak"))
      #expect(outcome.errors.contains("weak passwords cannot be found: libzxcvbn.so.0 is not installed"))
      #expect(outcome.errors.contains("libzxcvbn0"))
    }
    // Something was not examined, so the store is not known to be good.
    let narrowed = try program.run(["audit", "--fail", "a.example"], variables: variables)
    #expect(narrowed.status == 13)
  }

  @Test("no other command loads libzxcvbn")
  func loadedByAuditAlone() throws {
    let program = try ProcessesProgram.withStore(["a.example/x": "hunter2"])
    for (arguments, loads) in [
      (["audit"], true), (["get", "a.example"], false), (["check", "--decrypt"], false),
    ] {
      let outcome = try program.run(arguments, variables: ["LD_DEBUG": "libs"])
      #expect(outcome.errors.contains("libzxcvbn") == loads)
    }
  }
}
