import CommandSupport
import Encoding
import Foundation
import KeyringModel
import KeytreeCLI
import TestSupport
import Testing

/// Two items, or an item and a forged line, with the same id.
@Suite("Two lines with one id", .serialized)
struct DuplicateIDTests {
  let world: ForgeryFixture

  init() throws { world = try ForgeryFixture() }

  @Test(arguments: [Timestamp(microseconds: 1), Timestamp(microseconds: 4_000_000_000_000_000)])
  func `a duplicate id gives no variable or template the secret of the other item`(created: Timestamp) throws
  {
    var line = try world.line("hub.example/alice")
    line.attributes[.server] = "evil.example"
    line.created = created
    try world.put(line)
    let references = try ["hub.example", "evil.example"].map { server in
      "keytree://internet-password/\(try world.path(server, "alice"))"
    }
    let run = try Release.built(
      world,
      ["run", "--env", "A=\(references[0])", "--env", "B=\(references[1])", "--", "sh", "-c", "echo $A $B"])
    #expect(run.status == ExitCode.damaged.rawValue && run.output.isEmpty, "\(run.diagnostics)")
    let inject = Release.command(
      world, ["inject"], input: "{{ \(references[0]) }} {{ \(references[1]) }}")
    #expect(inject.status == ExitCode.damaged.rawValue && inject.output.isEmpty, "\(inject.diagnostics)")
    let export = Release.command(world, ["export", "json", "-", "--format", "keytree", "--plaintext"])
    #expect(export.status != 0 && !export.hasSecret, "\(export.output)")
  }

  @Test func `two signed records with the same id make the id ambiguous`() throws {
    // Bob gives one of his items an earlier date and the id of an item that he cannot read.
    var line = try world.line("prod.example/root")
    let id = line.id.hex
    line.attributes[.server] = "bob.example"
    line.group = "default"
    line.created = Timestamp(microseconds: 1)
    try world.plant(line, try world.encrypt("bobs-choice", to: [.alice, .bob]), signedBy: .bob)
    #expect(Release.command(world, ["get", "bob.example/root"]).output == "bobs-choice")
    for words in [["get", "keytree://id/\(id)"], ["read", "keytree://id/\(id)"], ["get", "#\(id)"]] {
      let outcome = Release.command(world, words)
      #expect(outcome.status == ExitCode.ambiguous.rawValue && outcome.output.isEmpty, "\(words) \(outcome)")
    }
    let inject = Release.command(world, ["inject"], input: "{{ keytree://id/\(id) }}")
    #expect(inject.status == ExitCode.ambiguous.rawValue && inject.output.isEmpty, "\(inject)")
    let run = try Release.built(world, ["run", "--env", "A=keytree://id/\(id)", "--", "sh", "-c", "echo $A"])
    #expect(run.status == ExitCode.ambiguous.rawValue && run.output.isEmpty, "\(run)")
    let set = Release.command(world, ["set", "keytree://id/\(id)", "--secret"], input: Storage.secret)
    #expect(set.status == ExitCode.ambiguous.rawValue)
    #expect(try !world.textsOfBob().contains { $0.contains(Storage.secret) })
  }

  @Test func `a duplicate id does not make an import replace or skip the wrong item`() throws {
    var line = try world.line("hub.example/alice")
    line.attributes[.server] = "evil.example"
    line.created = Timestamp(microseconds: 1)
    try world.put(line)
    let file = world.alice.folder.path + "/in.csv"
    let text = "name,url,username,password\nx,https://evil.example,alice,\(Storage.secret)\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    let before = try world.contents()
    let outcome = Release.command(world, ["import", "csv", file])
    #expect(outcome.status == ExitCode.damaged.rawValue && !outcome.hasSecret, "\(outcome)")
    #expect(try world.contents() == before)
  }
}
