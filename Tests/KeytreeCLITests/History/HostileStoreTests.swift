import Foundation
import Glibc
import Keyring
import TestSupport
import Testing

/// The built program with stores that an attacker has prepared.
@Suite("Hostile stores", .serialized, .slow) struct HostileStoreTests {
  /// Commands that a user runs in a store that they have just received; none of them may run anything.
  private static let commands = [
    ["status"], ["find"], ["git", "diff", "HEAD"], ["git", "--no-pager", "log", "-p"], ["check"], ["doctor"],
    ["sync"],
  ]

  /// The files that a clone may check out from these commits: they have valid names, but are useless because no member
  /// has signed a record for them.
  private static let harmless: Set<String> = [
    ".gitattributes", "items/internet-password/A.example/me.gpg", "items/internet-password/a.EXAMPLE/me.gpg",
    "items/internet-password/CON/aux.gpg", "items/-rf/--output=x.gpg",
  ]

  @Test func `a clone has only unchanged files of a store, or leaves nothing behind`() throws {
    let program = try Self.program()
    let trap = "\(program.folder)/PWNED"
    try HostileCommit.writeTrapSettings(in: program.folder, trap: trap)
    let (hub, bad, clone) = ("\(program.folder)/hub.git", "\(program.folder)/bad.git", "\(program.folder)/c")
    let head = try program.git(["rev-parse", "main"], in: hub).filter { !$0.isWhitespace }
    let good = Set(
      try program.git(["ls-tree", "-r", "-z", "main"], in: hub).split(separator: "\0").map(String.init))
    var (taken, withheld, refused) = (0, 0, 0)
    for commit in HostileCommit.all {
      try FileManager.default.copyItem(atPath: hub, toPath: bad)
      defer { for path in [bad, clone] { ScratchFolder.remove(path) } }
      let stream = "\(program.folder)/stream"
      try Data(commit.stream(after: head).utf8).write(to: URL(fileURLWithPath: stream))
      let script = "/usr/bin/git -C '\(bad)' fast-import --quiet --force --done < '\(stream)'"
      guard (try? GnuPGTool.run("/bin/sh", ["-c", script])) != nil else { continue }
      let outcome = try program.run(["clone", bad, clone])
      let comment: Comment = "\(commit): \(outcome.status) \(outcome.errors)"
      #expect(!FileManager.default.fileExists(atPath: trap), comment)
      if !FileManager.default.fileExists(atPath: clone) {
        refused += 1
        #expect([8, 11].contains(outcome.status), comment)
        continue
      }
      taken += 1
      for words in Self.commands { _ = try program.run(["--store", clone] + words) }
      #expect(!FileManager.default.fileExists(atPath: trap), comment)
      for entry in try program.git(["ls-tree", "-r", "-z", "HEAD"], in: clone).split(separator: "\0") {
        let parts = entry.split(separator: "\t", maxSplits: 1)
        let (words, name) = (parts[0].split(separator: " "), String(parts[1]))
        // A clone builds the index anew if it does not match the records.
        let isRebuilt = words[0] == "100644" && name.hasPrefix("index/") && name.hasSuffix(".jsonl")
        if !good.contains(String(entry)), !Self.harmless.contains(name), !isRebuilt {
          withheld += 1
          var facts = stat()
          #expect(unsafe lstat("\(clone)/\(name)", &facts) != 0, "\(comment): \(name)")
        } else {
          let blob = try program.git(["hash-object", "--no-filters", "--", name], in: clone)
          #expect(blob.dropLast() == words[2], comment)
        }
      }
    }
    #expect(taken > 20 && withheld > 15 && refused > 1, "\(taken), \(withheld), \(refused)")
  }

  @Test func `a clone of a bad history can synchronize after the bad files were removed`() throws {
    let program = try Self.program()
    let (hub, clone) = ("\(program.folder)/hub.git", "\(program.folder)/c")
    try program.succeed(["policy", "allow", "docs/"])
    try program.succeed(["sync"])
    try program.push(
      [
        ("100644", ".envrc", "hostile"), ("120000", "docs/link", "/etc/passwd"), ("100755", "docs/tool", "x"),
        ("100644", "items/internet-password/x.sh", "hostile"), ("100755", "docs/notes", "x"),
      ], to: hub)
    #expect(try program.run(["clone", hub, clone]).errors.contains("docs/link is in the history"))
    // The user has files with the same names as the files that the clone withheld.
    for name in [".envrc", "docs/notes"] {
      let url = URL(fileURLWithPath: "\(clone)/\(name)")
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("mine".utf8).write(to: url)
    }
    try program.push(
      [("100644", "docs/tool/help", "now a folder"), ("100644", "docs/notes", "now allowed")],
      removing: ["docs/link"], to: hub)
    try program.succeed(["sync"])
    let stopped = try program.run(["--store", clone, "sync"])
    #expect(stopped.status == 11 && stopped.errors.contains("docs/notes"), "\(stopped.errors)")
    try FileManager.default.removeItem(atPath: "\(clone)/docs/notes")
    try program.succeed(["--store", clone, "sync"])
    func text(_ name: String) throws -> String {
      try String(contentsOfFile: "\(clone)/\(name)", encoding: .utf8)
    }
    #expect(try text(".envrc") == "mine")
    #expect(try text("docs/notes") == "now allowed")
    #expect(try text("docs/tool/help") == "now a folder")
    try program.succeed(["--store", clone, "add", "b.example/me"], input: "b")
    try program.succeed(["--store", clone, "sync"])
    let names = try program.git(["ls-tree", "-r", "--name-only", "main"], in: hub)
    #expect(!names.contains(".envrc") && !names.contains("x.sh") && names.contains("b.example/me.gpg"))
  }

  @Test(arguments: [false, true])
  func `a journal that is a pipe or has a hard link is not written to`(isPipe: Bool) throws {
    let program = try Self.program()
    let (journal, outside) = ("\(program.store)/.keytree/uncommitted", "\(program.folder)/outside")
    try Data("outside".utf8).write(to: URL(fileURLWithPath: outside))
    _ = unsafe unlink(journal)
    #expect(unsafe (isPipe ? mkfifo(journal, 0o600) : link(outside, journal)) == 0)
    let outcome = try program.run(
      ["add", "b.example/me"], input: "b", tracer: ProcessesProgram.watchdog)
    #expect(outcome.status == 11 && outcome.errors.contains(".keytree/uncommitted"), "\(outcome.errors)")
    #expect(try String(contentsOfFile: outside, encoding: .utf8) == "outside")
    try FileManager.default.removeItem(atPath: journal)
    try program.succeed(["sync"])
    #expect(
      try program.git(["ls-tree", "-r", "main"], in: "\(program.folder)/hub.git").contains("b.example/me"))
  }

  @Test(arguments: ["lock", "commit.lock", "sync.lock"])
  func `a lock with a hard link is not written to`(name: String) throws {
    let program = try Self.program()
    let (lock, outside) = ("\(program.store)/.keytree/\(name)", "\(program.folder)/outside")
    try Data("outside".utf8).write(to: URL(fileURLWithPath: outside))
    _ = unsafe unlink(lock)
    #expect(unsafe link(outside, lock) == 0)
    var isNamed = false
    for command in [["add", "b.example/me"], ["sync"]] {
      isNamed = try program.run(command, input: "b").errors.contains(".keytree/\(name)") || isNamed
    }
    #expect(isNamed)
    #expect(try String(contentsOfFile: outside, encoding: .utf8) == "outside")
  }

  @Test func `a file in the place of an item folder does not stop a merge`() throws {
    let program = try Self.program()
    let hub = "\(program.folder)/hub.git"
    try program.succeed(["add", "folder.gpg/me"], input: "mine")
    try program.push([("100644", "items/internet-password/folder.gpg", "hostile")], to: hub)
    let outcome = try program.run(["sync"])
    #expect(outcome.status == 0 && outcome.errors.contains("refused items/internet-password/folder.gpg"))
    #expect(try program.succeed(["get", "folder.gpg/me"]) == "mine")
  }

  @Test func `a name that leads out of the store does not stop a merge`() throws {
    let program = try Self.program()
    let (hub, bundle) = ("\(program.folder)/hub.git", "\(program.folder)/hub.bundle")
    // Before version 2.46, git does not check the objects in a bundle.
    let script = """
      cd '\(hub)'
      tree=$( (git ls-tree main; printf '100644 blob %s\\t..\\n' $(echo x | git hash-object -w --stdin)) | git mktree)
      commit=$(git -c user.name=X -c user.email=x@example.org commit-tree -p main -m x $tree)
      git update-ref refs/heads/main $commit
      git bundle create '\(bundle)' main
      """
    _ = try GnuPGTool.run("/bin/sh", ["-ec", script])
    try program.git(["remote", "set-url", "origin", bundle])
    let outcome = try program.run(["sync", "--pull-only"])
    let isRefused = outcome.status == 0 && outcome.errors.contains("refused ..:")
    #expect(isRefused || outcome.errors.contains("git fetch"), "\(outcome.errors)")
  }

  @Test func `the command in the hint for a file that is not allowed removes the file`() throws {
    let program = try Self.program()
    let (hub, clone) = ("\(program.folder)/hub.git", "\(program.folder)/c")
    let head = try program.git(["rev-parse", "main"], in: hub).filter { !$0.isWhitespace }
    try program.push([("100644", ".envrc", "hostile")], to: hub)
    try program.succeed(["clone", hub, clone])
    // An admin removes the commit with a forced push.
    try program.git(["update-ref", "refs/heads/main", head], in: hub)
    let outcome = try program.run(["--store", clone, "sync", "--accept-rewritten"])
    #expect(outcome.status == 11)
    let hint = "keytree git rm --cached --sparse .envrc"
    #expect(outcome.errors.contains("`\(hint)`"), "\(outcome.errors)")
    try program.succeed(["--store", clone] + hint.split(separator: " ").dropFirst().map(String.init))
    for key in ["user.name", "user.email"] { try program.git(["config", key, "x"], in: clone) }
    try program.succeed(["--store", clone, "git", "commit", "-q", "-m", "x"])
    try program.succeed(["--store", clone, "sync", "--accept-rewritten"])
  }

  @Test func `thousands of bad lines in a shard are summarized in a few lines`() throws {
    let program = try ProcessesProgram.withStore(["a.example/me": "secret"])
    // The size is that of the original attack: 196 KB.
    try Data(String(repeating: "x\n", count: 98_000).utf8).write(
      to: URL(fileURLWithPath: "\(program.store)/index/31.jsonl"))
    for command in [["find", "x"], ["status"]] {
      let outcome = try program.run(command)
      let lines = (outcome.errors + outcome.text).split(separator: "\n")
      #expect(lines.count < 30, "\(command): \(lines.count)")
      #expect(lines.contains { $0.contains("97990 more problems") }, "\(command)")
      #expect(lines.contains { $0.contains("line 10") } && !lines.contains { $0.contains("line 11") })
    }
    #expect(try program.run(["get", "a.example/me"]).text == "secret")
  }

  @Test(.enabled(if: ProcessesTracer.strace != nil, Comment(rawValue: ProcessesTracer.reason)))
  func `settings, hooks and links in a copied folder run nothing and are not followed`() throws {
    let program = try Self.program()
    let (store, trap) = (program.store, "\(program.folder)/PWNED")
    let outside = "\(program.folder)/outside"
    try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: false)
    for name in ["me.gpg", "00.jsonl", "README"] {
      try Data("outside\n".utf8).write(to: URL(fileURLWithPath: "\(outside)/\(name)"))
    }
    let manager = FileManager.default
    try manager.createDirectory(
      atPath: "\(store)/items/internet-password/l.example", withIntermediateDirectories: true)
    for (path, target) in [
      ("items/internet-password/l.example/me.gpg", "me.gpg"), ("items/internet-password/folder.example", ""),
      ("index/ff.jsonl", "00.jsonl"), ("keys/X.asc", "me.gpg"), ("README", "README"),
    ] {
      // An existing shard is replaced.
      _ = unsafe unlink("\(store)/\(path)")
      try manager.createSymbolicLink(atPath: "\(store)/\(path)", withDestinationPath: "\(outside)/\(target)")
    }
    for name in ["post-commit", "reference-transaction", "post-index-change", "pre-push", "post-merge"] {
      try manager.createDirectory(atPath: "\(store)/.git/hooks", withIntermediateDirectories: true)
      try ExecutableFile.write("#!/bin/sh\ntouch '\(trap)'\n", to: "\(store)/.git/hooks/\(name)")
    }
    for (key, value) in [
      ("core.fsmonitor", "touch '\(trap)'; false"), ("core.sshCommand", "touch '\(trap)'; false"),
      ("filter.evil.clean", "touch '\(trap)'; cat"), ("diff.external", "touch '\(trap)'; true"),
      ("remote.origin.uploadpack", "touch '\(trap)'; git-upload-pack"),
    ] {
      try program.git(["config", "--file", "\(store)/.git/config", key, value], in: "/")
    }
    try Data("* filter=evil diff=evil\n".utf8).write(to: URL(fileURLWithPath: "\(store)/.gitattributes"))
    let strace = try #require(ProcessesTracer.strace)
    for words in Self.commands + [["add", "new.example/me"]] {
      let log = "\(program.folder)/trace"
      _ = try program.run(
        words, input: "secret",
        tracer: [
          strace, "-f", "-y", "-qq", "-e", "signal=none", "-e", "trace=openat,openat2,open,creat", "-o", log,
        ])
      #expect(!manager.fileExists(atPath: trap), "\(words)")
      let opened = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
      #expect(opened.count > 5)
      #expect(opened.filter { $0.contains("<\(outside)") } == [], "\(words)")
    }
    // Sync refuses such a repository and reports the reason.
    let outcome = try program.run(["sync"])
    #expect(outcome.status == 11 && outcome.errors.contains("core.sshcommand"), "\(outcome)")
  }

  @Test(arguments: ["HEAD", "objects", "refs"])
  func `verify does not pass when git cannot read the repository`(name: String) throws {
    let program = try Self.program()
    #expect(try program.run(["verify"]).status == 0)
    try FileManager.default.removeItem(atPath: "\(program.store)/.git/\(name)")
    let outcome = try program.run(["verify"])
    #expect(outcome.status == 11 && outcome.errors.contains("repository"), "\(outcome)")
    // A secret does not depend on the history.
    #expect(try program.run(["get", "a.example/me"]).text == "secret")
  }

  /// Returns a program with a store of one item and a bare repository.
  private static func program() throws -> ProcessesProgram {
    let program = try ProcessesProgram()
    try program.succeed(["init"])
    try program.succeed(["add", "a.example/me"], input: "secret")
    let hub = "\(program.folder)/hub.git"
    try program.git(["init", "-q", "--bare", "-b", "main", hub])
    try program.succeed(["git", "remote", "add", "origin", hub])
    try program.succeed(["sync"])
    return program
  }
}
