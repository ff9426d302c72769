import Foundation
import TestSupport
import Testing

/// Committed files that a policy allowed and does not allow any more.
@Suite(.serialized) struct DisallowedFileTests {
  @Test func `disallow names committed files that a hook refuses, and how to remove them`() throws {
    let program = try ProcessesProgram()
    try program.succeed(["init"])
    try program.succeed(["policy", "allow", "README.md", "docs/", "docs/keep.txt"])
    try FileManager.default.createDirectory(
      atPath: "\(program.store)/docs", withIntermediateDirectories: false)
    for name in ["README.md", "docs/a b.txt", "docs/keep.txt"] {
      try Data("x".utf8).write(to: URL(fileURLWithPath: "\(program.store)/\(name)"))
    }
    try program.git(["add", "--", "README.md", "docs"])
    try program.git(["commit", "-q", "-m", "x"])
    let outcome = try program.run(["policy", "disallow", "README.md", "docs/"])
    #expect(outcome.status == 0)
    let command = "keytree git rm README.md 'docs/a b.txt'"
    let warnings = outcome.errors.split(separator: "\n").filter { $0.hasPrefix("keytree: warning: ") }
    #expect(warnings.count == 1 && warnings.first?.contains("`\(command)`") ?? false, "\(outcome.errors)")
    #expect(!outcome.errors.contains("keep.txt"))
    // The command does it.
    try program.succeed(["git", "rm", "-q", "README.md", "docs/a b.txt"])
    try program.git(["commit", "-q", "-m", "x"])
    try program.succeed(["policy", "allow", "LICENSE"])
    #expect(try !program.run(["policy", "disallow", "LICENSE"]).errors.contains("warning"))
    #expect(try program.run(["verify"]).status == 0)
  }
}
