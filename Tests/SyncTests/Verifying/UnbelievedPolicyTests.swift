import Foundation
import Keyring
import KeyringModel
import Sync
import TestSupport
import Testing

/// A push can bring any amount of policies that no admin has signed (threat T46). They must not stop the checks of
/// later, valid policies.
@Suite("Policies that are not believed", .serialized) struct UnbelievedPolicyTests {
  private static let alice = EngineDouble.fingerprint(1)
  private static let bob = EngineDouble.fingerprint(2)
  /// Far more than all valid policies of these tests together, and less than the invalid ones.
  private static let limit = 8 << 10

  @Test func `many unsigned policies are reported, and do not stop the check of later ones`() throws {
    let scribe = try PolicyHistoryBuilder()
    try scribe.flood(6)
    try scribe.add(Self.bob, by: Self.alice)
    let history = try scribe.history(limit: Self.limit)
    let problems = [.badSignature] + (3...7).map { ChainProblem.skipped(generation: $0, before: 1) }
    #expect(history.findings.map(\.kind) == problems.map { .chain($0) })
    #expect(Set(history.findings.map(\.commit)).count == 6)
    #expect(history.last?.bytes == (try scribe.bytes("policy.json")) && history.count == 2)
    // A check that begins later does not read them at all.
    #expect(try scribe.history(trusting: "HEAD~1", limit: Self.limit).findings == [])
  }

  @Test func `a policy that was left out is reported once, while later commits still have it`() throws {
    let scribe = try PolicyHistoryBuilder()
    try scribe.edit([.create(group: "ops")], by: nil)
    try scribe.touch("one")
    try scribe.touch("two")
    try scribe.restore("HEAD~3")
    try scribe.edit([.create(group: "dev")], by: Self.alice)
    #expect(try scribe.history().findings.map(\.kind) == [.chain(.badSignature)])
  }

  @Test func `an oversized policy is reported, and does not stop the check of later ones`() throws {
    let scribe = try PolicyHistoryBuilder()
    let good = String(decoding: try scribe.bytes("policy.json"), as: UTF8.self)
    try scribe.put("policy.json", String(repeating: "x", count: Policy.maximumSize + 1))
    try scribe.put("policy.json", good)
    try scribe.add(Self.bob, by: Self.alice)
    let problem = ChainProblem.unreadable(.malformed(.tooLarge(limit: Policy.maximumSize)))
    #expect(try scribe.history().findings.map(\.kind) == [.chain(problem)])
  }

  @Test func `too many key files do not stop the check of later policies`() throws {
    let scribe = try PolicyHistoryBuilder()
    let good = String(decoding: try scribe.bytes("policy.json"), as: UTF8.self)
    let people = (20..<37).map { EngineDouble.fingerprint(UInt8($0)) }
    try scribe.write(
      people.map { .add($0, name: "P", role: .member, key: ContentDigest(of: [2]), encryptTo: [$0]) }, by: nil
    )
    for person in people { try scribe.fill(StoreLayout.keyFile(person), size: 256 << 10) }
    try scribe.touch("README")
    for person in people { try scribe.remove(StoreLayout.keyFile(person)) }
    try scribe.put("policy.json", good)
    try scribe.add(Self.bob, by: Self.alice)
    #expect(try scribe.history().findings.map(\.kind) == [.chain(.badSignature)])
  }

  @Test func `the policies since the accepted one are found among many unsigned ones`() throws {
    let scribe = try PolicyHistoryBuilder()
    try scribe.add(Self.bob, by: Self.alice)
    let middle = try scribe.bytes("policy.json")
    try scribe.flood(6)
    // A wrong signature of the same policy is newer than the right one.
    let signature = String(decoding: try scribe.bytes("policy.json.asc"), as: UTF8.self)
    try scribe.put("policy.json.asc", "no\n")
    try scribe.put("policy.json.asc", signature)
    try scribe.edit([.create(group: "ops")], by: Self.alice)
    let steps = try PolicyHistoryReader(in: #require(try scribe.world.repository()), limit: Self.limit)
      .steps()
    let step = steps[ContentDigest(of: middle)]
    #expect(step?.bytes == middle && step?.signature == Array(signature.utf8))
  }

  /// A push whose first parent is an unrelated commit with the same policy and another signature.
  @Test func `every signature and set of key files of a policy is found, also in an unrelated first commit`()
    throws
  {
    let scribe = try PolicyHistoryBuilder()
    try scribe.add(Self.bob, by: Self.alice)
    let policy = try scribe.bytes("policy.json")
    let signature = try scribe.bytes("policy.json.asc")
    let key = StoreLayout.keyFile(Self.bob)
    try scribe.world.git(["checkout", "-q", "--orphan", "other"])
    try scribe.put("policy.json.asc", "no\n")
    try scribe.put(key, "x")
    try scribe.world.git(["merge", "-q", "--allow-unrelated-histories", "-s", "ours", "-m", "x", "main"])
    try scribe.restore("main")
    let steps = try PolicyHistoryReader(in: #require(try scribe.world.repository())).steps()
    let versions = Array(steps.versions(of: ContentDigest(of: policy)))
    #expect(versions.allSatisfy { $0.bytes == policy })
    #expect(versions.contains { $0.signature == signature && $0.keys[Self.bob] == [2] })
    #expect(versions.contains { $0.signature == Array("no\n".utf8) && $0.keys[Self.bob] == [2] })
    #expect(versions.contains { $0.signature == Array("no\n".utf8) && $0.keys[Self.bob] == Array("x".utf8) })
  }
}
