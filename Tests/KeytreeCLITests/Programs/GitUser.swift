import Foundation
import Testing

/// A user whose git asks keytree for credentials.
struct GitUser {
  let home: ProgramsHome

  init() throws {
    home = try ProgramsHome()
    try home.succeed(["git", "config", "--global", "credential.helper", "keytree"])
    // The script answers with the content of the files `username` and `password`, and fails if they do not exist.
    let script = """
      #!/bin/sh
      echo "$1" >> "$HOME/questions"
      case $1 in Username*) cat "$HOME/username" ;; *) cat "$HOME/password" ;; esac
      """
    try home.write(script + "\n", to: "askpass", mode: 0o700)
  }

  /// Sets the user's answers to git's questions; nil if there is no user.
  func answer(_ answers: (user: String, password: String)?) throws {
    for name in ["username", "password"] {
      try? FileManager.default.removeItem(atPath: "\(home.folder)/\(name)")
    }
    guard let answers else { return }
    try home.write(answers.user, to: "username")
    try home.write(answers.password, to: "password")
  }

  /// Returns git's questions to the user since the last call.
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

  /// Makes git ask for a credential as it does before it connects to a server.
  ///
  /// - Returns: The user name and password; nil if git gets none.
  func fill(_ question: String) throws -> String? {
    let outcome = try git(["credential", "fill"], input: question)
    guard outcome.status == 0 else { return nil }
    return outcome.text.split(separator: "\n").filter {
      $0.hasPrefix("username=") || $0.hasPrefix("password=")
    }
    .joined(separator: "\n")
  }

  /// Returns the subjects of the store's commits, newest first.
  func history() throws -> [String] {
    try home.program.git(["log", "--format=%s"]).split(separator: "\n").map(String.init)
  }
}
