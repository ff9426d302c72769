import KeytreeCLI
import Testing

/// Every command that releases a secret, combined with every possible fault of an item's files.
@Suite("A record that is not believed releases nothing", .serialized)
struct VerificationMatrixTests {
  let world: ForgeryFixture

  init() throws { world = try ForgeryFixture() }

  @Test func `each command releases the secret of an untouched item`() throws {
    for release in Release.all where release.name != "get --qr" {
      let outcome = try release.run(world, "prod.example", "root")
      #expect(outcome.status == 0, "\(release.name): \(outcome.diagnostics)")
      #expect(outcome.hasSecret, "\(release.name): \(outcome.output)")
    }
  }

  @Test func `no command releases a secret`() throws {
    for sabotage in RecordSabotage.all {
      try world.reset()
      try sabotage.act(world, try world.line("prod.example/root"))
      for release in Release.all {
        let outcome = try release.run(world, "prod.example", "root")
        let words =
          "\(sabotage.name), \(release.name): \(outcome.status) \(outcome.output) \(outcome.diagnostics)"
        #expect(!outcome.hasSecret, "\(words)")
        #expect(outcome.status != 0, "\(words)")
        if let refusal = release.refusal { #expect(outcome.status == refusal, "\(words)") }
        #expect(outcome.output.isEmpty, "\(words)")
      }
      // The other items are unaffected.
      let other = Release.command(world, ["get", "hub.example/alice"])
      #expect(other.output == ForgeryFixture.secrets["hub.example/alice"])
    }
  }
}
