import Foundation
import Keyring
import Testing

@testable import Sync

@Suite struct HistoryPackingTests {
  private func packs(_ world: SyncWorld) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(world.path)/.git/objects/pack")
      .filter { $0.hasSuffix(".pack") }
  }

  private func committer(_ world: SyncWorld) throws -> Committer {
    Committer(
      repository: try #require(try world.repository()), tree: try FileTree(at: world.path), timeout: 60,
      author: { nil })
  }

  @Test func `many packs are joined, and every object stays`() throws {
    let world = try SyncWorld.withHistory()
    for number in 0..<Repository.packLimit {
      try world.add("s\(number).example", "x")
      try world.commit()
    }
    let committer = try committer(world)
    #expect(try packs(world).count == Repository.packLimit + 1, "the first commit, and one for each item")
    let loose = try world.git(["hash-object", "-w", "--stdin"], input: "needed by no commit")
      .trimmingCharacters(in: .newlines)
    let objects = try world.lines("cat-file", "--batch-all-objects", "--batch-check")
    try committer.packHistory()
    #expect(try packs(world).count <= 2)
    #expect(try world.lines("cat-file", "--batch-all-objects", "--batch-check") == objects)
    #expect(try world.git(["cat-file", "-p", loose]) == "needed by no commit")
    #expect(try world.git(["fsck", "--strict", "--no-dangling"]) == "")
  }

  @Test func `few packs, and those of a repository that borrows objects, stay`() throws {
    let world = try SyncWorld.withHistory()
    let before = try packs(world)
    try committer(world).packHistory()
    #expect(try packs(world) == before)
    let lender = "\(world.path)/.git/lender"
    try world.git(["clone", "-q", "--bare", ".", lender])
    try Data("\(lender)/objects\n".utf8).write(
      to: URL(fileURLWithPath: "\(world.path)/.git/objects/info/alternates"))
    for number in 0...Repository.packLimit {
      try world.add("s\(number).example", "x")
      try world.commit()
    }
    let many = try packs(world)
    try committer(world).packHistory()
    #expect(try packs(world) == many && many.count > Repository.packLimit)
  }

  @Test func `what git says when packs cannot be joined is passed on, and the history stays`() throws {
    let world = try SyncWorld.withHistory()
    for number in 0..<Repository.packLimit {
      try world.add("s\(number).example", "x")
      try world.commit()
    }
    let folder = "\(world.path)/.git/objects/pack"
    let damaged = try #require(try packs(world).first)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(folder)/\(damaged)")
    let whole = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(damaged)"))
    try whole.dropLast(40).write(to: URL(fileURLWithPath: "\(folder)/\(damaged)"))
    #expect(throws: SyncError.self) { try committer(world).packHistory() }
    try whole.write(to: URL(fileURLWithPath: "\(folder)/\(damaged)"))
    #expect(try packs(world).count == Repository.packLimit + 1)
    #expect(try world.git(["fsck", "--strict"]) == "")
  }
}
