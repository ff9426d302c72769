import CommandSupport
import KeyringModel
import KeytreeCLI
import TestSupport
import Testing

/// A seed or a note is never released as a password.
@Suite("A field does not become a password", .serialized, .slow)
struct PromotedFieldTests {
  let world: ForgeryFixture

  init() throws { world = try ForgeryFixture() }

  private func removeLogin() throws {
    let login = try world.line("hub.example/alice")
    try world.remove(ForgeryFixture.secretFile(login))
    try world.remove(ForgeryFixture.recordFile(login))
    try world.drop(login)
  }

  private func expectRefusals() throws {
    for release in Release.all {
      // An export of a login contains its fields under their own names.
      if release.name == "export json" { continue }
      // The id of a deleted item is unknown.
      if release.name == "read by id", (try? world.line("hub.example/alice")) == nil { continue }
      let outcome = try release.run(world, "hub.example", "alice")
      let words = "\(release.name): \(outcome.status) \(outcome.output) \(outcome.diagnostics)"
      #expect(!outcome.hasSecret, "\(words)")
      #expect(outcome.output.isEmpty, "\(words)")
    }
  }

  @Test func `a field is not released when the password is deleted`() throws {
    try removeLogin()
    try expectRefusals()
    let get = Release.command(world, ["get", "hub.example/alice"])
    #expect(get.status == ExitCode.notFound.rawValue, "\(get)")
  }

  @Test(arguments: ["otp", "note"], [false, true])
  func `a field is not released when its line is forged into that of the login`(
    field: String, takesFiles: Bool
  ) throws {
    let login = try world.line("hub.example/alice")
    let old = try world.line("hub.example/alice", field: field)
    try removeLogin()
    let new = try world.forge(old) { $0.attributes[.field] = nil }
    #expect(new.path.field == nil)
    if takesFiles {
      try world.write(try world.bytes(ForgeryFixture.secretFile(old)), to: ForgeryFixture.secretFile(login))
      try world.write(try world.bytes(ForgeryFixture.recordFile(old)), to: ForgeryFixture.recordFile(login))
    }
    try expectRefusals()
    let get = Release.command(world, ["get", "hub.example/alice"])
    #expect(get.status == ExitCode.damaged.rawValue, "\(get)")
  }

  @Test(arguments: ["otp", "note"])
  func `a field is not released when its encrypted file replaces that of the password`(field: String) throws {
    let login = try world.line("hub.example/alice")
    let old = try world.line("hub.example/alice", field: field)
    try world.write(try world.bytes(ForgeryFixture.secretFile(old)), to: ForgeryFixture.secretFile(login))
    try world.forge(login) { $0.sealed = old.sealed }
    try expectRefusals()
  }

  @Test func `a password is not released as a seed`() throws {
    let seed = try world.line("hub.example/alice", field: "otp")
    let login = try world.line("hub.example/alice")
    try world.write(try world.bytes(ForgeryFixture.secretFile(login)), to: ForgeryFixture.secretFile(seed))
    try world.forge(seed) { $0.sealed = login.sealed }
    for words in [["otp", "hub.example/alice"], ["get", "hub.example/alice", "--field", "otp"]] {
      let outcome = Release.command(world, words)
      #expect(outcome.status == ExitCode.damaged.rawValue && outcome.output.isEmpty, "\(outcome)")
      #expect(!outcome.hasSecret)
    }
  }
}
