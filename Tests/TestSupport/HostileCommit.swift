import Foundation
import Glibc

/// A commit that an attacker pushes into a store.
package struct HostileCommit: Sendable, CustomStringConvertible {
  /// The name of the attack.
  package let name: String
  /// True if every machine must refuse the commit. The others may be received as plain files.
  package let mustBeRefused: Bool
  private let changes: String

  private init(_ name: String, _ changes: String, mustBeRefused: Bool = false) {
    (self.name, self.changes, self.mustBeRefused) = (name, changes, mustBeRefused)
  }

  package var description: String { name }

  /// Returns the commit for `git fast-import`, on top of another commit.
  package func stream(after head: String) -> String {
    "commit refs/heads/main\ncommitter X <x@example.org> 1 +0000\ndata 1\nx\nfrom \(head)\n"
      + changes.replacing("HEAD", with: head) + "\ndone\n"
  }

  private static func file(_ path: String, _ content: String = "hostile", mode: String = "100644") -> String {
    "M \(mode) inline \"\(path)\"\ndata \(content.utf8.count)\n\(content)\n"
  }

  private static let attributes =
    "* filter=evil diff=evil merge=evil text=auto eol=crlf ident working-tree-encoding=UTF-16LE\n"

  private static func link(_ path: String, removing old: String? = nil) -> HostileCommit {
    HostileCommit(
      "link \(path)", (old.map { "D \($0)\n" } ?? "") + file(path, "/etc/passwd", mode: "120000"),
      mustBeRefused: true)
  }

  /// All hostile commits.
  package static let all: [HostileCommit] =
    [
      HostileCommit(
        "attributes",
        file(".gitattributes", attributes) + file("items/.gitattributes", attributes)
          + file("items/internet-password/.gitattributes", attributes) + file("README", "one\r\n$Id$\ntwo\n")
          + file("index/.gitattributes", attributes)),
      HostileCommit(
        "modules", file(".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = ext::touch PWNED\n")),
      HostileCommit("module", "M 160000 HEAD items/internet-password/module\n", mustBeRefused: true),
      HostileCommit("own folder", file(".keytree/transaction-1/commit.json"), mustBeRefused: true),
      HostileCommit("own folder in upper case", file(".KEYTREE/lock"), mustBeRefused: true),
      HostileCommit("local folder", file("local/items/x.gpg"), mustBeRefused: true),
      link("items/internet-password/evil.example/link.gpg"), link("items", removing: "items"),
      link("index/00.jsonl", removing: "index/00.jsonl"), link("index", removing: "index"),
      link("policy.json", removing: "policy.json"), link("keys", removing: "keys"), link("README"),
      HostileCommit(
        "bytes that are not UTF-8", file("items/internet-password/\\377.gpg"), mustBeRefused: true),
      HostileCommit(
        "huge", file("items/internet-password/huge.gpg", String(repeating: "x", count: 24 << 20))),
      HostileCommit(
        "alike",
        file("items/internet-password/A.example/me.gpg") + file("items/internet-password/a.EXAMPLE/me.gpg")),
      HostileCommit("hooks", file("hooks/post-checkout", "#!/bin/sh\ntouch PWNED\n", mode: "100755")),
    ]
    + [
      "-rf", "--output=x", "CON", "items/internet-password/CON/aux.gpg", "items/-rf/--output=x.gpg",
      "items/line\\nfeed.gpg", "items/\\033[31mred.gpg", ".GIT/config", "git~1/config", "items/.git~1",
      "items/.Git/config", "x\\\\..\\\\y", "*", ":(top)x",
    ].map { HostileCommit("the name \($0)", file($0)) }

  /// Gives a user settings with filters and drivers, which the attributes of a pushed commit could run.
  ///
  /// - Parameters:
  ///   - home: The user's home folder.
  ///   - trap: The path of a file that exists if one of them ran.
  package static func writeTrapSettings(in home: String, trap: String) throws {
    let hooks = "\(home)/template/hooks"
    try FileManager.default.createDirectory(atPath: hooks, withIntermediateDirectories: true)
    for name in ["post-checkout", "reference-transaction", "post-merge", "post-index-change", "pre-push"] {
      try Data("#!/bin/sh\ntouch '\(trap)'\n".utf8).write(to: URL(fileURLWithPath: "\(hooks)/\(name)"))
      _ = unsafe chmod("\(hooks)/\(name)", 0o700)
    }
    let settings = """
      [filter "evil"]
      \tsmudge = "touch '\(trap)'; cat"
      \tclean = "touch '\(trap)'; cat"
      [diff "evil"]
      \ttextconv = "touch '\(trap)'; cat"
      [merge "evil"]
      \tdriver = "touch '\(trap)'; true"
      [init]
      \ttemplateDir = \(home)/template

      """
    try Data(settings.utf8).write(to: URL(fileURLWithPath: "\(home)/.gitconfig"))
  }
}
