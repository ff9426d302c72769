/// The name under which the program was called. It selects the protocol or the command line.
///
/// One executable is installed under several names with links, like busybox and git.
package enum ProgramName: String, CaseIterable, Sendable {
  /// The command itself.
  case keytree
  /// The helper that git runs for `credential.helper keytree`.
  case gitCredential = "git-credential-keytree"
  /// The helper that docker runs for `"credsStore": "keytree"`.
  case dockerCredential = "docker-credential-keytree"
  /// The provider that cargo runs for `credential-provider = "cargo-credential-keytree"`.
  case cargoCredential = "cargo-credential-keytree"
  /// The command of Python's `keyring`, which pip and uv run.
  case keyring
  /// The program that `ssh` and `ssh-add` run for `SSH_ASKPASS`.
  case askPass = "keytree-askpass"
  /// The host that a browser starts for the extension browserpass.
  case browserHost = "browserpass-keytree"
  /// The command that scripts for macOS run.
  case security

  /// Creates the name from the last component of the path of a program. Any unknown name means `keytree`.
  package init(path: some Sequence<UInt8>) {
    let last = Array(path).split(separator: UInt8(ascii: "/")).last ?? []
    self = ProgramName(rawValue: String(decoding: last, as: UTF8.self)) ?? .keytree
  }
}
