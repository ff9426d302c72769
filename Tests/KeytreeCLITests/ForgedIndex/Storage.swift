import Arguments
import Foundation
import Keyring
import KeytreeCLI
import Personalities
import TestSupport
import Testing

/// A command that stores a new secret for an item or moves its secret.
struct Storage: Sendable, CustomTestStringConvertible {
  /// The secret that the user stores.
  static let secret = "new-secret"

  let name: String
  let run: @Sendable (ForgeryFixture, _ server: String, _ account: String) throws -> Release.Outcome

  var testDescription: String { name }

  /// The commands that replace the secret of an item.
  static let secrets: [Storage] = [
    Storage(name: "set --secret") { world, server, account in
      Release.command(world, ["set", "\(server)/\(account)", "--secret"], input: secret)
    },
    Storage(name: "add --update") { world, server, account in
      let group = try world.line("\(server)/\(account)").group
      let words = ["add", "\(server)/\(account)", "--protocol", "https", "--group", group, "--update"]
      return Release.command(world, words, input: secret)
    },
    Storage(name: "git credential store") { world, server, account in
      let input = "protocol=https\nhost=\(server)\nusername=\(account)\npassword=\(secret)\n\n"
      return Release.foreign(world, .gitCredential, ["store"], input)
    },
    Storage(name: "security add-internet-password -U") { world, server, account in
      let words = ["-s", server, "-a", account, "-r", "htps", "-w", secret, "-U"]
      return Release.foreign(world, .security, ["add-internet-password"] + words, "")
    },
  ]

  /// The commands that move, copy, change or remove an item without input from the user.
  static let moves: [Storage] = [
    Storage(name: "mv") { Release.command($0, ["mv", "\($1)/\($2)", "new.example/\($2)"]) },
    Storage(name: "cp") { Release.command($0, ["cp", "\($1)/\($2)", "new.example/\($2)"]) },
    Storage(name: "set --group") {
      Release.command($0, ["set", "\($1)/\($2)", "--group", "default", "--widen", "--label", "x"])
    },
    Storage(name: "set --label") { Release.command($0, ["set", "\($1)/\($2)", "--label", "x"]) },
    Storage(name: "generate --update") { world, server, account in
      let group = try world.line("\(server)/\(account)").group
      let words = ["generate", "\(server)/\(account)", "--protocol", "https", "--group", group, "--update"]
      return Release.command(world, words)
    },
    Storage(name: "rm") { Release.command($0, ["rm", "\($1)/\($2)"]) },
  ]
}

extension ForgeryFixture {
  /// Returns the bytes of every file of the items and conflict copies, by path.
  func contents() throws -> [String: [UInt8]] {
    var contents: [String: [UInt8]] = [:]
    for folder in [StoreLayout.items, StoreLayout.conflicts, StoreLayout.local] {
      for name in (try? FileManager.default.subpathsOfDirectory(atPath: "\(store)/\(folder)")) ?? [] {
        let path = "\(folder)/\(name)"
        if let bytes = try? bytes(path) { contents[path] = bytes }
      }
    }
    return contents
  }

  /// Returns all texts that Bob can decrypt.
  func textsOfBob() throws -> [String] {
    try contents().filter { $0.key.hasSuffix(".gpg") }.compactMap { path, bytes in
      readByBob(bytes).map { "\(path): \($0)" }
    }
  }
}
