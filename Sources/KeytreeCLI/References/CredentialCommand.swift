internal import Arguments
internal import CommandSupport
internal import Credentials
internal import Keyring
internal import Personalities
internal import Secrets
internal import Terminal

/// `keytree credential`: implements the protocols of programs that keep credentials in helpers.
enum CredentialCommand: Command {
  static let gitActions = ["get", "store", "erase", "capability"]

  static let git = CommandDeclaration(
    name: "git", summary: "answer git's questions for credentials",
    details: [
      "`git config --global credential.helper keytree` makes git ask here, once keytree is installed as "
        + "`git-credential-keytree` as well. A credential is an internet password: `keytree find` lists it.",
      "The question has to name protocol and host; what was stored for `https` is not handed out for `http`, nor for "
        + "another port. An item without a protocol answers for `https` alone. Of several accounts the one that "
        + "worked last on this machine is taken.",
      "What git says has worked is stored, unless it is there already; what git says was rejected is removed, unless "
        + "the password has changed in the meantime.",
    ],
    operands: [
      OperandDeclaration(
        "ACTION", .bytes, completion: .words(gitActions),
        help: "get, store, erase or capability; any other is passed over, as the protocol wants")
    ],
    examples: [
      Example(
        "printf 'protocol=https\\nhost=git.example\\n' | keytree credential git get",
        "answers one question by hand")
    ],
    exitCodes: [3, 4, 7, 8, 9, 10, 11, 12])
  static let docker = CommandDeclaration(
    name: "docker", summary: "keep docker's credentials",
    details: [
      "`\"credsStore\": \"keytree\"` in `~/.docker/config.json` makes docker ask here, once keytree is installed as "
        + "`docker-credential-keytree` as well. Entries are internet passwords with the label `Docker Credentials`.",
      "As docker wants, every error goes to standard output, with exit code 1.",
    ],
    operands: [
      OperandDeclaration(
        "ACTION", .bytes, count: .optional, completion: .words(DockerProgram.actions),
        help: "store, get, erase, list or version")
    ],
    examples: [Example("keytree credential docker list", "prints registries and accounts; decrypts nothing")])

  static let declaration = CommandDeclaration(
    name: "credential", summary: "keep the credentials of other programs",
    details: [
      "Programs call keytree by other names for this, see the article Programs: `git-credential-keytree`, "
        + "`docker-credential-keytree`, `cargo-credential-keytree`, `keyring`, `keytree-askpass` and `security`."
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
