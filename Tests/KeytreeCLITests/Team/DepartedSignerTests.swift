import CommandSupport
import Foundation
import KeyringModel
import TestSupport
import Testing

/// Tests versions in the history whose signers have left since, or whose subkeys are revoked as compromised since.
@Suite(.serialized, .slow) struct DepartedSignerTests {
  private let team: TeamMachines

  init() throws { team = try TeamMachines.ofThree() }

  private func git(_ person: GnuPGKey, _ words: String...) throws -> String {
    let store = try #require(team.worlds[person]).store
    let options = ["-C", store, "-c", "user.name=C", "-c", "user.email=c@example.org"]
    let output = try GnuPGTool.run("git", options + words)
    return String(decoding: output, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? ""
  }

  /// Pushes a person's commit below a merge that has exactly the files of the remote, so that nothing has to be merged.
  ///
  /// - Returns: The commit.
  private func pushBelowMerge(_ person: GnuPGKey) throws -> String {
    _ = try git(person, "fetch", "-q", "origin")
    let commit = try git(person, "rev-parse", "HEAD")
    let merge = try git(
      person, "commit-tree", "origin/main^{tree}", "-p", "origin/main", "-p", commit, "-m", "merge")
    _ = try git(person, "push", "-q", "origin", "\(merge):main")
    return commit
  }

  private func expectRefused(_ words: [String], _ reason: String) {
    for person in [GnuPGKey.alice, .bob] {
      let answer = team.run(person, words)
      #expect(answer.code == .damaged, "\(person) \(words): \(answer.code) \(answer.text) \(answer.talk)")
      #expect(answer.talk.contains(reason), "\(person) \(words): \(answer.talk)")
    }
  }

  private func removeCarol() throws {
    try team.succeed(.alice, "group", "remove", "default", GnuPGKey.carol.fingerprint.text, "--all")
    try team.succeed(.alice, "sync")
  }

  @Test func `a record that a removed person commits with the old policy is not in the history of the item`()
    throws
  {
    try removeCarol()
    try team.succeed(.carol, "set", "a.example/me", "--secret", input: "stolen")
    let commit = try pushBelowMerge(.carol)
    for person in [GnuPGKey.alice, .bob] { try team.succeed(person, "sync") }
    let reason = "its record is not signed by a member of its group"
    expectRefused(["get", "a.example/me", "--at", commit], reason)
    #expect(try team.succeed(.alice, "get", "a.example/me").text == "one")
  }

  @Test func `a deleted item comes back without the version of a removed person`() throws {
    try removeCarol()
    try team.succeed(.alice, "rm", "a.example/me")
    try team.succeed(.alice, "sync")
    try team.succeed(.carol, "set", "a.example/me", "--secret", input: "stolen")
    _ = try pushBelowMerge(.carol)
    for person in [GnuPGKey.alice, .bob] { try team.succeed(person, "sync") }
    try team.succeed(.alice, "undelete", "a.example/me")
    #expect(try team.succeed(.alice, "get", "a.example/me").text == "one")
  }

  @Test func `a removed person who commits the newer policy, too, gains nothing`() throws {
    try removeCarol()
    try team.succeed(.carol, "set", "a.example/me", "--secret", input: "stolen")
    let commit = try git(.carol, "rev-parse", "HEAD")
    _ = try git(.carol, "fetch", "-q", "origin")
    // The newer policy on top of the record looks as if its signer had seen the record.
    let copy = try git(.carol, "commit-tree", "origin/main^{tree}", "-p", commit, "-m", "policy")
    let merge = try git(
      .carol, "commit-tree", "origin/main^{tree}", "-p", "origin/main", "-p", copy, "-m", "merge")
    _ = try git(.carol, "push", "-q", "origin", "\(merge):main")
    for person in [GnuPGKey.alice, .bob] { try team.succeed(person, "sync") }
    expectRefused(
      ["get", "a.example/me", "--at", commit], "its record is not signed by a member of its group")
  }

  @Test func `a version of a former member is read in a commit that does not know of the removal yet`() throws
  {
    try team.succeed(.carol, "add", "c.example/me", input: "of carol")
    for person in [GnuPGKey.carol, .alice, .bob] { try team.succeed(person, "sync") }
    try removeCarol()
    try team.succeed(.bob, "add", "b.example/me", input: "of bob")
    let commit = try git(.bob, "rev-parse", "HEAD")
    for person in [GnuPGKey.bob, .alice] { try team.succeed(person, "sync") }
    for person in [GnuPGKey.alice, .bob] {
      #expect(try team.succeed(person, "get", "c.example/me", "--at", commit).text == "of carol")
    }
  }

  // MARK: Compromised subkeys

  /// Lets Carol sign with a new subkey, and revokes that.
  ///
  /// - Returns: The subkey.
  private func makeCompromisedVersion() throws -> String {
    let carol = GnuPGKey.carol.fingerprint.text
    try team.change(.carol, ["--quick-add-key", carol, "ed25519", "sign"])
    let listing = String(
      decoding: try team.gnupg(.carol).run(["--with-colons", "--list-keys", carol]), as: UTF8.self)
    let subkey =
      try #require(listing.split(separator: "\n").last { $0.hasPrefix("fpr:") })
      .split(separator: ":").last.map(String.init) ?? ""
    try team.succeed(.alice, "group", "refresh", try team.export(.carol), "--fingerprint", carol)
    try team.succeed(.alice, "sync")
    try team.succeed(.carol, "sync")
    try team.succeed(.carol, "add", "c.example/me", input: "of carol")
    try team.succeed(.carol, "sync")
    return subkey
  }

  private func revoke() throws {
    let carol = GnuPGKey.carol.fingerprint.text
    try team.edit(.carol, ["key 2", "revkey", "y", "1", "", "y"])
    try team.succeed(.alice, "group", "refresh", try team.export(.carol), "--fingerprint", carol)
    try team.succeed(.alice, "sync")
    try team.succeed(.bob, "sync")
  }

  @Test func `an item that a compromised subkey has signed is restored only after a question`() throws {
    let subkey = try makeCompromisedVersion()
    try team.succeed(.alice, "sync")
    try team.succeed(.alice, "rm", "c.example/me")
    try team.succeed(.alice, "sync")
    try revoke()
    expectRefused(["undelete", "c.example/me"], "\(subkey), which is revoked as compromised")
    #expect(team.run(.alice, ["undelete", "c.example/me"]).talk.contains("`keytree undelete ITEM --sign`"))
    let asked = team.run(.alice, ["undelete", "c.example/me", "--sign"])
    #expect(asked.code == .cancelled, "\(asked.talk)")
    #expect(asked.talk.contains("`--sign=\(subkey)`"), "\(asked.talk)")
    let other = team.run(.alice, ["undelete", "c.example/me", "--sign=\(GnuPGKey.alice.fingerprint.text)"])
    #expect(other.code == .cancelled, "\(other.talk)")
    #expect(team.run(.alice, ["undelete", "c.example/me", "--sign=X"]).code == .usage)
    let declined = team.run(.alice, ["undelete", "c.example/me", "--sign"], answers: ["n"])
    #expect(declined.code == .cancelled, "\(declined.talk)")
    #expect(team.run(.alice, ["get", "c.example/me"]).code == .notFound)
    let restored = team.run(.alice, ["undelete", "c.example/me", "--sign"], answers: ["y"])
    #expect(restored.code == .done, "\(restored.talk)")
    #expect(restored.talk.contains("a revoked subkey of Carol Example"), "\(restored.talk)")
    try team.succeed(.alice, "sync")
    try team.succeed(.bob, "sync")
    for person in [GnuPGKey.alice, .bob] {
      #expect(try team.succeed(person, "get", "c.example/me").text == "of carol")
      try team.succeed(person, "verify")
    }
  }

  @Test func `an item by a compromised subkey is restored with its fingerprint by a script`() throws {
    let subkey = try makeCompromisedVersion()
    try team.succeed(.alice, "sync")
    try team.succeed(.alice, "rm", "c.example/me")
    try revoke()
    try team.succeed(.alice, "undelete", "c.example/me", "--sign=\(subkey)")
    #expect(try team.succeed(.alice, "get", "c.example/me").text == "of carol")
    try team.succeed(.alice, "check", "--decrypt")
  }

  @Test func `a thief's record with the policy from before the revocation is never restored`() throws {
    let subkey = try makeCompromisedVersion()
    try team.succeed(.alice, "sync")
    try team.succeed(.carol, "sync")
    // The thief has copied Carol's machine, which does not know the revocation yet.
    let thief = try #require(team.worlds[.carol]).store
    try team.succeed(.carol, "set", "c.example/me", "--secret", input: "stolen")
    let late = try git(.carol, "rev-parse", "HEAD")
    _ = try GnuPGTool.run("git", ["-C", thief, "reset", "-q", "--hard", "HEAD~1"])
    try team.succeed(.alice, "rm", "c.example/me")
    try team.succeed(.alice, "sync")
    try revoke()
    _ = try git(.carol, "reset", "-q", "--hard", late)
    let commit = try pushBelowMerge(.carol)
    for person in [GnuPGKey.alice, .bob] { try team.succeed(person, "sync") }
    expectRefused(["get", "c.example/me", "--at", commit], "which is revoked as compromised")
    try team.succeed(.alice, "undelete", "c.example/me", "--sign=\(subkey)")
    #expect(try team.succeed(.alice, "get", "c.example/me").text == "of carol")
  }

  @Test func `a compromised subkey of a former member is refused, too`() throws {
    _ = try makeCompromisedVersion()
    try team.succeed(.alice, "sync")
    let store = try #require(team.worlds[.alice]).store
    let commits = try GnuPGTool.run("git", ["-C", store, "rev-parse", "HEAD"])
    let commit = String(decoding: commits.dropLast(), as: UTF8.self)
    try revoke()
    try removeCarol()
    try team.succeed(.bob, "sync")
    expectRefused(["get", "c.example/me", "--at", commit], "which is revoked as compromised")
  }
}
