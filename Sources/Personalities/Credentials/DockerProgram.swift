package import Arguments
package import CommandSupport
internal import Credentials
internal import Keyring
internal import Secrets
internal import Terminal

/// A credential helper of docker (docker-credential-helpers, `credentials/credentials.go`).
///
/// Errors go to standard output with status 1, because docker's client reads nothing else. It compares three of these
/// messages verbatim.
package struct DockerProgram {
  package static let actions = ["store", "get", "erase", "list", "version"]

  private let call: CommandCall
  private let name: String

  /// Creates the helper.
  ///
  /// - Parameters:
  ///   - call: the environment and the console.
  ///   - name: the name for messages.
  package init(_ call: CommandCall, name: String) {
    self.call = call
    self.name = name
  }

  /// Runs the action.
  ///
  /// - Returns: 0, or 1 after a failure. All messages have been written.
  package func status(of words: [Word]) -> Int32 {
    let usage = "Usage: \(name) <\(Self.actions.joined(separator: "|"))>"
    guard words.count == 1, let action = words[0].text else { return refuse([usage]) }
    switch action {
    case "--help", "-h":
      call.console.print(usage)
      return finish()
    case "version", "--version", "-v":
      call.console.print("\(name) (keytree) \(ProgramVersion.number)")
      return finish()
    case _ where Self.actions.contains(action):
      do {
        try run(action)
        return finish()
      } catch {
        return refuse(Self.words(of: error))
      }
    default: return refuse(["\(name): unknown action: \(action)"])
    }
  }

  private func run(_ action: String) throws {
    switch action {
    case "store": try store()
    case "get": try get()
    case "erase": try erase()
    default: try list()
    }
  }

  private func store() throws {
    let message = try call.console.readAll(limit: CredentialLimits.message)
    let credential = try DockerCredential(message)
    try Self.require(credential.serverURL, Self.noServer)
    try Self.require(credential.username, "no credentials username")
    try call.changing { keyring in
      try DockerCredentialHelper(keyring).store(credential)
    }
  }

  private func get() throws {
    let url = try serverURL()
    let keyring = try call.openKeyring()
    keyring.warmUp()
    guard let object = try DockerCredentialHelper(keyring).get(url) else {
      throw Self.notFound
    }
    call.console.print(json: object)
  }

  private func erase() throws {
    let url = try serverURL()
    var isFound = false
    try call.changing { keyring in
      isFound = try DockerCredentialHelper(keyring).erase(url)
      return isFound
    }
    if !isFound { throw Self.notFound }
  }

  private func list() throws {
    // Standard input is read to its end and ignored.
    _ = try call.console.readAll(limit: CredentialLimits.message)
    let index = try call.openIndex()
    call.console.print(json: try DockerCredentialHelper.list(index))
  }

  private func serverURL() throws -> [UInt8] {
    let input = try call.console.readAll(limit: CredentialLimits.message)
    let bytes = unsafe input.withBytes { unsafe Array($0) }
    let isSpace = { (byte: UInt8) in byte <= 0x20 }
    let url = Array(bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    try Self.require(url, Self.noServer)
    return url
  }

  // MARK: Messages

  // The three messages that docker's client compares, from `credentials/error.go`.
  private static let noServer = "no credentials server URL"
  private static let notFound = CommandError.other(
    .notFound, message: "credentials not found in native keychain", hint: "")

  private static func require(_ value: [UInt8], _ words: String) throws {
    if value.isEmpty { throw CommandError.other(.usage, message: words, hint: "") }
  }

  /// Returns docker's own message unchanged, or keytree's report for any other error.
  private static func words(of failure: any Error) -> [String] {
    if case CommandError.other(_, let message, hint: "") = failure { return [message] }
    return ErrorReport(describing: failure).lines
  }

  private func refuse(_ lines: [String]) -> Int32 {
    for line in lines { call.console.print(line) }
    _ = finish()
    return 1
  }

  private func finish() -> Int32 {
    CredentialProgram.run(call.console) { 0 }
  }
}
