import CommandSupport
import Foundation
import KeytreeCLI
import TestSupport
import Testing

/// The diagnoses of `doctor` for transient conditions.
@Suite("Doctor", .serialized)
struct DoctorTests {
  @Test("doctor does not report an agent that has not been needed yet")
  func agent() throws {
    let world = try MaintenanceFixture([])
    let answer = world.run("doctor")
    #expect(answer.text.contains("ok     agent        not running; it is started on demand"))
    #expect(answer.talk.contains("1 problem was found"), "there is no key")
  }

  @Test("doctor names the files that a killed edit has left in memory")
  func leftovers() throws {
    let world = try MaintenanceFixture()
    let base = "/dev/shm/kt-" + UUID().uuidString.prefix(8)
    defer { try? FileManager.default.removeItem(atPath: base) }  // A leftover folder is only in memory.
    for (name, mode) in [("keytree-edit-old", 0o700), ("keytree-edit-public", 0o755), ("other", 0o700)] {
      try FileManager.default.createDirectory(
        atPath: "\(base)/\(name)", withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
    }
    world.variables["XDG_RUNTIME_DIR"] = base
    let lines = world.run("doctor").lines.filter { $0.contains(base) && $0.hasPrefix("note") }
    #expect(lines.count == 1)
    #expect(lines.first?.contains("\(base)/keytree-edit-old was left by an edit") == true)
    #expect(FileManager.default.fileExists(atPath: "\(base)/keytree-edit-old"), "doctor changes nothing")
  }

  @Test(
    "a damaged home of the engine heals at the next command, and doctor finds nothing",
    arguments: ["removed", "empty", "garbage"], ["pubring.kbx", "gpg.conf", "ready"])
  func damagedHome(damage: String, name: String) throws {
    let world = try MaintenanceFixture()
    #expect(world.run("init", "--no-git").code == .done)
    #expect(world.run("add", "a.example/me", input: Array("one".utf8)).code == .done)
    let runtime = try #require(world.variables["XDG_RUNTIME_DIR"])
    for words in [["get", "a.example/me"], ["add", "b.example/me"], ["doctor"]] {
      let files = try FileManager.default.subpathsOfDirectory(atPath: runtime).filter {
        $0.hasSuffix("/\(name)")
      }
      #expect(!files.isEmpty)
      for file in files.map({ "\(runtime)/\($0)" }) {
        switch damage {
        case "removed": try FileManager.default.removeItem(atPath: file)
        default:
          try Data(damage == "empty" ? [] : [1, 2, 3]).write(to: URL(fileURLWithPath: file))
        }
      }
      let answer = world.run(words, input: Array("two".utf8))
      #expect(answer.code == .done, "\(words): \(answer.text) \(answer.talk)")
      if words[0] == "get" { #expect(answer.text == "one") }
    }
    #expect(world.run("get", "b.example/me").text == "two")
  }

  @Test(
    "doctor and other commands explain their cost, even when they fail",
    arguments: [
      (["doctor"], false), (["trust"], false), (["check"], false), (["check", "--decrypt"], true),
      (["import", "csv", "/nonexistent"], true),
    ] as [([String], Bool)])
  func explain(words: [String], isBroken: Bool) throws {
    let world = try MaintenanceFixture()
    #expect(world.run("init", "--no-git").code == .done)
    if isBroken { world.variables["PATH"] = "/nonexistent" }
    let answer = world.run(["--explain"] + words)
    #expect((answer.code == .done) != isBroken, "\(answer.talk)")
    #expect(answer.talk.contains("explain: items decrypted: "))
    #expect(answer.talk.contains("explain: processes started: "))
  }
}
