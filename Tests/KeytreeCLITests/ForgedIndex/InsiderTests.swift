import Arguments
import KeyringModel
import KeytreeCLI
import TestSupport
import Testing

/// Bob is a member of `default`. He copies the encrypted file of an item in `ops`, which he cannot read, and signs a
/// record for it in his own group.
@Suite("A member of one group gets nothing of another group", .serialized, .slow)
struct InsiderTests {
  let world: ForgeryFixture
  private let planted: ItemRecord

  init() throws {
    world = try ForgeryFixture()
    var line = try world.line("prod.example/root")
    var generator = SystemRandomNumberGenerator()
    line.id = ItemID(using: &generator)
    line.group = "default"
    line.attributes[.server] = "bob.example"
    let message = try world.bytes(ForgeryFixture.secretFile(try world.line("prod.example/root")))
    try world.plant(line, message, signedBy: .bob)
    planted = try world.line("bob.example/root")
  }

  /// Expects that the secret of `prod.example` is not released under another name, and that Bob can read nothing of
  /// `ops`.
  private func expectNothing(_ server: String = "bob.example") throws {
    let get = Release.command(world, ["get", "\(server)/root"])
    #expect(get.status != 0 && !get.hasSecret && get.output.isEmpty, "\(get)")
    let texts = try world.textsOfBob()
    #expect(!texts.contains { $0.contains("prod-password") || $0.contains("ops-password") }, "\(texts)")
  }

  @Test func `a record that a member signs for their own group releases no secret of another group`() throws {
    for release in Release.all {
      let outcome = try release.run(world, "bob.example", "root")
      let words = "\(release.name): \(outcome.status) \(outcome.output) \(outcome.diagnostics)"
      #expect(!outcome.hasSecret, "\(words)")
      if let refusal = release.refusal { #expect(outcome.status == refusal, "\(words)") }
    }
    let check = Release.command(world, ["check"])
    #expect(check.status != 0 && check.output.contains("binding mismatch"), "\(check)")
  }

  @Test(arguments: [
    ["set", "bob.example/root", "--label", "x"], ["mv", "bob.example/root", "new.example/root"],
    ["cp", "bob.example/root", "new.example/root"], ["set", "bob.example/root", "--group", "ops"],
    ["group", "remove", "default", GnuPGKey.bob.mail],
    ["group", "add", "default", GnuPGKey.carol.fingerprint.text],
  ])
  func `a change that an honest member signs reveals nothing of another group`(words: [String]) throws {
    if words.contains("add") {
      try world.alice.home.run(["--import"], input: GnuPGKey.carol.publicKey)
    }
    let outcome = Release.command(world, words)
    #expect(outcome.status != 0, "\(outcome)")
    try expectNothing()
    try expectNothing("new.example")
  }

  @Test func `removing and undeleting the item reveals nothing of another group`() throws {
    try world.alice.done(["rm", "bob.example/root"])
    _ = Release.command(world, ["undelete", "bob.example/root"])
    try expectNothing()
  }

  @Test func `a new secret for the item is encrypted to the item's own group`() throws {
    let outcome = Release.command(world, ["set", "bob.example/root", "--secret"], input: "for-bob")
    if outcome.status == 0 {
      #expect(try world.textsOfBob().contains { $0.hasSuffix(": for-bob") })
    }
    let texts = try world.textsOfBob()
    #expect(!texts.contains { $0.contains("prod-password") || $0.contains("ops-password") }, "\(texts)")
  }

  /// Recipient packets are not authenticated, so Bob can put one of his own, with another session key, in front of the
  /// file.
  @Test func `a recipient packet of another file reveals nothing of another group`() throws {
    let other = try world.bytes(ForgeryFixture.secretFile(try world.line("hub.example/alice")))
    var packets: [[UInt8]] = []
    var rest = other[...]
    // The packets of GnuPG have one or two length octets (RFC 9580, 4.2.2).
    while let tag = rest.first, tag == 0x84 || tag == 0x85 {
      let bytes = Array(rest)
      let size = tag == 0x85 ? 3 + Int(bytes[1]) * 256 + Int(bytes[2]) : 2 + Int(bytes[1])
      packets.append(Array(bytes.prefix(size)))
      rest = rest.dropFirst(size)
    }
    #expect(packets.count == 2)
    let message = try world.bytes(ForgeryFixture.secretFile(planted))
    for packet in packets {
      try world.plant(planted, packet + message, signedBy: .bob)
      try expectNothing()
    }
  }
}
