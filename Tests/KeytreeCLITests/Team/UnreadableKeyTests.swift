import CommandSupport
import Encoding
import Foundation
import KeyringModel
import TestSupport
import Testing

/// A team with a person whose key has a packet of version 5, which GnuPG 2.2 cannot read, and a member who has that GnuPG.
@Suite(.serialized, .enabled(if: NewerKey.needsNewerGnuPG, "this GnuPG reads packets of version 5"))
struct UnreadableKeyTests {
  private static let name = "Bob Example <bob@keytree.example>"
  private static let needed = "GnuPG 2.5 or later"
  private let team: TeamMachines
  private let bobStore: String

  /// Makes a team of which Carol has accepted the policy with Bob's new key. Bob has changes that nobody has received.
  init() throws {
    team = try TeamMachines([.alice, .bob, .carol])
    try team.succeed(.alice, "add", "github.com/one", input: "s1")
    try team.succeed(
      .alice, "group", "add", "default", try team.keyFile(.carol), "--fingerprint",
      GnuPGKey.carol.fingerprint.text)
    try team.welcome(.bob)
    let (alice, bob) = try (#require(team.worlds[.alice]), #require(team.worlds[.bob]))
    bobStore = bob.store
    try team.succeed(.bob, "set", "github.com/one", "--secret", input: "s1b")
    try team.succeed(.bob, "add", "github.com/two", input: "s2")
    // A newer GnuPG has added a Kyber subkey to Bob's key, and an admin with that GnuPG has imported it.
    let kyber = Armor.binary(try NewerKey.kyber.publicKey, .publicKey)
    let file =
      Armor.binary(GnuPGKey.bob.publicKey, .publicKey) + kyber.suffix(from: try Self.subkey(in: kyber))
    let forge = PolicyForge(alice.gnupg, store: alice.store)
    try forge.write(file, to: "keys/\(GnuPGKey.bob.fingerprint.text).asc")
    try forge.succeed([], by: .alice) { $0.people[GnuPGKey.bob.fingerprint]?.key = ContentDigest(of: file) }
    try git("-C", alice.store, "commit", "-q", "-a", "-m", "policy")
    try git("-C", alice.store, "push", "-q", "origin", "main")
    try team.succeed(.carol, "clone", team.hub, "--fingerprint", GnuPGKey.alice.fingerprint.text)
  }

  /// Returns the position of the first packet of version 5, the subkey.
  private static func subkey(in key: [UInt8]) throws -> Int {
    // The old format of the header of tag 14, with a length of two bytes.
    try #require(key.indices.dropLast(3).first { key[$0] == 0xB9 && key[$0 + 3] == 5 })
  }

  @discardableResult
  private func git(_ words: String...) throws -> String {
    let person = ["-c", "user.name=P", "-c", "user.email=p@example.org"]
    return String(decoding: try GnuPGTool.run("git", person + words), as: UTF8.self)
  }

  /// Sends Bob's changes as his machine would have sent them.
  private func sendChanges() throws {
    let folder = ScratchFolder()
    let clone = "\(folder.path)/clone"
    try git("clone", "-q", team.hub, clone)
    try git("-C", clone, "fetch", "-q", bobStore, "main")
    try git("-C", clone, "checkout", "-q", "FETCH_HEAD", "--", "items", "index")
    try git("-C", clone, "commit", "-q", "-m", "Bob's changes")
    try git("-C", clone, "push", "-q", "origin", "HEAD:main")
  }

  private func expectNeed(_ answer: MaintenanceFixture.Answer, _ comment: Comment? = nil) {
    #expect(answer.code == .recipientUnusable, comment)
    #expect(answer.talk.contains(Self.name) && answer.talk.contains(Self.needed), "\(answer.talk)")
    #expect(!(answer.talk + answer.text).contains("refused") && !answer.talk.contains("not signed"), comment)
  }

  @Test func `valid changes of a person whose key cannot be read here are not reverted for others`() throws {
    let carol = try #require(team.worlds[.carol])
    let before = try git("-C", carol.store, "rev-parse", "main")
    try sendChanges()
    let sent = try git("-C", team.hub, "rev-parse", "main")
    for words in [["sync"], ["sync"], ["sync", "--pull-only"]] {
      expectNeed(carol.run(words))
      #expect(try git("-C", team.hub, "rev-parse", "main") == sent)
      #expect(try git("-C", carol.store, "rev-parse", "main") == before)
    }
    #expect(carol.run("get", "github.com/one").text == "s1")
  }

  @Test func `nothing is added for a person whose key cannot be read here, and nothing is sent`() throws {
    let carol = try #require(team.worlds[.carol])
    expectNeed(carol.run("add", "new.example/me", input: [1]))
    #expect(carol.run("set", "github.com/one", "--label", "x").code == .done)
    expectNeed(carol.run("sync"))
    #expect(try git("-C", team.hub, "rev-parse", "main") != git("-C", carol.store, "rev-parse", "main"))
  }

  @Test(arguments: ["check", "verify"])
  func `reports name the GnuPG that is needed, and do not call the key file empty or the items unsigned`(
    command: String
  ) throws {
    let carol = try #require(team.worlds[.carol])
    let before = carol.run(command)
    #expect(before.code == .failedChecks && before.text.contains(Self.needed), "\(before)")
    #expect(!before.text.contains("contains no key"), "\(before.text)")
    // Plain git brings the other person's changes.
    try sendChanges()
    try git("-C", carol.store, "fetch", "-q", "origin", "main")
    try git("-C", carol.store, "checkout", "-q", "FETCH_HEAD", "--", "items", "index")
    expectNeed(carol.run(command))
    expectNeed(carol.run("get", "github.com/two"))
  }

  @Test func `doctor and group add name the GnuPG that is needed`() throws {
    let carol = try #require(team.worlds[.carol])
    let doctor = carol.run("doctor")
    #expect(doctor.text.contains("cannot read it: it needs \(Self.needed)"), "\(doctor.text)")
    #expect(!doctor.text.contains("does not contain it"))
    let alice = try #require(team.worlds[.alice])
    let added = alice.run("group", "add", "default", NewerKey.path("kyber.public.asc"), "--no-input")
    #expect(added.code != .done && added.talk.contains(Self.needed), "\(added.talk)")
  }
}
