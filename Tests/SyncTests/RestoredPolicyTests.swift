import Foundation
import Keyring
import KeyringModel
import Sync
import TestSupport
import Testing

/// Tests what a push must not change about a removed person.
@Suite(.slow) struct RestoredPolicyTests {
  @Test
  func `the key file of a removed person, which shows whose subkeys they are, cannot be removed by a push`()
    throws
  {
    let world = try SimulatedWorld()
    let (alice, carol, bob) = (world.seats[0], world.seats[1], world.seats[2])
    try world.add("old", at: alice)
    try world.change([.remove(bob.person)], at: alice)
    try world.sync(alice)
    try world.sync(carol)
    let file = StoreLayout.keyFile(bob.person)
    try world.git(["rm", "-q", file], in: carol.path)
    try world.git(["commit", "-q", "--message", "remove"], in: carol.path)
    try world.git(["push", "-q", "origin", "HEAD"], in: carol.path)
    let report = try world.sync(alice)
    #expect(report.refused.filter { $0.path == file }.map(\.reason) == [.needed])
    #expect(FileManager.default.fileExists(atPath: "\(alice.path)/\(file)"))
    try world.sync(carol)
    #expect(FileManager.default.fileExists(atPath: "\(carol.path)/\(file)"))
  }

  @Test func `a restored policy in a common commit does not admit changes of a removed person`() throws {
    let world = try SimulatedWorld()
    let (alice, bob) = (world.seats[0], world.seats[2])
    try world.add("old", at: alice)
    for seat in [alice, bob] { try world.sync(seat) }
    let before = try world.git(["rev-parse", "HEAD"], in: bob.path).trimmingCharacters(in: .newlines)
    try world.change([.remove(bob.person)], at: alice)
    try world.sync(alice)
    let removal = try world.git(["rev-parse", "HEAD"], in: alice.path).trimmingCharacters(in: .newlines)
    // Bob changes the item under the policy that he has accepted, and keeps that.
    try world.replace("of Bob", at: bob)
    let change = try world.git(["rev-parse", "HEAD"], in: bob.path).trimmingCharacters(in: .newlines)
    try world.git(["fetch", "-q"], in: bob.path)
    try world.git(["reset", "-q", "--hard", "origin/main"], in: bob.path)
    let policy = [StoreLayout.policy, StoreLayout.policySignature, StoreLayout.keys]
    try world.git(["checkout", "-q", before, "--"] + policy, in: bob.path)
    try world.git(["commit", "-q", "--all", "--message", "restore"], in: bob.path)
    try world.git(["push", "-q", "origin", "main"], in: bob.path)
    // Alice merges this with plain git.
    try world.git(["pull", "-q", "--ff-only", "origin", "main"], in: alice.path)
    let restored = try world.git(["rev-parse", "HEAD"], in: bob.path).trimmingCharacters(in: .newlines)
    try #require(try world.git(["merge-base", "HEAD", restored], in: alice.path) == restored + "\n")
    // Alice takes the restored policy back.
    try world.git(["checkout", "-q", removal, "--"] + policy, in: alice.path)
    try world.git(["commit", "-q", "--all", "--message", "take back"], in: alice.path)
    try #require(try alice.open().distrust == nil)
    try world.git(["checkout", "-q", change, "--", StoreLayout.items], in: bob.path)
    try world.git(["commit", "-q", "--all", "--message", "change"], in: bob.path)
    try world.git(["push", "-q", "origin", "main"], in: bob.path)
    let report = try world.sync(alice)
    #expect(report.signedAgain == 0)
    #expect(report.refused.map(\.reason).contains(.record(.damage(.badSignature))))
    #expect(try Set(world.texts(alice).keys) == ["old"])
    #expect(try alice.open().check().findings.isEmpty)
  }
}
