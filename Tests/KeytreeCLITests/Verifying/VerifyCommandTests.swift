import Foundation
import Glibc
import Keyring
import KeyringModel
import TestSupport
import Testing

/// The built program with stores, commits and pushes, on a machine without any key.
@Suite("Verify", .serialized, .slow) struct VerifyCommandTests {
  @Test func `each kind of damage is found in the folder, in a commit, and in a push`() throws {
    let world = try VerifyFixture()
    for sabotage in VerifySabotage.policies + VerifySabotage.files + VerifySabotage.commits {
      try world.reset()
      try sabotage.act(world)
      if sabotage.isInFolder {
        let outcome = try world.verify()
        let comment: Comment = "\(sabotage) in the folder: \(outcome.text)\(outcome.errors)"
        #expect(outcome.status == sabotage.status, comment)
        #expect((outcome.text + outcome.errors).contains(sabotage.words), comment)
      }
      try world.commit(stagesAll: sabotage.isInFolder)
      let outcome = try world.verify("--at", "HEAD")
      let comment: Comment = "\(sabotage) in a commit: \(outcome.text)\(outcome.errors)"
      #expect(outcome.status == sabotage.status, comment)
      #expect(outcome.text.contains(sabotage.words), comment)

      let push = try world.pushing()
      #expect(
        push.status != 0 && push.errors.contains(sabotage.words), "\(sabotage) pushed: \(push.errors)")
      #expect(try world.remains == [], "\(sabotage)")
    }
  }

  @Test func `the files of a phone app are warnings, and fail with an option`() throws {
    let world = try VerifyFixture()
    let message = try world.program.gnupg.encrypt([1], to: [.alice])
    let paths = [
      VerifyFixture.file(VerifyFixture.items[0]), "items/web/Some Site.gpg",
      "items/internet-password/a.example/x.gpg",
    ]
    try FileManager.default.createDirectory(
      atPath: "\(world.store)/items/web", withIntermediateDirectories: true)
    for path in paths { try world.forge.write(message, to: path) }
    try world.commit()
    for arguments in [[], ["--at", "HEAD"]] {
      let outcome = try world.program.run(["verify"] + arguments, variables: world.elsewhere)
      #expect(outcome.status == 0, "\(outcome)")
      for path in paths { #expect(outcome.text.contains("warning: \(path): "), "\(outcome)") }
      let strict = try world.program.run(["verify", "--strict"] + arguments, variables: world.elsewhere)
      #expect(strict.status == 13)
    }
    try world.hook("exec '\(ProcessesProgram.path)' verify --pre-receive --strict")
    #expect(try world.pushing().status != 0)
    try world.hook("exec '\(ProcessesProgram.path)' verify --pre-receive")
    try world.push()
  }

  @Test func `a valid store passes everywhere`() throws {
    let world = try VerifyFixture()
    let bare = try world.program.run(
      ["verify", "--at", "main", "--store", world.hub], variables: world.elsewhere)
    for outcome in [try world.verify(), try world.verify("--at", "HEAD"), bare] {
      #expect(outcome.status == 0 && outcome.text.isEmpty, "\(outcome)")
      #expect(outcome.errors.contains("3 items, 2 policies, the first one signed by "), "\(outcome)")
      #expect(outcome.errors.contains("the expected admin is not known"), "\(outcome)")
    }
    // The user's own machine has accepted the first policy, which is an anchor.
    let own = try world.program.run(["verify"])
    #expect(own.status == 0 && own.errors.contains("accepted on this machine, nothing is wrong"), "\(own)")
    // Without git only the current policy exists.
    try FileManager.default.removeItem(atPath: "\(world.store)/.git")
    let plain = try world.verify("--fingerprint", GnuPGKey.alice.fingerprint.text)
    #expect(plain.status == 0 && plain.errors.contains("1 policy"), "\(plain)")
  }

  @Test func `the first policy must be signed by the admin who is named`() throws {
    let world = try VerifyFixture()
    let (alice, carol) = (GnuPGKey.alice.fingerprint.text, GnuPGKey.carol.fingerprint.text)
    let right = try world.verify("--fingerprint", carol, "--fingerprint", alice)
    #expect(right.status == 0 && !right.errors.contains("note:"), "\(right)")
    let wrong = try world.verify("--fingerprint", carol)
    #expect(
      wrong.status == 9 && wrong.text.contains("is signed by \(alice), not by the expected admin"), "\(wrong)"
    )
    #expect(try world.verify("--fingerprint", "1234").status == 2)
    #expect(try world.verify("--at", "HEAD", "--pre-receive").status == 2)
    #expect(try world.verify("--at", "nowhere").status == 4)
    #expect(try world.verify("--store", "\(world.program.folder)/nothing").status == 4)
  }

  @Test func `attributes and filters in a commit hide nothing`() throws {
    let world = try VerifyFixture()
    try world.forge.write(Array("items/** export-ignore filter=x\n".utf8), to: ".gitattributes")
    try world.swapFiles(VerifyFixture.items[0], VerifyFixture.items[1])
    try world.commit()
    let outcome = try world.verify("--at", "HEAD")
    let words = "its encrypted file is not the one that its record describes"
    #expect(outcome.status == 13 && outcome.text.contains(words), "\(outcome.text)\(outcome.errors)")
  }

  @Test func `the output for programs contains the same findings`() throws {
    let world = try VerifyFixture()
    try world.swapFiles(VerifyFixture.items[0], VerifyFixture.items[1])
    let outcome = try world.verify("--json")
    let lines = outcome.text.split(separator: "\n").map(String.init)
    #expect(lines.count == 3)
    #expect(lines.allSatisfy { (try? JSONSerialization.jsonObject(with: Data($0.utf8))) != nil })
    for (line, item) in zip(lines, VerifyFixture.items.prefix(2)) {
      #expect(line.contains("\"path\":\"\(VerifyFixture.file(item))\",\"problem\":\"damaged\""), "\(line)")
      #expect(
        line.contains("\"text\":\"its encrypted file is not the one that its record describes\""), "\(line)")
    }
    #expect(
      lines.last?.contains("\"findings\":2") == true && lines.last?.contains("\"trusted\":true") == true)
  }

  // MARK: Pushes

  @Test func `a push that removes commits or a branch is refused`() throws {
    let world = try VerifyFixture()
    for (arguments, words) in [
      (["--force", "origin", "main~1:main"], "the branch would lose commits"),
      (["origin", ":main"], "the branch would be deleted"),
    ] {
      let outcome = try world.pushing(arguments)
      #expect(outcome.status != 0 && outcome.errors.contains(words), "\(outcome)")
      #expect(outcome.errors.contains("the push is refused"), "\(outcome)")
    }
    try world.program.succeed(["trust", "--fingerprint", GnuPGKey.alice.fingerprint.text])
    try world.program.succeed(["add", "d.example/dave"], input: "secret")
    let outcome = try world.pushing()
    #expect(
      outcome.status == 0 && outcome.errors.contains("4 items, 2 policies, nothing is wrong"), "\(outcome)")
  }

  @Test func `a link that a later commit removes is still in the history and is refused`() throws {
    let world = try VerifyFixture()
    let link = "\(world.store)/items/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/etc/passwd")
    try world.commit()
    try FileManager.default.removeItem(atPath: link)
    try world.commit()
    #expect(try world.verify("--at", "HEAD").status == 0)
    // A tag is not checked, so the push succeeds. A push to a branch is refused.
    #expect(try world.pushing(["origin", "main:refs/tags/x"]).status == 0)
    let outcome = try world.pushing()
    #expect(outcome.status != 0 && outcome.errors.contains("items/link in commit "), "\(outcome)")
  }

  @Test func `an unsigned policy between two valid ones is refused`() throws {
    let world = try VerifyFixture()
    let right = try world.forge.bytes("policy.json")
    try world.forge.succeed([.join(GnuPGKey.bob.fingerprint, group: "default")], by: nil)
    try world.commit()
    try world.forge.write(right, signedBy: nil)
    try world.commit()
    let outcome = try world.pushing()
    #expect(outcome.status != 0 && outcome.errors.contains("its signature is invalid"), "\(outcome)")
  }

  @Test func `a new branch must belong to the keyring, and the first one to the named admin`() throws {
    let world = try VerifyFixture()
    #expect(try world.pushing(["origin", "main~1:refs/heads/older"]).status == 0)
    // This store has another keyring.
    let other = "\(world.program.folder)/other"
    try world.program.succeed(["init", "--store", other, "--key", GnuPGKey.alice.fingerprint.text])
    try world.program.git(["branch", "-M", "main"], in: other)
    let foreign = try world.program.outcome(ofGit: ["push", world.hub, "main:foreign"], in: other)
    #expect(foreign.status != 0 && foreign.errors.contains("it belongs to another keyring"), "\(foreign)")
    // This branch has no store.
    try world.program.git(["switch", "-q", "--orphan", "notes"], in: other)
    try world.program.git(["commit", "-q", "--allow-empty", "-m", "x"], in: other)
    let notes = try world.program.outcome(ofGit: ["push", world.hub, "notes"], in: other)
    #expect(notes.status != 0 && notes.errors.contains("it does not exist in this commit"), "\(notes)")

    ScratchFolder.remove(world.hub)
    try world.makeHub()
    let hook = "exec '\(ProcessesProgram.path)' verify --pre-receive --fingerprint"
    try world.hook("\(hook) \(GnuPGKey.carol.fingerprint.text)")
    let refused = try world.pushing()
    #expect(refused.status != 0 && refused.errors.contains("not by the expected admin"), "\(refused)")
    try world.hook("\(hook) \(GnuPGKey.alice.fingerprint.text)")
    let taken = try world.pushing()
    #expect(taken.status == 0 && taken.errors.contains("3 items, 2 policies, the first one"), "\(taken)")
  }

  @Test func `a server that does not check received objects refuses every push`() throws {
    let world = try VerifyFixture()
    try world.program.git(["commit", "-q", "--allow-empty", "-m", "x"])
    try world.program.git(["config", "receive.fsckObjects", "false"], in: world.hub)
    // The setting for pushes takes precedence over the general one.
    try world.program.git(["config", "transfer.fsckObjects", "true"], in: world.hub)
    let refused = try world.pushing()
    #expect(
      refused.status != 0 && refused.errors.contains("`git config receive.fsckObjects true`"), "\(refused)")
    try world.program.git(["config", "--unset", "receive.fsckObjects"], in: world.hub)
    try world.push()
    try world.program.git(["config", "--unset", "transfer.fsckObjects"], in: world.hub)
    try world.program.git(["commit", "-q", "--allow-empty", "-m", "x"])
    #expect(try world.pushing().status != 0)
  }

  @Test func `one commit may be pushed to several branches at once`() throws {
    let world = try VerifyFixture()
    let outcome = try world.pushing(["origin", "main:refs/heads/one", "main:refs/heads/two"])
    #expect(outcome.status == 0, "\(outcome)")
    #expect(try world.remains == [])
  }

  // MARK: Processes

  @Test(.enabled(if: ProcessesTracer.strace != nil, Comment(rawValue: ProcessesTracer.reason)))
  func `verify starts no agent, asks nothing, and writes only into a temporary folder`() throws {
    let world = try VerifyFixture()
    let strace = try #require(ProcessesTracer.strace)
    let log = "\(world.program.folder)/log"
    for arguments in [[], ["--at", "HEAD"]] as [[String]] {
      let outcome = try world.program.run(
        ["verify"] + arguments,
        tracer: [strace, "-f", "-qq", "-e", "signal=none", "-e", "trace=execve,connect", "-o", log],
        variables: world.elsewhere)
      #expect(outcome.status == 0, "\(outcome)")
      let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
      let programs = Set(calls.filter { $0.contains("execve(") }.compactMap(Self.programName))
      #expect(programs.subtracting(["keytree", "gpg", "gpgconf", "git"]) == [], "\(programs)")
      #expect(programs.contains("gpg"))
      // gpg tries to connect to the agent of a home that does not exist.
      let asked = calls.filter { $0.contains("connect(") }
      #expect(asked.allSatisfy { $0.contains("/.verify-") && $0.contains("= -1 ENOENT") }, "\(asked)")
    }
    #expect(try world.remains == [])
    #expect(!FileManager.default.fileExists(atPath: "\(world.program.folder)/elsewhere/state"))
  }

  /// The last path component of the first quoted word.
  private static func programName(_ line: Substring) -> String? {
    let words = line.split(separator: "\"")
    return words.count > 1 ? words[1].split(separator: "/").last.map(String.init) : nil
  }
}
