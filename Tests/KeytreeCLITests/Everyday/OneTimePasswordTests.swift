import Arguments
import CommandSupport
import Foundation
import KeyringModel
import Synchronization
import TestSupport
import Testing
@testable import KeytreeCLI

@Suite("One-time passwords by a counter", .serialized)
struct OneTimePasswordTests {
  private static let seed = "otpauth://hotp/bank?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter="

  @Test("each counter is used once, however many processes ask concurrently")
  func atOnce() throws {
    let program = try ProcessesProgram.withStore()
    try program.succeed(["otp", "add", "bank.example/4711"], input: Self.seed + "0")
    let codes = Mutex<[String]>([])
    try ThreadGroup.run(4) { _ in
      for _ in 0..<5 {
        let code = try program.succeed(["otp", "bank.example/4711", "--quiet"])
        codes.withLock { $0.append(code) }
      }
    }
    let shown = codes.withLock { $0 }
    #expect(shown.count == 20 && Set(shown).count == 20)
    // All values of RFC 4226, appendix D.
    for known in [
      "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
    ] {
      #expect(shown.contains(known))
    }
    #expect(try program.succeed(["get", "bank.example/4711", "--field", "otp"]) == Self.seed + "20")
  }

  @Test("a code by counter makes a commit, and a code by time does not")
  func committed() throws {
    let world = try MaintenanceFixture()
    world.run("init")
    world.run("otp", "add", "bank.example/4711", input: Array((Self.seed + "7").utf8))
    world.run("otp", "add", "site.example/alice", input: Array("GEZDGNBV".utf8))
    func commits() throws -> [String] {
      let log = try GnuPGTool.run("/usr/bin/git", ["-C", world.store, "log", "--format=%s"])
      return String(decoding: log, as: UTF8.self).split(separator: "\n").map(String.init)
    }
    let before = try commits()
    #expect(world.run("otp", "site.example/alice").code == .done)
    #expect(try commits() == before)
    #expect(world.run("otp", "bank.example/4711").text == "162583")
    #expect(try commits().count == before.count + 1)
    #expect(world.run("status").code == .done)
  }

  /// FIPS mode is a policy of many machines in banks and offices. libgcrypt refuses HMAC keys below 112 bits in that
  /// mode. Most types of GnuPG keys do not work in it either, but RSA keys do.
  @Test(
    "codes are computed in the FIPS mode of libgcrypt, even for seeds of 80 bits",
    arguments: ["SHA1", "SHA256", "SHA512"])
  func restricted(hash: String) throws {
    let program = try ProcessesProgram(.rsa)
    let variables = ["LIBGCRYPT_FORCE_FIPS_MODE": "1"]
    let seed = "otpauth://hotp/bank?secret=GEZDGNBVGY3TQOJQ&algorithm=\(hash)&counter="
    try program.succeed(["init", "--no-git"], variables: variables)
    try program.succeed(["otp", "add", "bank.example/4711"], input: seed + "7", variables: variables)
    let code = try program.succeed(["otp", "bank.example/4711", "--quiet"], variables: variables)
    #expect(try program.succeed(["get", "bank.example/4711", "--field", "otp"]) == seed + "8")
    try program.succeed(["otp", "add", "--update", "bank.example/4711"], input: seed + "7")
    #expect(try program.succeed(["otp", "bank.example/4711", "--quiet"]) == code)
  }

  @Test func `no code is shown again after two machines have used one seed`() throws {
    let world = try MaintenanceFixture()
    let (hub, other) = (world.scratch.path + "/hub.git", world.scratch.path + "/other")
    try GnuPGTool.run("/usr/bin/git", ["init", "-q", "--bare", "-b", "main", hub])
    world.run("init")
    world.run("otp", "add", "bank.example/4711", input: Array((Self.seed + "0").utf8))
    world.run("git", "remote", "add", "origin", hub)
    world.run("sync")
    #expect(world.run("clone", hub, other, "--quiet").code == .done)
    for code in ["755224", "287082", "359152"] { #expect(world.run("otp", "bank.example/4711").text == code) }
    // The later change wins the merge, and its counter is the smaller one.
    world.run("--store", other, "otp", "bank.example/4711")
    for words in [["sync"], ["--store", other, "sync"], ["sync"]] { #expect(world.run(words).code == .done) }
    #expect(world.run("get", "bank.example/4711", "--field", "otp").text == Self.seed + "1")
    let next = world.run("otp", "bank.example/4711")
    #expect(next.text == "969429" && next.talk.contains("has a conflict copy of the seed"), "\(next.talk)")
    #expect(world.run("get", "bank.example/4711", "--field", "otp").text == Self.seed + "4")
    // A copy with another key has a counter of its own.
    let third = "otpauth://hotp/bank?secret=GEZDGNBVGY3TQOJQ&counter=0"
    #expect(world.run("otp", "add", "--update", "bank.example/4711", input: Array(third.utf8)).code == .done)
    let renewed = world.run("otp", "bank.example/4711")
    #expect(renewed.code == .done && !renewed.talk.contains("conflict"), "\(renewed.talk)")
    #expect(world.run("get", "bank.example/4711", "--field", "otp").text.hasSuffix("counter=1"))
  }

  @Test("no code is shown if the next counter cannot be stored")
  func notStored() throws {
    let world = try MaintenanceFixture()
    world.run("init", "--no-git")
    world.run("otp", "add", "bank.example/4711", input: Array((Self.seed + "7").utf8))
    // A damaged line prevents writes to its shard, but the other lines can still be read.
    let index = world.store + "/index"
    for name in try FileManager.default.contentsOfDirectory(atPath: index) {
      let file = try #require(FileHandle(forWritingAtPath: index + "/" + name))
      try file.seekToEnd()
      try file.write(contentsOf: Data("{\n".utf8))
      try file.close()
    }
    #expect(world.run("get", "bank.example/4711", "--field", "otp").text == Self.seed + "7")
    let answer = world.run("otp", "bank.example/4711")
    #expect(answer.code == .damaged, "\(answer.talk)")
    #expect(answer.bytes.isEmpty)
  }
}
