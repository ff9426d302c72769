package import Arguments
package import CommandSupport
package import Credentials
internal import Keyring
internal import Secrets
package import Terminal

/// The program that `ssh` and `ssh-add` run if `SSH_ASKPASS` names it. It receives a prompt and prints the answer.
///
/// It answers only prompts whose text comes from these programs themselves (threat T48).
package struct AskPassProgram {
  private let call: CommandCall
  private let caller: (Environment) -> PromptCaller?

  /// Creates the program.
  ///
  /// - Parameters:
  ///   - call: the environment and the console.
  ///   - caller: identifies the program that asks.
  package init(_ call: CommandCall, caller: @escaping (Environment) -> PromptCaller? = PromptCaller.parent) {
    (self.call, self.caller) = (call, caller)
  }

  /// Answers a prompt.
  ///
  /// - Returns: 0 with the secret and a line feed on standard output, or after `--help`; 1 with empty standard output.
  package func status(of words: [Word]) -> Int32 {
    CredentialProgram.run(call.console) {
      // ssh never prompts with one of these words.
      if words.count == 1, ["--help", "-h"].contains(words[0].text) {
        call.console.print("Usage: SSH_ASKPASS=keytree-askpass SSH_ASKPASS_REQUIRE=force ssh HOST")
        return 0
      }
      // A yes-or-no question is never answered.
      let isQuestion = call.environment.text("SSH_ASKPASS_PROMPT") != nil
      guard words.count == 1, !isQuestion else { throw Self.unanswerable }
      guard let caller = caller(call.environment) else {
        throw CommandError.other(
          .usage,
          message: "keytree-askpass answers only `ssh` of OpenSSH 8.5 or later, `ssh-add` and `ssh-keygen`",
          hint:
            "load the key with `ssh-add` first, because an older `ssh` forwards prompts of a server; end a wrapper "
            + "script with `exec keytree-askpass \"$@\"`")
      }
      guard let prompt = PassphrasePrompt(words[0].bytes, from: caller) else { throw Self.unanswerable }
      let keyring = try call.openKeyring()
      keyring.warmUp()
      guard let (secret, item) = try PassphraseItems(keyring).secret(for: prompt) else {
        throw CommandError.noMatch(Self.name(prompt))
      }
      guard unsafe !secret.withBytes({ unsafe $0.contains { $0 == 0 || $0 == 0x0A || $0 == 0x0D } }) else {
        throw CredentialError.notRepresentable(item)
      }
      call.console.writeExactly(secret.copy())
      call.console.write("\n")
      return 0
    }
  }

  private static var unanswerable: CommandError {
    .other(
      .usage, message: "keytree-askpass cannot answer this prompt",
      hint:
        "only the prompts `Enter passphrase for KEY: ` and `USER@HOST's password: ` are supported; `ssh-keygen` must "
        + "name the key with `-f`")
  }

  private static func name(_ prompt: PassphrasePrompt) -> String {
    switch prompt {
    case .key(let path): "generic:ssh/\(String(decoding: path, as: UTF8.self))"
    case .login(let account, let host):
      "\(String(decoding: host, as: UTF8.self))/\(String(decoding: account, as: UTF8.self)) -r ssh"
    }
  }
}
