import Foundation
import Testing

/// A person whose git asks keytree for credentials.
struct GitPerson {
  let home: ProgramsHome

  init() throws {
    home = try ProgramsHome()
    try home.succeed(["git", "config", "--global", "credential.helper", "keytree"])
    // Answers as the files `username` and `password` say, and fails without them.
    let script = """
      #!/bin/sh
      echo "$1" >> "$HOME/questions"
      case $1 in Username*) cat "$HOME/username" ;; *) cat "$HOME/password" ;; esac
      """
    try home.write(script + "\n", to: "askpass", mode: 0o700)
  }

  /// Has the person answer git's questions from now on; nil when nobody is there.
  func answer(_ answers: (user: String, password: String)?) throws {
    for name in ["username", "password"] {
      try? FileManager.default.removeItem(atPath: "\(home.folder)/\(name)")
    }
    guard let answers else { return }
    try home.write(answers.user, to: "username")
    try home.write(answers.password, to: "password")
  }

  /// What git has asked the person since it was asked here last.
  func questions() -> [String] {
    let path = "\(home.folder)/questions"
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    try? FileManager.default.removeItem(atPath: path)
    return text.split(separator: "\n").map(String.init)
  }

  /// Runs git.
  func git(_ arguments: [String], input: String = "") throws -> ProcessesProgram.Outcome {
    let variables = [
      "GIT_ASKPASS": "\(home.folder)/askpass", "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1",
    ]
    return try home.run(["git"] + arguments, input: input, variables: variables)
  }

  /// Has git ask for a credential as it does before it speaks to a server.
  ///
  /// - Returns: User name and password; nil when nobody knows them.
  func fill(_ question: String) throws -> String? {
    let outcome = try git(["credential", "fill"], input: question)
    guard outcome.status == 0 else { return nil }
    return outcome.text.split(separator: "\n").filter {
      $0.hasPrefix("username=") || $0.hasPrefix("password=")
    }
    .joined(separator: "\n")
  }

  /// The subjects of the store's last commits, the newest first.
  func history() throws -> [String] {
    try home.program.git(["log", "--format=%s"]).split(separator: "\n").map(String.init)
  }
}
