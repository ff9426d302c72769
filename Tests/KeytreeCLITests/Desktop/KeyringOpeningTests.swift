import CommandSupport
import Keyring
import KeyringModel
import Personalities
import Sync
import Synchronization
import Terminal
import TestSupport
import Testing

/// Tests how a program that runs for a long time opens the store.
@Suite(.serialized) struct KeyringOpeningTests {
  @Test func `items can be read if the history of a newer policy cannot be read, and the error is reported`()
    throws
  {
    let team = try TeamMachines.ofThree()
    for name in ["a", "b"] { try team.succeed(.alice, "group", "create", name) }
    try team.succeed(.alice, "sync")
    let world = try #require(team.worlds[.bob])
    for words in [
      ["fetch", "-q"], ["merge", "-q", "--ff-only", "origin/main"], ["config", "core.excludesFile", "/x"],
    ] {
      try GnuPGTool.run("git", ["-C", world.store] + words)
    }
    let call = CommandCall(withoutOptionsIn: Environment(world.variables), MemoryConsole([]).console)
    let errors = Mutex<[any Error]>([])
    let open = try call.keyringOpener { error in errors.withLock { $0.append(error) } }
    let keyring = try open()
    #expect(keyring.distrust != nil)
    #expect(try keyring.find(Query()).items.count == 1)
    #expect(
      errors.withLock { $0.map { $0 as? GitError } } == [.unsafeConfiguration(keys: ["core.excludesfile"])])

    try GnuPGTool.run("git", ["-C", world.store, "config", "--unset", "core.excludesFile"])
    #expect(try open().distrust == nil)
    #expect(errors.withLock { $0.count } == 1)
  }
}
