import Arguments
import CommandSupport
import KeyringModel
import KeytreeCLI
import TestSupport
import Testing

/// An older version of an item that an attacker puts back. A member has signed it, so that it is believed where it lies;
/// `sync` does not let it in silently.
@Suite("An older version of an item")
struct RollbackTests {
  let world: ForgedWorld
  private let old: ItemRecord
  private let files: [String: [UInt8]]

  init() throws {
    world = try ForgedWorld()
    old = try world.line("prod.example/root")
    files = [
      ForgedWorld.secretFile(old): try world.bytes(ForgedWorld.secretFile(old)),
      ForgedWorld.recordFile(old): try world.bytes(ForgedWorld.recordFile(old)),
    ]
    try world.alice.done(["set", "prod.example/root", "--secret"], input: "later-password")
  }

  @Test func `is what it was, with its record, file and line`() throws {
    for (path, bytes) in files { try world.write(bytes, to: path) }
    try world.put(old)
    #expect(Release.command(world, ["get", "prod.example/root"]).output == "prod-password")
  }

  @Test func `is not believed without its line`() throws {
    for (path, bytes) in files { try world.write(bytes, to: path) }
    let outcome = Release.command(world, ["get", "prod.example/root"])
    #expect(outcome.status == ExitCode.damaged.rawValue && outcome.output.isEmpty, "\(outcome)")
  }

  @Test func `is not believed when one of its files is put back`() throws {
    for (path, bytes) in files {
      let current = try world.bytes(path)
      try world.write(bytes, to: path)
      for line in [old, try world.line("prod.example/root")] {
        let now = try world.line("prod.example/root")
        try world.put(line)
        let outcome = Release.command(world, ["get", "prod.example/root"])
        #expect(outcome.status == ExitCode.damaged.rawValue && outcome.output.isEmpty, "\(path) \(outcome)")
        try world.put(now)
      }
      try world.write(current, to: path)
    }
    #expect(Release.command(world, ["get", "prod.example/root"]).output == "later-password")
  }
}
