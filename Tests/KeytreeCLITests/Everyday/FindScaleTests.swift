import Arguments
import CommandSupport
import Foundation
import Keyring
import KeyringModel
import KeytreeCLI
import Testing

/// `find` in a store with many items.
@Suite("A large store", .serialized)
struct FindScaleTests {
  #if DEBUG
    static let count = 3_000
  #else
    static let count = 100_000
  #endif

  @Test("every item is listed, in every form, in the order of creation")
  func list() throws {
    let world = try CommandFixture.withoutGnuPG()
    try Self.fill(world.store)
    for form: [Word] in [["find"], ["find", "--json"], ["find", "made", "--sort", "label"]] {
      #expect(world.run(form).output.count { $0 == 10 } == Self.count, "\(form)")
    }
    let first = world.run("find", "--limit", "2").text
    #expect(first.hasPrefix("internet-password\thost0.example\tuser0\tSite 0\tdefault\t"))
    let some = world.run("find", "--server", "host7.example").text
    #expect(some.split(separator: "\n").count == Self.count / 1000)
    #expect(world.run("find", isTerminal: true).text.split(separator: "\n").count == Self.count + 1)
  }

  @Test("find --json prints the lines of the index with a reference added")
  func lines() throws {
    let world = try CommandFixture.withoutGnuPG()
    #expect(world.run("add", "b.example/x", "-l", "é", "--attribute", "url=x", input: [1]).code == .done)
    let folder = world.store + "/index"
    let shard = try #require(FileManager.default.contentsOfDirectory(atPath: folder).first)
    let line = try String(contentsOfFile: "\(folder)/\(shard)", encoding: .utf8)
    let reference = "\"reference\":\"keytree://internet-password/b.example/x\","
    let found = world.run("find", "--json").text
    #expect(found.contains(reference))
    #expect(found.split(separator: reference).joined() == line)
  }

  /// Writes an index without item files, which is enough for commands that only read attributes.
  private static func fill(_ store: String) throws {
    var shards: [String: [(path: String, line: String)]] = [:]
    for number in 0..<count {
      let (server, account) = ("host\(number % 1000).example", "user\(number)")
      let path = "internet-password/\(server)/\(account)"
      let digest = ContentDigest(of: Array(path.utf8))
      let id = String(format: "%032x", number)
      let time = Timestamp(microseconds: 1_700_000_000_000_000 + Int64(number) * 1000).rfc3339
      let line =
        #"{"account":"\#(account)","class":"internet-password","comment":"made","created":"\#(time)","#
        + #""group":"default","id":"\#(id)","label":"Site \#(number)","modified":"\#(time)","#
        + #""revision":"\#(id)","sealed":"\#(digest.base64url)","secretModified":"\#(time)","server":"\#(server)"}"#
      let place = ItemPath(
        PrimaryKey(
          itemClass: .internetPassword, attributes: [.server: .string(server), .account: .string(account)],
          group: "default"))
      shards[StoreLayout.shardName(place.shard), default: []].append((path, line + "\n"))
    }
    for (name, lines) in shards {
      let text = lines.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }.map(\.line).joined()
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(store)/index/\(name)"))
    }
  }
}
