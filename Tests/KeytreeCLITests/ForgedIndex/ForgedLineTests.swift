import CommandSupport
import Keyring
import KeyringModel
import KeytreeCLI
import TestSupport
import Testing

/// A line of the index that says something else about an item than its record does.
struct ForgedLine: Sendable, CustomTestStringConvertible {
  let name: AttributeName
  /// What the user asks for, and finds through the forged line.
  var server = "hub.example"
  var account = "alice"
  let change: @Sendable (inout ItemRecord) -> Void

  var testDescription: String { name.text }

  /// Those that lead to another place than that of the item.
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

  /// Those that leave it at its place.
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

@Suite("A forged line of the index releases nothing")
struct ForgedLineTests {
  let world: ForgedWorld

  init() throws { world = try ForgedWorld() }

  /// Runs every command on an item that a forged line shows.
  private func expectRefusals(_ forged: ForgedLine, by releases: [Release], names: Bool = false) throws {
    for release in releases {
      let outcome = try release.run(world, forged.server, forged.account)
      let words =
        "\(forged.name), \(release.name): \(outcome.status) \(outcome.output) \(outcome.diagnostics)"
      #expect(!outcome.hasSecret, "\(words)")
      #expect(outcome.output.isEmpty, "\(words)")
      // Git and `security` may look for the protocol, and find nothing.
      guard let refusal = release.refusal else { continue }
      #expect(outcome.status == refusal, "\(words)")
      if names { #expect(outcome.diagnostics.contains("`\(forged.name.text)`"), "\(words)") }
    }
  }

  @Test func `for another place than the record has`() throws {
    for forged in ForgedLine.places {
      try world.reset()
      try expectRefusals(ofPlace: forged)
    }
  }

  private func expectRefusals(ofPlace forged: ForgedLine) throws {
    let old = try world.line("hub.example/alice")
    let new = try world.forge(old, forged.change)
    try expectRefusals(forged, by: Release.all)
    // A line of this machine alone is nothing that can be pushed.
    if forged.name == "local" { return }
    // With the files at the place that the line names.
    let files = [ForgedWorld.secretFile(old), ForgedWorld.recordFile(old)]
    let copies = [ForgedWorld.secretFile(new), ForgedWorld.recordFile(new)]
    for (from, to) in zip(files, copies) { try world.write(try world.bytes(from), to: to) }
    try expectRefusals(forged, by: Release.few)
    // With a record there that says what the line says, and has the old proof.
    var proof = try RecordFile(parsing: try world.bytes(files[1])).proof
    try world.write(
      RecordFile(line: try IndexLine.encode(new), record: new, proof: proof).bytes, to: copies[1])
    try expectRefusals(forged, by: Release.few)
    // With one that a stranger has signed.
    proof = try world.sign(new, by: .carol).proof
    try world.write(
      RecordFile(line: try IndexLine.encode(new), record: new, proof: proof).bytes, to: copies[1])
    try expectRefusals(forged, by: Release.few)
  }

  @Test func `with another attribute, which the error names`() throws {
    for forged in ForgedLine.others {
      try world.reset()
      try expectRefusals(ofAttribute: forged)
    }
  }

  private func expectRefusals(ofAttribute forged: ForgedLine) throws {
    try world.forge(try world.line("hub.example/alice"), forged.change)
    try expectRefusals(forged, by: Release.few, names: true)
  }

  @Test func `for the class of another item`() throws {
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
  func `found by a condition that holds for the line alone`(name: AttributeName) throws {
    try world.forge(try world.line("hub.example/alice")) { $0.attributes[name] = "Bank" }
    let found = Release.command(world, ["get", "--attribute", "\(name.text)=Bank"])
    #expect(found.status == ExitCode.damaged.rawValue && found.output.isEmpty, "\(found.diagnostics)")
    #expect(found.diagnostics.contains("`\(name.text)`"), "\(found.diagnostics)")
  }
}
