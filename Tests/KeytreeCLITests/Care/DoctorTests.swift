import CommandSupport
import Foundation
import KeytreeCLI
import TestSupport
import Testing

/// What `doctor` says of things that come and go.
@Suite("Doctor")
struct DoctorTests {
  @Test("does not call an agent wrong that nothing has needed yet")
  func agent() throws {
    let world = try CareWorld([])
    let answer = world.run("doctor")
    #expect(answer.text.contains("ok     agent        not running; it is started when it is needed"))
    #expect(answer.talk.contains("1 thing is wrong"), "there is no key")
  }

  @Test("names what an edit that was killed has left in memory")
  func leftovers() throws {
    let world = try CareWorld()
    let base = "/dev/shm/kt-" + UUID().uuidString.prefix(8)
    defer { try? FileManager.default.removeItem(atPath: base) }  // What stays behind is in memory.
    for (name, mode) in [("keytree-edit-old", 0o700), ("keytree-edit-public", 0o755), ("other", 0o700)] {
      try FileManager.default.createDirectory(
        atPath: "\(base)/\(name)", withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
    }
    world.variables["XDG_RUNTIME_DIR"] = base
    let lines = world.run("doctor").lines.filter { $0.contains(base) && $0.hasPrefix("note") }
    #expect(lines.count == 1)
    #expect(lines.first?.contains("\(base)/keytree-edit-old was left behind") == true)
    #expect(FileManager.default.fileExists(atPath: "\(base)/keytree-edit-old"), "looking changes nothing")
  }

  @Test(
    "and other commands tell what the work cost, also when they fail",
    arguments: [
      (["doctor"], false), (["trust"], false), (["check"], false), (["check", "--decrypt"], true),
      (["import", "csv", "/nonexistent"], true),
    ] as [([String], Bool)])
  func explain(words: [String], isBroken: Bool) throws {
    let world = try CareWorld()
    #expect(world.run("init", "--no-git").code == .done)
    if isBroken { world.variables["PATH"] = "/nonexistent" }
    let answer = world.run(["--explain"] + words)
    #expect((answer.code == .done) != isBroken, "\(answer.talk)")
    #expect(answer.talk.contains("explain: items decrypted: "))
    #expect(answer.talk.contains("explain: processes started: "))
  }
}
