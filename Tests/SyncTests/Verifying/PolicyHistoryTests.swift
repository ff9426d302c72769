import Foundation
import Keyring
import KeyringModel
import Sync
import TestSupport
import Testing

/// Histories of policies, made with real git and signed by a stand-in for GnuPG.
@Suite("Policies of a history") struct PolicyHistoryTests {
  /// A history, step by step, and what is wrong with it.
  struct Story: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let problems: [ChainProblem]
    let steps: @Sendable (PolicyScribe) throws -> Void

    init(
      _ name: String, _ problems: [ChainProblem], _ steps: @escaping @Sendable (PolicyScribe) throws -> Void
    ) {
      (testDescription, self.problems, self.steps) = (name, problems, steps)
    }
  }

  private static let alice = StandInEngine.fingerprint(1)
  private static let bob = StandInEngine.fingerprint(2)
  private static let mallory = StandInEngine.fingerprint(9)

  static let good: [Story] = [
    Story("one policy", []) { _ in },
    Story("commits that change no policy", []) { try $0.touch("README") },
    Story("a policy after the other", []) { scribe in
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
    Story("a branch with an older policy, which the merge leaves behind", []) { scribe in
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
    Story("a merge that brings the next policy itself", []) { scribe in
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
    Story("a signature that is gone", [.unsigned]) { scribe in
      try scribe.edit([.create(group: "ops")], by: alice) { try scribe.remove("policy.json.asc") }
    },
    Story("a signature that is changed alone", [.badSignature]) { scribe in
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
    Story("somebody who signs herself in", [.signedByStranger(mallory)]) { scribe in
      try scribe.add(mallory, .admin, by: mallory)
    },
    Story("an old policy put back", [.older(generation: 1, before: 2)]) { scribe in
      try scribe.add(bob, by: alice)
      try scribe.restore("HEAD~1")
    },
    Story("an old policy put back, and the newer one again", [.older(generation: 1, before: 2)]) { scribe in
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
    Story("a step left out", [.skipped(generation: 3, before: 1)]) { scribe in
      try scribe.branch("side") {
        try scribe.add(bob, by: alice)
        try scribe.edit([.create(group: "ops")], by: alice)
      }
      try scribe.restore("side")
    },
    Story("another predecessor", [.notNext(generation: 2)]) { scribe in
      try scribe.edit([.create(group: "ops")], by: alice) { policy in
        policy.previous = ContentDigest(of: [1])
      }
    },
    Story("another keyring", [.foreign]) { scribe in
      try scribe.edit([], by: alice) { policy in
        policy.keyring = KeyringID(hex: String(repeating: "0", count: 32)) ?? policy.keyring
      }
    },
    Story("no policy any more", [.missing]) { try $0.drop(["policy.json"]) },
    Story("a policy that nobody can read", [.unreadable(.malformed(.unexpectedByte(0x78, offset: 0)))]) {
      try $0.put("policy.json", "x")
    },
    Story("a merge that takes the older policy", [.older(generation: 1, before: 2)]) { scribe in
      try scribe.branch("side") { try scribe.add(bob, by: alice) }
      try scribe.touch("README.main")
      try scribe.merge("side") { try scribe.checkOut("HEAD") }
    },
    Story("a merge that leaves the newer of two branches", [.older(generation: 2, before: 3)]) { scribe in
      try scribe.branch("side") {
        try scribe.edit([.create(group: "ops")], by: alice)
        try scribe.edit([.create(group: "dev")], by: alice)
      }
      try scribe.add(bob, by: alice)
      try scribe.merge("side") { try scribe.checkOut("HEAD") }
    },
    Story("a fork that nobody has signed", [.badSignature]) { scribe in
      try scribe.branch("side") { try scribe.edit([.create(group: "ops")], by: nil) }
      try scribe.add(bob, by: alice)
      try scribe.merge("side") { try scribe.checkOut("HEAD") }
    },
  ]

  @Test("what follows is right", arguments: good) func right(_ story: Story) throws {
    let scribe = try PolicyScribe()
    try story.steps(scribe)
    let history = try scribe.history()
    #expect(history.findings == [])
    #expect(history.last?.bytes == (try scribe.bytes("policy.json")))
    #expect(history.count == (try scribe.policy().generation))
    #expect(history.firstSigner == Self.alice)
    // The folder itself counts as one commit more.
    #expect(try scribe.history(withFolder: true).findings == [])
  }

  @Test("what does not follow is found", arguments: bad) func wrong(_ story: Story) throws {
    let scribe = try PolicyScribe()
    try story.steps(scribe)
    let findings = try scribe.history().findings
    #expect(findings.map(\.kind) == story.problems.map { .chain($0) })
    #expect(findings.allSatisfy { $0.path == "policy.json" && $0.commit != nil })
    // What leads to a commit that is believed is not judged again.
    #expect(try scribe.history(trusting: "HEAD").findings == [])
  }

  @Test("of two policies made at once one may be left, if it was on no branch", arguments: [false, true])
  func leavesOne(_ isChangedAgain: Bool) throws {
    let scribe = try PolicyScribe()
    try scribe.branch("side") { try scribe.edit([.create(group: "ops")], by: Self.alice) }
    try scribe.add(Self.bob, by: Self.alice)
    try scribe.merge("side") {
      try scribe.checkOut("side")
      if isChangedAgain { try scribe.write([.join(Self.alice, group: "ops")], by: Self.alice) }
    }
    let history = try scribe.history()
    #expect(history.findings == [] && history.leftBehind.count == 1)
    #expect(history.count == (isChangedAgain ? 3 : 2))
    // What was left stood on this branch; on the other one it never did.
    #expect(try scribe.history(trusting: "HEAD^1").findings.map(\.kind) == [.chain(.forked(generation: 2))])
    #expect(try scribe.history(trusting: "side").findings == [])
  }

  @Test("nobody merges away what took the right to sign from her", arguments: [false, true])
  func takesOver(_ isHelped: Bool) throws {
    for edit in [PolicyEdit.remove(Self.bob), .role(Self.bob, .member)] {
      let scribe = try PolicyScribe()
      try scribe.add(Self.bob, .admin, by: Self.alice)
      try scribe.branch("side") {
        try scribe.edit([.create(group: "ops")], by: Self.bob)
        // A policy of another admin on top does not make it better.
        if isHelped { try scribe.edit([.create(group: "dev")], by: Self.alice) }
      }
      try scribe.edit([edit], by: Self.alice)
      try scribe.merge("side") { try scribe.checkOut("side") }
      let history = try scribe.history()
      #expect(history.findings.map(\.kind) == [.chain(.takenOver(generation: 3))])
      #expect(history.leftBehind == [])
    }
  }

  @Test func `an admin who came at the same time may have signed what is preferred`() throws {
    let scribe = try PolicyScribe()
    try scribe.branch("side") {
      try scribe.add(Self.bob, .admin, by: Self.alice)
      try scribe.edit([.create(group: "ops")], by: Self.bob)
    }
    try scribe.edit([.create(group: "dev")], by: Self.alice)
    try scribe.merge("side") { try scribe.checkOut("side") }
    let history = try scribe.history()
    #expect(history.findings == [] && history.leftBehind.count == 1)
  }

  @Test("a change that waits in the folder is judged like a commit", arguments: [true, false])
  func waiting(_ isSigned: Bool) throws {
    let scribe = try PolicyScribe()
    try scribe.write([.create(group: "ops")], by: isSigned ? Self.alice : nil)
    let history = try scribe.history(withFolder: true)
    #expect(history.findings == (isSigned ? [] : [Finding("policy.json", .chain(.badSignature))]))
    #expect(history.count == 2)
  }

  @Test func `the first policy needs a signature of its own admin, and of the one who is expected`() throws {
    let scribe = try PolicyScribe()
    try scribe.add(Self.bob, .admin, by: Self.alice)
    #expect(try scribe.history(anchors: [Self.bob, Self.alice]).findings == [])
    let problem = Finding.Kind.chain(.notAnchored(Self.alice))
    #expect(try scribe.history(anchors: [Self.bob]).findings.map(\.kind) == [problem])
    // A history that begins elsewhere begins with a policy that has to come from somewhere.
    try scribe.forgetHistory()
    #expect(try scribe.history().findings.map(\.kind) == [.chain(.beginsLate(generation: 2))])
    #expect(try scribe.history(anchors: [Self.alice]).findings == [])
  }

  @Test func `what this machine has accepted lies on the chain`() throws {
    let scribe = try PolicyScribe()
    let first = try scribe.bytes("policy.json")
    try scribe.add(Self.bob, by: Self.alice)
    let pinned = try scribe.history(accepted: true)
    #expect(pinned.findings == [] && pinned.isPinned)
    // The pin is the first policy; without it on the chain somebody has put another history in its place.
    try scribe.forgetHistory()
    #expect(
      try scribe.history(accepted: true).findings.map(\.kind) == [
        .chain(.beginsLate(generation: 2)), .chain(.notPinned(generation: 2, pinned: 1)),
      ])
    #expect(first != (try scribe.bytes("policy.json")))
  }

  @Test func `a clone with a part of the history says so, and is right`() throws {
    let scribe = try PolicyScribe()
    try scribe.add(Self.bob, by: Self.alice)
    try scribe.touch("README")
    let history = try scribe.shallowHistory(depth: 1)
    #expect(history.findings == [] && history.isCutOff && history.count == 1)
  }
}
