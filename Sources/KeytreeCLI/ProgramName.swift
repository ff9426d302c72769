/// The name that the program was called by, which decides what language it speaks.
///
/// One executable, installed under several names by links, as busybox and git are.
package enum ProgramName: String, CaseIterable, Sendable {
  /// The command itself.
  case keytree
  /// What git runs for `credential.helper keytree`.
  case gitCredential = "git-credential-keytree"
  /// What docker runs for `"credsStore": "keytree"`.
  case dockerCredential = "docker-credential-keytree"
  /// What cargo runs for `credential-provider = "cargo-credential-keytree"`.
  case cargoCredential = "cargo-credential-keytree"
  /// The command of Python's `keyring`, which pip and uv run.
  case keyring
  /// What `ssh` and `ssh-add` run for `SSH_ASKPASS`.
  case askPass = "keytree-askpass"
  /// What scripts for macOS run.
  case security

  /// The name at the end of the path that a program was started with; any other name is `keytree`.
  package init(path: some Sequence<UInt8>) {
    let last = Array(path).split(separator: UInt8(ascii: "/")).last ?? []
    self = ProgramName(rawValue: String(decoding: last, as: UTF8.self)) ?? .keytree
  }
}
