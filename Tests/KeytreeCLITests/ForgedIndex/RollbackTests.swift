import Arguments
import CommandSupport
import KeyringModel
import KeytreeCLI
import TestSupport
import Testing

/// An older version of an item that an attacker restores. A member has signed it, so it verifies in the store where it
/// is restored; `sync` does not accept it silently.
@Suite("An older version of an item", .serialized)
struct RollbackTests {
  let world: ForgeryFixture
  private let old: ItemRecord
  private let files: [String: [UInt8]]

  init() throws {
    world = try ForgeryFixture()
    old = try world.line("prod.example/root")
    files = [
      ForgeryFixture.secretFile(old): try world.bytes(ForgeryFixture.secretFile(old)),
      ForgeryFixture.recordFile(old): try world.bytes(ForgeryFixture.recordFile(old)),
    ]
    try world.alice.done(["set", "prod.example/root", "--secret"], input: "later-password")
  }

  @Test func `an older version verifies together with its record, file and line`() throws {
    for (path, bytes) in files { try world.write(bytes, to: path) }
    try world.put(old)
    #expect(Release.command(world, ["get", "prod.example/root"]).output == "prod-password")
  }

  @Test func `an older version without its line does not verify`() throws {
    for (path, bytes) in files { try world.write(bytes, to: path) }
    let outcome = Release.command(world, ["get", "prod.example/root"])
    #expect(outcome.status == ExitCode.damaged.rawValue && outcome.output.isEmpty, "\(outcome)")
  }

  @Test func `an older version does not verify if only one of its files is restored`() throws {
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
