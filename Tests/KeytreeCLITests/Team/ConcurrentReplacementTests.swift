import CommandSupport
import Foundation
import KeyringModel
import TestSupport
import Testing

/// Tests `group replace` while another admin changes the people concurrently.
@Suite(.serialized, .slow) struct ConcurrentReplacementTests {
  private let team: TeamMachines
  private let new = GnuPGKey.rsa.fingerprint.text

  init() throws { team = try TeamMachines.ofThree() }

  /// Gives a person the key of `rsa` as their second one, and replaces their first one by it.
  private func replace(_ person: GnuPGKey, by admin: GnuPGKey, _ more: [String] = []) throws {
    try team.gnupg(person).run(
      ["--pinentry-mode", "loopback", "--import"], input: GnuPGKey.rsa.secretKey)
    let words = [
      "group", "replace", person.fingerprint.text, try team.keyFile(.rsa), "--fingerprint", new,
    ]
    let answer = team.run(admin, words + more)
    #expect(answer.code == .done, "\(answer.talk)")
  }

  /// Changes the groups of a machine, and pushes the change with an item.
  private func changeGroups(_ person: GnuPGKey, group: String = "ops") throws {
    try team.succeed(person, "group", "create", group)
    try team.succeed(person, "add", "b.example/me", "-g", "default", input: "two")
    try team.succeed(person, "sync")
  }

  /// Expects that every machine has the changes of both sides, reads the items and finds nothing wrong.
  private func expectBothChanges(
    replaced: GnuPGKey, items: [String: String], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for person in [GnuPGKey.alice, .bob, .carol] + [.alice, .bob] {
      let answer = try team.succeed(person, "sync")
      #expect(!answer.talk.contains("refused"), "\(person): \(answer.talk)", sourceLocation: sourceLocation)
    }
    for person in [GnuPGKey.alice, .bob, .carol] {
      let members = try team.succeed(person, "group", "show", "default").text
      #expect(members.contains(new), "\(person): \(members)", sourceLocation: sourceLocation)
      #expect(
        !members.contains(replaced.fingerprint.text), "\(person): \(members)", sourceLocation: sourceLocation)
      #expect(
        try team.succeed(person, "group", "list").text.contains("ops"), sourceLocation: sourceLocation)
      for (name, secret) in items {
        let answer = team.run(person, ["get", name])
        #expect(answer.text == secret, "\(person): \(answer.talk)", sourceLocation: sourceLocation)
      }
      let verify = team.run(person, ["verify"])
      #expect(
        verify.code == .done, "\(person): \(verify.text) \(verify.talk)", sourceLocation: sourceLocation)
      try team.succeed(person, "check", "--decrypt")
    }
    #expect(
      try team.succeed(.alice, "rotate", "status").text == "", "The person stays a reader.",
      sourceLocation: sourceLocation)
  }

  @Test func `an admin reapplies the replacement of their own key to the groups of another admin`() throws {
    try replace(.alice, by: .alice)
    try team.succeed(.alice, "add", "c.example/me", input: "three")
    try team.succeed(.alice, "set", "a.example/me", "--secret", input: "changed")
    try changeGroups(.bob)
    let refused = team.run(.alice, ["sync"])
    #expect(refused.code == .gitFailed && refused.talk.contains("--reapply"), "\(refused.talk)")
    let answer = try team.succeed(.alice, "sync", "--reapply")
    #expect(answer.talk.contains("Reapplied your changes"), "\(answer.talk)")
    #expect(!answer.talk.contains("warning"), "\(answer.talk)")
    try expectBothChanges(
      replaced: .alice, items: ["a.example/me": "changed", "b.example/me": "two", "c.example/me": "three"])
  }

  @Test(arguments: [[], ["--compromised"]])
  func `late machines and newcomers accept a reapplied replacement, also after the new key has changed`(
    more: [String]
  ) throws {
    try replace(.alice, by: .alice, more)
    try changeGroups(.bob)
    let answer = team.run(.alice, ["sync", "--reapply"], answers: ["y", "y"])
    #expect(answer.code == .done, "\(answer.talk)")
    try team.change(.alice, ["--quick-set-expire", new, "5y"])
    let refreshed = team.run(.alice, ["group", "refresh"])
    #expect(refreshed.code == .done && refreshed.talk.contains("Renewed the key"), "\(refreshed.talk)")
    try team.succeed(.alice, "sync")
    try team.succeed(.bob, "sync")
    try team.succeed(
      .bob, "group", "add", "default", try team.keyFile(.dave), "--fingerprint",
      GnuPGKey.dave.fingerprint.text)
    try team.succeed(.bob, "sync")
    try team.succeed(.carol, "sync")
    try team.succeed(.dave, "clone", team.hub, "--fingerprint", GnuPGKey.bob.fingerprint.text)
    try team.succeed(.alice, "sync")
    for person in [GnuPGKey.alice, .bob, .carol, .dave] {
      let members = try team.succeed(person, "group", "show", "default").text
      #expect(members.contains(new) && members.contains("Dave"), "\(person): \(members)")
      #expect(try team.succeed(person, "get", "a.example/me").text == "one")
      let verify = team.run(person, ["verify"])
      #expect(verify.code == .done, "\(person): \(verify.text) \(verify.talk)")
    }
    #expect(try team.succeed(.alice, "rotate", "status").text.isEmpty == more.isEmpty)
  }

  @Test(arguments: [[], ["--compromised"]])
  func `a replacement that was reapplied by half is not sent, and is completed by the next run`(
    more: [String]
  ) throws {
    try replace(.alice, by: .alice, more)
    try team.succeed(.alice, "add", "c.example/me", input: "three")
    // The first policy adds the new key. The second one needs its secret.
    try team.gnupg(.alice).run(["--delete-secret-keys", new])
    try changeGroups(.bob)
    let first = team.run(.alice, ["sync", "--reapply"], answers: ["y", "y"])
    #expect(first.code == .failure, "\(first.talk)")
    let sent = team.run(.alice, ["sync"])
    #expect(sent.code == .policyNotTrusted && !sent.talk.contains("Sent"), "\(sent.talk)")
    try team.succeed(.bob, "sync")
    #expect(!(try team.succeed(.bob, "group", "show", "default").text.contains(new)))
    try team.gnupg(.alice).run(
      ["--pinentry-mode", "loopback", "--import"], input: GnuPGKey.rsa.secretKey)
    let second = team.run(.alice, ["sync", "--reapply"], answers: ["y", "y"])
    #expect(second.code == .done && second.talk.contains("Reapplied your changes"), "\(second.talk)")
    for person in [GnuPGKey.bob, .carol, .alice] {
      try team.succeed(person, "sync")
      let members = try team.succeed(person, "group", "show", "default").text
      #expect(members.contains(new) && !members.contains(GnuPGKey.alice.fingerprint.text), "\(members)")
      for (name, secret) in ["a.example/me": "one", "b.example/me": "two", "c.example/me": "three"] {
        let answer = team.run(person, ["get", name])
        #expect(answer.text == secret, "\(person): \(answer.talk)")
      }
      try team.succeed(person, "verify")
    }
  }

  @Test(arguments: [[], ["--compromised"]])
  func `a person who was removed on the remote does not return with a new key`(more: [String]) throws {
    let carol = GnuPGKey.carol.fingerprint.text
    try team.succeed(.bob, "group", "remove", "default", carol, "--all")
    try team.succeed(.bob, "sync")
    let words = ["group", "replace", carol, try team.keyFile(.rsa), "--fingerprint", new]
    #expect(team.run(.alice, words + more).code == .done)
    let answer = team.run(.alice, ["sync", "--reapply"], answers: ["y", "y"])
    #expect(answer.code == .done && answer.talk.contains("an admin has removed that key"), "\(answer.talk)")
    for person in [GnuPGKey.alice, .bob] {
      try team.succeed(person, "sync")
      #expect(!(try team.succeed(person, "group", "show", "default").text.contains(new)))
      #expect(!(try team.succeed(person, "who", "a.example/me").text.contains("Rsa")))
    }
  }

  @Test(arguments: [[], ["--compromised"]])
  func `a person is removed although the remote has replaced their key`(more: [String]) throws {
    let carol = GnuPGKey.carol.fingerprint.text
    let words = ["group", "replace", carol, try team.keyFile(.rsa), "--fingerprint", new]
    #expect(team.run(.bob, words + more).code == .done)
    try team.succeed(.bob, "sync")
    try team.succeed(.alice, "group", "remove", "default", carol, "--all")
    let answer = team.run(.alice, ["sync", "--reapply"], answers: ["y", "y"])
    #expect(answer.code == .done, "\(answer.talk)")
    for person in [GnuPGKey.bob, .alice] {
      try team.succeed(person, "sync")
      #expect(!(try team.succeed(person, "group", "show", "default").text.contains(new)))
      #expect(!(try team.succeed(person, "who", "a.example/me").text.contains("Rsa")))
      try team.succeed(person, "verify")
    }
  }

  @Test func `a group that was deleted on the remote stays with the items that were stored in it`() throws {
    let carol = GnuPGKey.carol.fingerprint.text
    try team.succeed(.alice, "group", "create", "web")
    for person in [GnuPGKey.alice, .bob] { try team.succeed(person, "sync") }
    try team.succeed(.bob, "group", "delete", "web")
    try team.succeed(.bob, "sync")
    try team.succeed(.alice, "group", "add", "web", carol, "--fingerprint", carol)
    try team.succeed(.alice, "add", "w.example/me", "-g", "web", input: "web")
    let answer = team.run(.alice, ["sync", "--reapply"], answers: ["y", "y"])
    #expect(answer.code == .done && answer.talk.contains("the group \"web\" is kept"), "\(answer.talk)")
    for person in [GnuPGKey.bob, .carol, .alice] { try team.succeed(person, "sync") }
    #expect(try team.succeed(.carol, "get", "w.example/me").text == "web")
    try team.succeed(.bob, "verify")
  }

  @Test func `a group into which the remote has stored an item is not deleted`() throws {
    try team.succeed(.alice, "group", "create", "web")
    try team.succeed(
      .alice, "group", "add", "web", GnuPGKey.bob.fingerprint.text, "--fingerprint",
      GnuPGKey.bob.fingerprint.text)
    for person in [GnuPGKey.alice, .bob] { try team.succeed(person, "sync") }
    try team.succeed(.bob, "add", "w.example/me", "-g", "web", input: "web")
    try team.succeed(.bob, "group", "create", "ops")
    try team.succeed(.bob, "sync")
    try team.succeed(.alice, "group", "delete", "web")
    let answer = team.run(.alice, ["sync", "--reapply"], answers: ["y", "y"])
    #expect(answer.code == .done && answer.talk.contains("is not deleted"), "\(answer.talk)")
    for person in [GnuPGKey.bob, .alice] { try team.succeed(person, "sync") }
    #expect(try team.succeed(.alice, "get", "w.example/me").text == "web")
    try team.succeed(.bob, "verify")
  }

  @Test func `an admin reapplies their groups to the replaced key of another admin`() throws {
    try team.succeed(.alice, "group", "create", "ops")
    try team.succeed(.alice, "add", "c.example/me", "-g", "default", input: "three")
    try replace(.bob, by: .bob)
    try team.succeed(.bob, "add", "b.example/me", input: "two")
    try team.succeed(.bob, "sync")
    let answer = team.run(.alice, ["sync", "--reapply"], answers: ["y", "y"])
    #expect(answer.code == .done && answer.talk.contains("Reapplied your changes"), "\(answer.talk)")
    try expectBothChanges(
      replaced: .bob, items: ["a.example/me": "one", "b.example/me": "two", "c.example/me": "three"])
  }

  @Test func `an admin replaces the key of another admin, who changes the groups with the old one`() throws {
    try replace(.bob, by: .alice)
    try team.succeed(.alice, "group", "create", "ops")
    try team.succeed(.alice, "add", "c.example/me", "-g", "default", input: "three")
    try changeGroups(.bob, group: "web")
    try team.gnupg(.bob).run(["--pinentry-mode", "loopback", "--import"], input: GnuPGKey.rsa.secretKey)
    // The old key may be used by a person who should not have it, so its concurrent policies do not count.
    let refused = team.run(.alice, ["sync", "--reapply"], answers: ["y", "y"])
    #expect(
      refused.code == .policyNotTrusted && refused.talk.contains("`keytree sync --keep-policy`"),
      "\(refused.talk)")
    let kept = team.run(.alice, ["sync", "--keep-policy"], answers: ["y", "y"])
    #expect(kept.code == .done, "\(kept.talk)")
    for person in [GnuPGKey.bob, .carol] {
      let accepted = team.run(person, ["trust"], answers: ["y"])
      #expect(accepted.code == .done, "\(accepted.talk)")
    }
    try expectBothChanges(
      replaced: .bob, items: ["a.example/me": "one", "b.example/me": "two", "c.example/me": "three"])
  }

  @Test func `an admin whose key was replaced elsewhere reapplies their groups with the new key`() throws {
    try replace(.bob, by: .alice)
    try team.succeed(.alice, "add", "b.example/me", input: "two")
    try team.succeed(.alice, "sync")
    try team.gnupg(.bob).run(["--pinentry-mode", "loopback", "--import"], input: GnuPGKey.rsa.secretKey)
    try team.succeed(.bob, "group", "create", "ops")
    try team.succeed(.bob, "add", "c.example/me", "-g", "default", input: "three")
    let answer = team.run(.bob, ["sync", "--reapply"], answers: ["y", "y"])
    #expect(answer.code == .done && answer.talk.contains("Reapplied your changes"), "\(answer.talk)")
    try expectBothChanges(
      replaced: .bob, items: ["a.example/me": "one", "b.example/me": "two", "c.example/me": "three"])
  }

  @Test func `a replacement that its author cannot sign any more is left to another admin`() throws {
    try replace(.alice, by: .alice)
    try team.succeed(.alice, "add", "c.example/me", input: "three")
    try team.gnupg(.alice).run(["--delete-secret-keys", GnuPGKey.alice.fingerprint.text])
    try changeGroups(.bob)
    let answer = team.run(.alice, ["sync", "--reapply"], answers: ["y", "y"])
    #expect(answer.code == .recipientUnusable, "\(answer.talk)")
    #expect(
      answer.talk.contains("keytree group replace \(GnuPGKey.alice.fingerprint.text) FILE"), "\(answer.talk)")
    // The other admin replaces the key, and nothing is lost.
    try team.succeed(
      .bob, "group", "replace", GnuPGKey.alice.fingerprint.text, try team.keyFile(.rsa), "--fingerprint", new)
    try team.succeed(.bob, "sync")
    let again = team.run(.alice, ["sync", "--reapply"], answers: ["y", "y"])
    #expect(again.code == .done, "\(again.talk)")
    try expectBothChanges(
      replaced: .alice, items: ["a.example/me": "one", "b.example/me": "two", "c.example/me": "three"])
  }
}
