/// The name that the program was called by, which decides what language it speaks.
///
/// One executable, installed under several names by links, as busybox and git are.
package enum ProgramName: String, CaseIterable, Sendable {
  /// The command itself.
  case keytree
  /// What git runs for `credential.helper keytree`.
  case gitCredential = "git-credential-keytree"

  /// The name at the end of the path that a program was started with; any other name is `keytree`.
  package init(path: some Sequence<UInt8>) {
    let last = Array(path).split(separator: UInt8(ascii: "/")).last ?? []
    self = ProgramName(rawValue: String(decoding: last, as: UTF8.self)) ?? .keytree
  }
}
