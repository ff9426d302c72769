import Arguments
import CommandSupport
import Foundation
import Keyring
import KeyringModel
import KeytreeCLI
import Personalities
import TestSupport
import Testing

/// A command that prints, copies or passes on the secret of an item.
struct Release: Sendable, CustomTestStringConvertible {
  /// The result of a command, with every output that could contain a secret.
  struct Outcome {
    let status: Int32
    /// Standard output, and everything that was written to files or passed on.
    let output: String
    let diagnostics: String
  }

  let name: String
  /// The exit status of a refusal; nil if the protocol of another program defines its own.
  var refusal: Int32? = ExitCode.damaged.rawValue
  let run: @Sendable (ForgeryFixture, _ server: String, _ account: String) throws -> Outcome

  var testDescription: String { name }

  /// The commands that cover the library functions behind all others.
  static var few: [Release] { all.filter { ["get", "inject", "git credential get"].contains($0.name) } }

  static let all: [Release] = [
    Release(name: "get") { command($0, ["get", "\($1)/\($2)"]) },
    Release(name: "get --json --reveal") { command($0, ["get", "\($1)/\($2)", "--json", "--reveal"]) },
    Release(name: "get --qr") { command($0, ["get", "\($1)/\($2)", "--qr"], isTerminal: true) },
    Release(name: "get --out") { world, server, account in
      let file = world.alice.folder.path + "/out"
      defer { ScratchFolder.remove(file) }
      let outcome = command(world, ["get", "\(server)/\(account)", "--out", file])
      return outcome.adding(file)
    },
    Release(name: "read") { command($0, ["read", "keytree://internet-password/\(try $0.path($1, $2))"]) },
    Release(name: "read by id") {
      command($0, ["read", "keytree://id/\(try $0.line("\($1)/\($2)").id.hex)"])
    },
    Release(name: "inject") { world, server, account in
      let text = "x={{ keytree://internet-password/\(try world.path(server, account)) }}"
      return command(world, ["inject"], input: text)
    },
    Release(name: "run") { world, server, account in
      let words = [
        "run", "--env", "X=keytree://internet-password/\(try world.path(server, account))", "--", "sh", "-c",
        "printf %s \"$X\"",
      ]
      return try built(world, words)
    },
    Release(name: "export json") { world, server, _ in
      let file = world.alice.folder.path + "/export.json"
      defer { ScratchFolder.remove(file) }
      let words = ["export", "json", file, "--format", "keytree", "--plaintext", "--server", server]
      return command(world, words).adding(file)
    },
    Release(name: "git credential get", refusal: nil) { world, server, account in
      let input = "protocol=https\nhost=\(server)\nusername=\(account)\n\n"
      return foreign(world, .gitCredential, ["get"], input)
    },
    Release(name: "security find-internet-password -w", refusal: nil) { world, server, account in
      foreign(world, .security, ["find-internet-password", "-s", server, "-a", account, "-w"], "")
    },
    Release(name: "security find-internet-password -g", refusal: nil) { world, server, account in
      foreign(world, .security, ["find-internet-password", "-s", server, "-a", account, "-g"], "")
    },
  ]

  // MARK: Running

  static func command(
    _ world: ForgeryFixture, _ words: [String], input: String = "", isTerminal: Bool = false,
    more: [String: String] = [:]
  ) -> Outcome {
    let result = world.alice.run(
      words.map { Word($0) }, input: Array(input.utf8), isTerminal: isTerminal, more: more)
    return Outcome(status: result.code.rawValue, output: result.text, diagnostics: result.diagnosticsText)
  }

  static func foreign(
    _ world: ForgeryFixture, _ name: ProgramName, _ words: [String], _ input: String
  ) -> Outcome {
    let result = world.alice.run(as: name, words, input: input)
    return Outcome(status: result.status, output: result.text, diagnostics: result.talk)
  }

  /// Runs the built program, because `run` replaces its process.
  static func built(_ world: ForgeryFixture, _ words: [String]) throws -> Outcome {
    // The output goes to files, because a signal from another test can interrupt a pipe.
    let files = ["stdout", "stderr"].map { "\(world.alice.folder.path)/\($0)" }
    for file in files { try Data().write(to: URL(fileURLWithPath: file)) }
    let process = try BuiltProgram.start(
      words, environment: world.alice.variables, output: FileHandle(forWritingAtPath: files[0]),
      errors: FileHandle(forWritingAtPath: files[1]))
    process.waitUntilExit()
    let texts = try files.map { try String(contentsOfFile: $0, encoding: .utf8) }
    return Outcome(status: process.terminationStatus, output: texts[0], diagnostics: texts[1])
  }
}

extension Release.Outcome {
  /// Returns the outcome with the content of a file that the command may have written.
  func adding(_ file: String) -> Release.Outcome {
    let content = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
    return Release.Outcome(status: status, output: output + content, diagnostics: diagnostics)
  }

  /// True if the output or the diagnostics of the command contain a secret of the store.
  var hasSecret: Bool {
    ForgeryFixture.forbidden.contains { output.contains($0) || diagnostics.contains($0) }
  }
}

extension ForgeryFixture {
  /// Returns the path of an item below its class, as listed in the index. If the index lacks the item, the path is that
  /// of an `https` login.
  func path(_ server: String, _ account: String) throws -> String {
    let login = try NewItem.login(server, account, [.protocol: "https"]).path()
    // The index of a test may lack the login on purpose.
    let path = (try? line("\(server)/\(account)").path) ?? login
    return "\(path.container)/\(path.name)"
  }
}
