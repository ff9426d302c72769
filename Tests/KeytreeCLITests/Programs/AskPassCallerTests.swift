import Foundation
import TestSupport
import Testing

/// `keytree-askpass` as a child of the program that asks: a prompt that a server worded must get no answer (threat
/// T48).
@Suite("The program that asks for a passphrase", .serialized, .waits)
struct AskPassCallerTests {
  private let home: ProgramsHome

  init() throws {
    home = try ProgramsHome()
    try home.add(["bank.example/alice", "-r", "ssh"], "of the bank")
    try home.add(["generic:ssh/id_ed25519"], "of the key")
  }

  /// Returns the answer to a prompt that a program with this name passes on; nil if it is refused.
  private func answer(_ prompt: String, from name: String) throws -> String? {
    try home.addShell(named: name)
    let outcome = try home.run(["./\(name)", "-c", "keytree-askpass \"$1\"; exit $?", "sh", prompt])
    #expect(outcome.status == 0 || outcome.text == "")
    return outcome.status == 0 ? outcome.text : nil
  }

  static let worded = [
    "alice@bank.example's password: ", "Enter passphrase for key '/home/a/.ssh/id_ed25519': ",
  ]

  @Test(
    "a client that passes on prompts of a server gets no secret",
    arguments: worded, ["ssh", "dbclient", "plink", "sh"])
  func unknownClient(prompt: String, name: String) throws {
    // A shell is not OpenSSH 8.5, whatever its name is.
    #expect(try answer(prompt, from: name) == nil)
  }

  @Test(
    "ssh-add and ssh-keygen, which connect to no server, get the passphrase of a key",
    arguments: ["ssh-add", "ssh-keygen"])
  func localPrograms(name: String) throws {
    #expect(try answer("Enter passphrase for /home/a/.ssh/id_ed25519: ", from: name) == "of the key\n")
    #expect(try answer("alice@bank.example's password: ", from: name) == nil)
  }

  @Test(.enabled(if: RealProgram.has("ssh-keygen"), "OpenSSH is not installed"))
  func `ssh-keygen shows the public key, signs, and changes a passphrase`() throws {
    try home.succeed(
      ["ssh-keygen", "-q", "-t", "ed25519", "-N", "of the key", "-C", "x", "-f", "\(home.folder)/id_ed25519"])
    let ask = ["SSH_ASKPASS": "keytree-askpass", "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ""]
    let shown = try home.run(["ssh-keygen", "-y", "-f", "id_ed25519"], variables: ask)
    #expect(shown.status == 0 && shown.text.hasPrefix("ssh-ed25519 "), "\(shown.errors)")
    try home.write("text", to: "file")
    let key = "\(home.folder)/id_ed25519"
    for name in [key, "\(key).pub"] {
      let signed = try home.run(
        ["sh", "-c", "ssh-keygen -Y sign -n file -f \"$1\" < file", "sh", name], variables: ask)
      #expect(signed.status == 0 && signed.text.hasPrefix("-----BEGIN SSH SIGNATURE"), "\(signed.errors)")
    }
    let changed = try home.run(["ssh-keygen", "-q", "-p", "-N", "new", "-f", key], variables: ask)
    #expect(changed.status == 0, "\(changed.errors)")
    try home.succeed(["ssh-keygen", "-q", "-y", "-P", "new", "-f", key])
  }

  @Test(
    .enabled(
      if: RealProgram.has("ssh") && RealProgram.hasMarkedPrompts, "OpenSSH 8.5 or later is not installed"),
    arguments: [
      ("alice@bank.example's password: ", "of the bank\n"),
      ("Enter passphrase for key '/home/a/.ssh/id_ed25519': ", "of the key\n"),
      // Only ssh-add uses this wording.
      ("Enter passphrase for /home/a/.ssh/id_ed25519: ", ""),
      ("(mallory@evil.example) alice@bank.example's password: ", ""),
      ("(mallory@evil.example) Enter passphrase for key '/home/a/.ssh/id_ed25519': ", ""),
    ])
  func `ssh gets an answer to its own prompts only`(prompt: String, answer: String) throws {
    // keytree-askpass replaces the shell of the ProxyCommand, so it is a child of ssh, as it is for a prompt. ssh ends
    // as soon as the pipe from the command is closed, so descriptor 3 keeps it open.
    try home.write(prompt, to: "prompt")
    let command = "keytree-askpass \"$(cat prompt)\" 3>&1 > answer"
    let outcome = try home.run(["ssh", "-F", "/dev/null", "-o", "ProxyCommand=\(command)", "host.example"])
    let text = String(
      decoding: FileManager.default.contents(atPath: "\(home.folder)/answer") ?? Data(), as: UTF8.self)
    #expect(text == answer, "\(outcome.errors)")
  }
}

extension RealProgram {
  /// A Boolean value that indicates whether the installed ssh marks the prompts of servers.
  static var hasMarkedPrompts: Bool {
    let text = output(["sh", "-c", "ssh -V 2>&1"]) ?? ""
    guard let match = text.firstMatch(of: /OpenSSH_(\d+)\.(\d+)/), let major = Int(match.1),
      let minor = Int(match.2)
    else { return false }
    return (major, minor) >= (8, 5)
  }
}
