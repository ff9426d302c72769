import Foundation
import Keyring
import KeyringModel
import Sync
import TestSupport
import Testing

/// Tests histories of policies that are made with real git and signed by a stand-in for GnuPG.
@Suite("Policies of a history", .serialized, .slow) struct PolicyHistoryTests {
  /// The steps of a history, and its problems.
  struct Story: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let problems: [ChainProblem]
    let steps: @Sendable (PolicyHistoryBuilder) throws -> Void

    init(
      _ name: String, _ problems: [ChainProblem],
      _ steps: @escaping @Sendable (PolicyHistoryBuilder) throws -> Void
    ) {
      (testDescription, self.problems, self.steps) = (name, problems, steps)
    }
  }

  private static let alice = EngineDouble.fingerprint(1)
  private static let bob = EngineDouble.fingerprint(2)
  private static let carol = EngineDouble.fingerprint(3)
  private static let mallory = EngineDouble.fingerprint(9)

  static let good: [Story] = [
    Story("one policy", []) { _ in },
    Story("commits that change no policy", []) { try $0.touch("README") },
    Story("several policies in sequence", []) { scribe in
      try scribe.add(bob, .admin, by: alice)
      try scribe.edit([.create(group: "ops")], by: bob)
      try scribe.edit([.join(bob, group: "default")], by: bob)
      try scribe.edit([.remove(alice)], by: bob)
      try scribe.edit([.delete(group: "ops")], by: bob)
    },
    Story("branches with the same policy", []) { scribe in
      try scribe.add(bob, by: alice)
      try scribe.branch("side") { try scribe.touch("README.side") }
      try scribe.touch("README.main")
      try scribe.merge("side")
    },
    Story("a branch with an older policy, which the merge does not take", []) { scribe in
      try scribe.branch("side") { try scribe.touch("README.side") }
      try scribe.add(bob, by: alice)
      try scribe.edit([.create(group: "ops")], by: alice)
      try scribe.merge("side")
    },
    Story("a branch with newer policies", []) { scribe in
      try scribe.branch("side") {
        try scribe.add(bob, by: alice)
        try scribe.edit([.create(group: "ops")], by: alice)
      }
      try scribe.touch("README.main")
      try scribe.merge("side")
    },
    Story("a merge that has the next policy itself", []) { scribe in
      try scribe.branch("side") { try scribe.touch("README.side") }
      try scribe.add(bob, by: alice)
      try scribe.merge("side") { try scribe.write([.create(group: "ops")], by: alice) }
    },
    Story("the same policy signed again", []) { scribe in
      try scribe.add(bob, .admin, by: alice)
      try scribe.edit([.create(group: "ops")], by: alice)
      try scribe.sign(by: bob)
    },
  ]

  static let bad: [Story] = [
    Story("a change without a signature", [.badSignature]) { scribe in
      try scribe.edit([.create(group: "ops")], by: nil)
    },
    Story("a missing signature", [.unsigned]) { scribe in
      try scribe.edit([.create(group: "ops")], by: alice) { try scribe.remove("policy.json.asc") }
    },
    Story("a change of the signature only", [.badSignature]) { scribe in
      try scribe.edit([.create(group: "ops")], by: alice)
      try scribe.put("policy.json.asc", "\(alice.text) no\n")
    },
    Story("a member's signature", [.signedByMember(bob)]) { scribe in
      try scribe.add(bob, by: alice)
      try scribe.edit([.role(bob, .admin)], by: bob)
    },
    Story("a removed admin's signature", [.signedByRemoved(bob)]) { scribe in
      try scribe.add(bob, .admin, by: alice)
      try scribe.edit([.remove(bob)], by: alice)
      try scribe.edit([.create(group: "ops")], by: bob)
    },
    Story("a person who signs in order to add themselves", [.signedByStranger(mallory)]) { scribe in
      try scribe.add(mallory, .admin, by: mallory)
    },
    Story("an old policy that is restored", [.older(generation: 1, before: 2)]) { scribe in
      try scribe.add(bob, by: alice)
      try scribe.restore("HEAD~1")
    },
    Story("an old policy that is restored, and the newer one again", [.older(generation: 1, before: 2)]) {
      scribe in
      try scribe.add(bob, by: alice)
      try scribe.restore("HEAD~1")
      try scribe.restore("HEAD~1")
    },
    Story("the same generation with another content", [.forked(generation: 2)]) { scribe in
      try scribe.add(bob, by: alice)
      try scribe.edit([.create(group: "ops")], by: alice) { policy in
        policy.generation = 2
        policy.previous = policy.previous
      }
    },
    Story("a skipped generation", [.skipped(generation: 3, before: 1)]) { scribe in
      try scribe.branch("side") {
        try scribe.add(bob, by: alice)
        try scribe.edit([.create(group: "ops")], by: alice)
      }
      try scribe.restore("side")
    },
    Story("a wrong predecessor", [.notNext(generation: 2)]) { scribe in
      try scribe.edit([.create(group: "ops")], by: alice) { policy in
        policy.previous = ContentDigest(of: [1])
      }
    },
    Story("another keyring", [.foreign]) { scribe in
      try scribe.edit([], by: alice) { policy in
        policy.keyring = KeyringID(hex: String(repeating: "0", count: 32)) ?? policy.keyring
      }
    },
    Story("a missing policy", [.missing]) { try $0.drop(["policy.json"]) },
    Story("an unreadable policy", [.unreadable(.malformed(.unexpectedByte(0x78, offset: 0)))]) {
      try $0.put("policy.json", "x")
    },
    Story("a merge that takes the older policy", [.older(generation: 1, before: 2)]) { scribe in
      try scribe.branch("side") { try scribe.add(bob, by: alice) }
      try scribe.touch("README.main")
      try scribe.merge("side") { try scribe.checkOut("HEAD") }
    },
    Story("a merge that drops the newer policy of two branches", [.older(generation: 2, before: 3)]) {
      scribe in
      try scribe.branch("side") {
        try scribe.edit([.create(group: "ops")], by: alice)
        try scribe.edit([.create(group: "dev")], by: alice)
      }
      try scribe.add(bob, by: alice)
      try scribe.merge("side") { try scribe.checkOut("HEAD") }
    },
    Story("an unsigned fork", [.badSignature]) { scribe in
      try scribe.branch("side") { try scribe.edit([.create(group: "ops")], by: nil) }
      try scribe.add(bob, by: alice)
      try scribe.merge("side") { try scribe.checkOut("HEAD") }
    },
  ]

  @Test("a valid history has no findings", arguments: good) func right(_ story: Story) throws {
    let scribe = try PolicyHistoryBuilder()
    try story.steps(scribe)
    let history = try scribe.history()
    #expect(history.findings == [])
    #expect(history.last?.bytes == (try scribe.bytes("policy.json")))
    #expect(history.count == (try scribe.policy().generation))
    #expect(history.firstSigner == Self.alice)
    // The folder itself counts as one more commit.
    #expect(try scribe.history(withFolder: true).findings == [])
  }

  @Test("an invalid history has the matching findings", arguments: bad) func wrong(_ story: Story) throws {
    let scribe = try PolicyHistoryBuilder()
    try story.steps(scribe)
    let findings = try scribe.history().findings
    #expect(findings.map(\.kind) == story.problems.map { .chain($0) })
    #expect(findings.allSatisfy { $0.path == "policy.json" && $0.commit != nil })
    // Commits before a trusted commit are not checked again.
    #expect(try scribe.history(trusting: "HEAD").findings == [])
  }

  @Test(
    "one of two concurrent policies may be dropped if it was not on this branch", arguments: [false, true])
  func leavesOne(_ isChangedAgain: Bool) throws {
    let scribe = try PolicyHistoryBuilder()
    try scribe.branch("side") { try scribe.edit([.create(group: "ops")], by: Self.alice) }
    try scribe.add(Self.bob, by: Self.alice)
    try scribe.merge("side") {
      try scribe.checkOut("side")
      if isChangedAgain { try scribe.write([.join(Self.alice, group: "ops")], by: Self.alice) }
    }
    let history = try scribe.history()
    #expect(history.findings == [] && history.leftBehind.count == 1)
    #expect(history.count == (isChangedAgain ? 3 : 2))
    // The dropped policy was on the first branch, and never on the other one.
    #expect(try scribe.history(trusting: "HEAD^1").findings.map(\.kind) == [.chain(.forked(generation: 2))])
    #expect(try scribe.history(trusting: "side").findings == [])
  }

  @Test("a merge keeps the policies of a member who was made an admin on its side", arguments: [false, true])
  func keepsPromoted(_ isCommonKnown: Bool) throws {
    let scribe = try PolicyHistoryBuilder()
    try scribe.add(Self.bob, by: Self.alice)
    let common = try scribe.world.lines("rev-parse", "HEAD")[0]
    try scribe.branch("side") { try scribe.edit([.create(group: "ops")], by: Self.alice) }
    try scribe.edit([.role(Self.bob, .admin)], by: Self.alice)
    try scribe.edit([.create(group: "dev")], by: Self.bob)
    try scribe.merge("side") { try scribe.checkOut("HEAD") }
    let history = try scribe.history(trusting: isCommonKnown ? common : nil)
    #expect(history.findings == [] && history.leftBehind.count == 1)
  }

  @Test(
    "a merge keeps the side on which a key was replaced, if the new key has signed it",
    arguments: [false, true])
  func keepsReplacement(_ isSignedWithNew: Bool) throws {
    let scribe = try PolicyHistoryBuilder()
    try scribe.add(Self.bob, .admin, by: Self.alice)
    func replace(by signer: Fingerprint) throws {
      try scribe.add(Self.carol, .admin, by: Self.alice)
      try scribe.edit(
        [.join(Self.carol, group: "default"), .replace(Self.alice, by: Self.carol)], by: signer)
    }
    try scribe.branch("side") {
      try scribe.edit([.create(group: "ops")], by: Self.bob)
      try replace(by: isSignedWithNew ? Self.carol : Self.bob)
    }
    try replace(by: Self.carol)
    try scribe.merge("side") { try scribe.checkOut("side") }
    let findings = try scribe.history().findings.map(\.kind)
    #expect(findings == (isSignedWithNew ? [] : [.chain(.badMergeChoice(generation: 4))]))
    // The side that is kept was published before.
    #expect(try scribe.history(trusting: "side").findings == [])
  }

  @Test("an admin cannot undo the loss of their own right to sign by a merge", arguments: [false, true])
  func takesOver(_ isHelped: Bool) throws {
    for edit in [PolicyEdit.remove(Self.bob), .role(Self.bob, .member)] {
      let scribe = try PolicyHistoryBuilder()
      try scribe.add(Self.bob, .admin, by: Self.alice)
      try scribe.branch("side") {
        try scribe.edit([.create(group: "ops")], by: Self.bob)
        // A later policy by another admin does not make it valid.
        if isHelped { try scribe.edit([.create(group: "dev")], by: Self.alice) }
      }
      try scribe.edit([edit], by: Self.alice)
      try scribe.merge("side") { try scribe.checkOut("side") }
      let history = try scribe.history()
      #expect(history.findings.map(\.kind) == [.chain(.badMergeChoice(generation: 3))])
      #expect(history.leftBehind == [])
    }
  }

  @Test func `an admin who was added concurrently may have signed the policy that is kept`() throws {
    let scribe = try PolicyHistoryBuilder()
    try scribe.branch("side") {
      try scribe.add(Self.bob, .admin, by: Self.alice)
      try scribe.edit([.create(group: "ops")], by: Self.bob)
    }
    try scribe.edit([.create(group: "dev")], by: Self.alice)
    try scribe.merge("side") { try scribe.checkOut("side") }
    let history = try scribe.history()
    #expect(history.findings == [] && history.leftBehind.count == 1)
  }

  @Test("an uncommitted change in the folder is checked like a commit", arguments: [true, false])
  func waiting(_ isSigned: Bool) throws {
    let scribe = try PolicyHistoryBuilder()
    try scribe.write([.create(group: "ops")], by: isSigned ? Self.alice : nil)
    let history = try scribe.history(withFolder: true)
    #expect(history.findings == (isSigned ? [] : [Finding("policy.json", .chain(.badSignature))]))
    #expect(history.count == 2)
  }

  @Test func `the first policy needs a signature by its own admin, and by an expected one`() throws {
    let scribe = try PolicyHistoryBuilder()
    try scribe.add(Self.bob, .admin, by: Self.alice)
    #expect(try scribe.history(anchors: [Self.bob, Self.alice]).findings == [])
    let problem = Finding.Kind.chain(.unexpectedSigner(Self.alice))
    #expect(try scribe.history(anchors: [Self.bob]).findings.map(\.kind) == [problem])
    // A history that begins with a later generation needs an expected signer.
    try scribe.forgetHistory()
    #expect(try scribe.history().findings.map(\.kind) == [.chain(.incompleteHistory(generation: 2))])
    #expect(try scribe.history(anchors: [Self.alice]).findings == [])
  }

  @Test func `the policy that this machine has accepted is on the chain`() throws {
    let scribe = try PolicyHistoryBuilder()
    let first = try scribe.bytes("policy.json")
    try scribe.add(Self.bob, by: Self.alice)
    let pinned = try scribe.history(accepted: true)
    #expect(pinned.findings == [] && pinned.isPinned)
    // The pin is the first policy. If it is not on the chain, the history was replaced.
    try scribe.forgetHistory()
    #expect(
      try scribe.history(accepted: true).findings.map(\.kind) == [
        .chain(.incompleteHistory(generation: 2)), .chain(.notPinned(generation: 2, pinned: 1)),
      ])
    #expect(first != (try scribe.bytes("policy.json")))
  }

  @Test func `a clone with a part of the history reports that, without findings`() throws {
    let scribe = try PolicyHistoryBuilder()
    try scribe.add(Self.bob, by: Self.alice)
    try scribe.touch("README")
    let history = try scribe.shallowHistory(depth: 1)
    #expect(history.findings == [] && history.isCutOff && history.count == 1)
  }
}
