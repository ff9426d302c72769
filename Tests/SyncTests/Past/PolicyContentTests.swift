import Foundation
import Keyring
import KeyringModel
import Sync
import TestSupport
import Testing

/// Tests reading the policies of a history, because a small push can bring thousands of large ones (threat T46).
@Suite("Policies and keys of a history", .serialized) struct PolicyContentTests {
  private let world: SyncWorld
  private let repository: Repository

  init() throws {
    world = try SyncWorld.withHistory()
    repository = try #require(try world.repository())
  }

  /// Adds a content to the repository and returns its name.
  private func name(of text: String) throws -> String {
    let path = "\(world.store.folder.path)/content"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return try #require(try world.lines("hash-object", "-w", path).first)
  }

  @Test func `contents are kept up to a limit, and read again after that`() throws {
    let (one, two) = (try name(of: "12345"), try name(of: "67890"))
    var contents = PolicyContents(in: repository, limit: 9)
    for _ in 0..<3 {
      #expect(try contents.contents(of: [one, one], limit: 100) == [one: Array("12345".utf8)])
      #expect(contents.keptCount == 1)
      #expect(try contents.contents(of: [two], limit: 100) == [two: Array("67890".utf8)])
      #expect(contents.keptCount == 1)
    }
    #expect(try contents.contents(of: [one, two], limit: 100).count == 2)
  }

  @Test func `a content over its own limit is omitted and does not count`() throws {
    let (one, two) = (try name(of: "12345"), try name(of: "1234567890"))
    var contents = PolicyContents(in: repository, limit: 9)
    #expect(try contents.contents(of: [one, two], limit: 9) == [one: Array("12345".utf8)])
    #expect(try contents.contents(of: [one], limit: 4) == [:])
  }

  @Test func `key files of more than 4 MiB in total are refused`() throws {
    var contents = PolicyContents(in: repository)
    var names: [Fingerprint: String] = [:]
    for number in 1...17 {
      names[EngineDouble.fingerprint(UInt8(number))] = try name(
        of: String(repeating: "x", count: 256 << 10 - number))
    }
    #expect(try contents.keyFiles(names) == nil)
    names[EngineDouble.fingerprint(17)] = nil
    #expect(try contents.keyFiles(names)?.count == 16)
  }

  @Test func `a large signature in a history is not read and has no signer`() throws {
    let scribe = try PolicyHistoryBuilder()
    // The signature is valid, but its line feeds exceed the limit.
    let signature = String(decoding: try scribe.bytes("policy.json.asc"), as: UTF8.self)
    try scribe.put("policy.json.asc", signature + String(repeating: "\n", count: 16 << 10))
    #expect(try scribe.history().findings.map(\.kind) == [.chain(.badSignature)])
  }
}
