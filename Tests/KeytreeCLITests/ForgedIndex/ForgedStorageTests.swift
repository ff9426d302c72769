import KeyringModel
import KeytreeCLI
import TestSupport
import Testing

/// The record that a member has signed decides where a secret is stored, never a line of the index.
@Suite("A forged line of the index does not decide where a secret goes", .serialized, .slow)
struct ForgedStorageTests {
  let world: ForgeryFixture

  init() throws { world = try ForgeryFixture() }

  /// Expects that a refused command has changed no file of an item, so that Bob can read nothing new.
  private func expectUntouched(
    _ storage: Storage, _ before: [String: [UInt8]], _ outcome: Release.Outcome
  ) throws {
    let words = "\(storage.name): \(outcome.status) \(outcome.output) \(outcome.diagnostics)"
    #expect(outcome.status != 0, "\(words)")
    #expect(!outcome.hasSecret, "\(words)")
    #expect(try world.contents() == before, "\(words)")
  }

  @Test func `each command changes an untouched item`() throws {
    for storage in Storage.secrets + Storage.moves {
      try world.reset()
      let before = try world.contents()
      let outcome = try storage.run(world, "prod.example", "root")
      #expect(outcome.status == 0, "\(storage.name): \(outcome.output) \(outcome.diagnostics)")
      #expect(try world.contents() != before || storage.name == "docker credential store")
    }
  }

  @Test(arguments: ["prod.example", "ops.example"])
  func `an item of another group is not stored for the group of a forged line`(server: String) throws {
    for storage in Storage.secrets + Storage.moves {
      try world.reset()
      try world.forge(try world.line("\(server)/root")) { $0.group = "default" }
      let before = try world.contents()
      try expectUntouched(storage, before, try storage.run(world, server, "root"))
      let texts = try world.textsOfBob()
      #expect(
        !texts.contains { $0.contains(Storage.secret) || $0.contains("password") && $0.contains("root") })
    }
  }

  @Test func `no secret is stored for a forged line without files`() throws {
    for storage in Storage.secrets + Storage.moves {
      try world.reset()
      var line = try world.line("hub.example/alice")
      line.attributes[.server] = "evil.example"
      var generator = SystemRandomNumberGenerator()
      line.id = ItemID(using: &generator)
      try world.put(line)
      let before = try world.contents()
      try expectUntouched(storage, before, try storage.run(world, "evil.example", "alice"))
    }
  }

  @Test func `a forged line with the id of another item does not lead to that item`() throws {
    for storage in Storage.secrets + Storage.moves {
      try world.reset()
      var line = try world.line("hub.example/alice")
      line.attributes[.server] = "evil.example"
      try world.put(line)
      let before = try world.contents()
      try expectUntouched(storage, before, try storage.run(world, "evil.example", "alice"))
    }
  }

  @Test func `an item whose files are missing does not lead to another item with its id`() throws {
    for storage in Storage.secrets + Storage.moves {
      try world.reset()
      // A secret for `prod.example` would be stored for the readers of `mail.example`.
      let line = try world.line("prod.example/root")
      let other = try world.line("mail.example/alice")
      try world.remove(ForgeryFixture.secretFile(line))
      try world.remove(ForgeryFixture.recordFile(line))
      try world.forge(line) { $0.id = other.id }
      let before = try world.contents()
      try expectUntouched(storage, before, try storage.run(world, "prod.example", "root"))
    }
  }

  @Test(arguments: ["otp", "x"])
  func `a forged line of a field does not move another item along`(field: String) throws {
    for storage in Storage.moves where ["mv", "cp", "rm"].contains(storage.name) {
      try world.reset()
      // The secret of an item of `ops` would follow a login of `default`.
      var line = try world.line("mail.example/alice")
      line.id = try world.line("prod.example/root").id
      line.attributes[.field] = .string(field)
      try world.put(line)
      let before = try world.contents()
      try expectUntouched(storage, before, try storage.run(world, "mail.example", "alice"))
    }
  }

  @Test func `an item whose record is not verified is not signed again`() throws {
    let storages = (Storage.secrets + Storage.moves).filter {
      ["set --secret", "set --label", "set --group", "cp"].contains($0.name)
    }
    for sabotage in RecordSabotage.all {
      try world.reset()
      try sabotage.act(world, try world.line("prod.example/root"))
      let before = try world.contents()
      for storage in storages {
        try expectUntouched(storage, before, try storage.run(world, "prod.example", "root"))
      }
    }
  }
}
