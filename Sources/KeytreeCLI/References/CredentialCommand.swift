internal import Arguments
internal import CommandSupport
internal import Credentials
internal import Keyring
internal import Personalities
internal import Secrets
internal import Terminal

/// `keytree credential`: implements the protocols of programs that store credentials with helpers.
enum CredentialCommand: Command {
  static let gitActions = ["get", "store", "erase", "capability"]

  static let git = CommandDeclaration(
    name: "git", summary: "answer git's requests for credentials",
    details: [
      "`git config --global credential.helper keytree` makes git ask keytree, if keytree is also installed as "
        + "`git-credential-keytree`. A credential is an internet password: `keytree find` lists it.",
      "A request must name protocol and host. A credential that was stored for `https` is not returned for `http` or "
        + "for another port. An item without a protocol is returned only for `https`. If there are several accounts, "
        + "the one that last worked on this machine is returned.",
      "A credential that git approves is stored, unless it already exists. A credential that git rejects is removed, "
        + "unless the password has changed in the meantime.",
    ],
    operands: [
      OperandDeclaration(
        "ACTION", .bytes, completion: .words(gitActions),
        help: "get, store, erase or capability; others are ignored, as the protocol requires")
    ],
    examples: [
      Example(
        "printf 'protocol=https\\nhost=git.example\\n' | keytree credential git get",
        "answers one request by hand")
    ],
    exitCodes: [3, 4, 7, 8, 9, 10, 11, 12, 14])
  static let docker = CommandDeclaration(
    name: "docker", summary: "store docker's credentials",
    details: [
      "`\"credsStore\": \"keytree\"` in `~/.docker/config.json` makes docker ask keytree, if keytree is also "
        + "installed as `docker-credential-keytree`. Entries are internet passwords with the label `Docker "
        + "Credentials`.",
      "Every error goes to standard output, with exit code 1, because docker requires it.",
    ],
    operands: [
      OperandDeclaration(
        "ACTION", .bytes, count: .optional, completion: .words(DockerProgram.actions),
        help: "store, get, erase, list or version")
    ],
    examples: [Example("keytree credential docker list", "prints registries and accounts; decrypts nothing")])

  static let declaration = CommandDeclaration(
    name: "credential", summary: "store the credentials of other programs",
    details: [
      "Programs call keytree by other names for this purpose: `git-credential-keytree`, `docker-credential-keytree`, "
        + "`cargo-credential-keytree`, `keyring`, `keytree-askpass` and `security`. The article Programs describes "
        + "them."
    ],
    subcommands: [git, docker])

  static func run(_ call: CommandCall) throws -> ExitCode {
    if call.path.last?.name == docker.name {
      let status = DockerProgram(call, name: "keytree credential docker").status(of: call.arguments.operands)
      if status != 0 { throw CommandError.exit(status: status) }
      return .done
    }
    return try answerGit(call.arguments.operand(0)?.text ?? "", call)
  }

  private static func answerGit(_ action: String, _ call: CommandCall) throws -> ExitCode {
    // Always read to the end, because git writes the whole input before it checks for a closed pipe.
    let message = SecretSlice(try call.console.readAll(limit: CredentialLimits.message))
    switch action {
    case "capability":
      for line in ["version 0", "capability authtype", "capability state"] { call.console.print(line) }
    case "get":
      let question = try GitCredential(message)
      let keyring = try call.openKeyring()
      defer { call.explain(keyring.engineStatistics) }
      keyring.warmUp()
      guard let (answer, item) = try helper(keyring, call).get(question) else {
        return .done
      }
      guard let text = answer.encoded() else { throw CredentialError.notRepresentable(item) }
      call.console.writeExactly(text)
    case "store":
      let credential = try GitCredential(message)
      try call.changing { keyring in try helper(keyring, call).store(credential) }
    case "erase":
      let credential = try GitCredential(message)
      try call.changing { keyring in try helper(keyring, call).erase(credential) > 0 }
    default: break
    }
    return .done
  }

  private static func helper(_ keyring: Keyring, _ call: CommandCall) -> GitCredentialHelper {
    GitCredentialHelper(keyring, recent: call.recentLogins(of: keyring), now: call.environment.clock())
  }
}
