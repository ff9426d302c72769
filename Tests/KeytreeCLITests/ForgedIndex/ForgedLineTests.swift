import CommandSupport
import Keyring
import KeyringModel
import KeytreeCLI
import TestSupport
import Testing

/// A line of the index that differs from the record of its item.
struct ForgedLine: Sendable, CustomTestStringConvertible {
  let name: AttributeName
  /// The server that the user asks for and finds through the forged line.
  var server = "hub.example"
  var account = "alice"
  let change: @Sendable (inout ItemRecord) -> Void

  var testDescription: String { name.text }

  /// The forged lines whose item path, group or location differs from that of the item.
  static let places: [ForgedLine] = [
    ForgedLine(name: .server, server: "evil.example") { $0.attributes[.server] = "evil.example" },
    ForgedLine(name: .account, account: "mallory") { $0.attributes[.account] = "mallory" },
    ForgedLine(name: .protocol) { $0.attributes[.protocol] = "http" },
    ForgedLine(name: .port) { $0.attributes[.port] = .integer(8443) },
    ForgedLine(name: .path) { $0.attributes[.path] = "/team" },
    ForgedLine(name: .securityDomain) { $0.attributes[.securityDomain] = "realm" },
    ForgedLine(name: .authenticationType) { $0.attributes[.authenticationType] = "basic" },
    ForgedLine(name: .synchronizable) { $0.attributes[.synchronizable] = .boolean(true) },
    ForgedLine(name: .group) { $0.group = "ops" },
    ForgedLine(name: "local") { $0.isLocal = true },
  ]

  /// The forged lines that keep the item's path, group and location.
  static let others: [ForgedLine] = [
    ForgedLine(name: .label) { $0.attributes[.label] = "Bank" },
    ForgedLine(name: .comment) { $0.attributes[.comment] = "Bank" },
    ForgedLine(name: .kind) { $0.attributes[.kind] = "note" },
    ForgedLine(name: "url") { $0.attributes["url"] = "https://evil.example/" },
    ForgedLine(name: "anything") { $0.attributes["anything"] = "Bank" },
    ForgedLine(name: .accessControl) { $0.attributes[.accessControl] = .bytes([1]) },
    ForgedLine(name: .id) { line in
      var generator = SystemRandomNumberGenerator()
      line.id = ItemID(using: &generator)
    },
    ForgedLine(name: .revision) { line in
      var generator = SystemRandomNumberGenerator()
      line.revision = Revision(using: &generator)
    },
    ForgedLine(name: .created) { $0.created = Timestamp(microseconds: 1) },
    ForgedLine(name: .modified) { $0.modified = Timestamp(microseconds: 1) },
    ForgedLine(name: .secretModified) { $0.secretModified = Timestamp(microseconds: 1) },
    ForgedLine(name: "sealed") { $0.sealed = ContentDigest(of: [1]) },
  ]
}

@Suite("A forged line of the index releases nothing", .serialized, .slow)
struct ForgedLineTests {
  let world: ForgeryFixture

  init() throws { world = try ForgeryFixture() }

  /// Runs commands on an item that is listed through a forged line.
  private func expectRefusals(_ forged: ForgedLine, by releases: [Release], names: Bool = false) throws {
    for release in releases {
      let outcome = try release.run(world, forged.server, forged.account)
      let words =
        "\(forged.name), \(release.name): \(outcome.status) \(outcome.output) \(outcome.diagnostics)"
      #expect(!outcome.hasSecret, "\(words)")
      #expect(outcome.output.isEmpty, "\(words)")
      // Git and `security` may search for the protocol and find nothing.
      guard let refusal = release.refusal else { continue }
      #expect(outcome.status == refusal, "\(words)")
      if names { #expect(outcome.diagnostics.contains("`\(forged.name.text)`"), "\(words)") }
    }
  }

  @Test func `a line that names another path, group or location releases nothing`() throws {
    for forged in ForgedLine.places {
      try world.reset()
      try expectRefusals(ofPlace: forged)
    }
  }

  private func expectRefusals(ofPlace forged: ForgedLine) throws {
    let old = try world.line("hub.example/alice")
    let new = try world.forge(old, forged.change)
    try expectRefusals(forged, by: Release.all)
    // A local line cannot arrive through a push.
    if forged.name == "local" { return }
    // The item's files are also at the path that the line names.
    let files = [ForgeryFixture.secretFile(old), ForgeryFixture.recordFile(old)]
    let copies = [ForgeryFixture.secretFile(new), ForgeryFixture.recordFile(new)]
    for (from, to) in zip(files, copies) { try world.write(try world.bytes(from), to: to) }
    try expectRefusals(forged, by: Release.few)
    // The record at that path agrees with the line, but has the old proof.
    var proof = try RecordFile(parsing: try world.bytes(files[1])).proof
    try world.write(
      RecordFile(line: try IndexLine.encode(new), record: new, proof: proof).bytes, to: copies[1])
    try expectRefusals(forged, by: Release.few)
    // The record is signed by a stranger.
    proof = try world.sign(new, by: .carol).proof
    try world.write(
      RecordFile(line: try IndexLine.encode(new), record: new, proof: proof).bytes, to: copies[1])
    try expectRefusals(forged, by: Release.few)
  }

  @Test func `a line with another attribute releases nothing, and the error names the attribute`() throws {
    for forged in ForgedLine.others {
      try world.reset()
      try expectRefusals(ofAttribute: forged)
    }
  }

  private func expectRefusals(ofAttribute forged: ForgedLine) throws {
    try world.forge(try world.line("hub.example/alice"), forged.change)
    try expectRefusals(forged, by: Release.few, names: true)
  }

  @Test func `a line with the class of another item releases nothing`() throws {
    try world.forge(try world.line("app/bot")) { line in
      line.itemClass = .internetPassword
      line.attributes[.server] = "evil.example"
      line.attributes[.service] = nil
      line.attributes[.account] = "alice"
    }
    for release in Release.all {
      let outcome = try release.run(world, "evil.example", "alice")
      #expect(!outcome.hasSecret, "\(release.name): \(outcome.output)")
    }
  }

  @Test(arguments: [AttributeName.label, .comment, "url", "anything"])
  func `a condition that only the line satisfies releases nothing`(name: AttributeName) throws {
    try world.forge(try world.line("hub.example/alice")) { $0.attributes[name] = "Bank" }
    let found = Release.command(world, ["get", "--attribute", "\(name.text)=Bank"])
    #expect(found.status == ExitCode.damaged.rawValue && found.output.isEmpty, "\(found.diagnostics)")
    #expect(found.diagnostics.contains("`\(name.text)`"), "\(found.diagnostics)")
  }
}
