import Foundation
import TestSupport

/// Homes for the people of a document, with the built `keytree`, and without the network, the desktop or root.
///
/// `ssh HOST COMMAND` runs the command in the home of the person `git`, so that `git@example.org:team/keys.git` is a
/// repository there. `wl-copy` forgets what it gets. The dialog of GnuPG answers with an empty passphrase.
final class DocumentSandbox {
  /// A problem of a block.
  struct Failure: Error, CustomStringConvertible {
    let block: String
    let reason: String
    let output: String
    var description: String { "\(reason) in the block\n\(block)\nwith the output\n\(output)" }
  }

  private let scratch = ScratchFolder()
  /// The character in front of the number of a part in the output.
  private static let mark = "\u{1E}"

  init() throws {
    for name in ["bin", "tmp"] {
      try FileManager.default.createDirectory(
        atPath: "\(scratch.path)/\(name)", withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
    }
    for name in ProgramsHome.names {
      try FileManager.default.createSymbolicLink(
        atPath: "\(scratch.path)/bin/\(name)", withDestinationPath: PseudoTerminal.program)
    }
    let pinentry = """
      #!/bin/sh
      echo 'OK ready'
      while read -r command rest; do
        echo OK
        if [ "$command" = BYE ]; then exit 0; fi
      done
      """
    let ssh = """
      #!/bin/sh
      for command; do :; done
      cd '\(scratch.path)/git' && exec sh -c "$command"
      """
    for (name, script) in [
      "pinentry": pinentry, "ssh": ssh, "wl-copy": "#!/bin/sh\ncat > /dev/null", "wl-paste": "#!/bin/sh",
    ] {
      try ExecutableFile.write(script + "\n", to: "\(scratch.path)/bin/\(name)")
    }
  }

  deinit {
    let files = FileManager.default.enumerator(atPath: scratch.path)?.compactMap { $0 as? String } ?? []
    for file in files where file.hasSuffix("/S.gpg-agent") {
      _ = AgentSocket.kill(at: "\(scratch.path)/\(file)")
    }
  }

  /// Runs the blocks of a document in one shell.
  ///
  /// - Throws: `Failure` for the first block that does not work.
  func run(_ script: DocumentScript) throws {
    let parts = script.parts.filter { part in
      part.skipReason == nil && part.program.map { RealProgram.has($0) } ?? true
    }
    var text = prelude
    for (number, part) in parts.enumerated() {
      if let person = part.person { text += "become \(person)\n" }
      text += "printf '\(Self.mark)%d\\n' \(number)\n"
      // A block with another exit code runs in a shell of its own.
      let code = part.step.exitCode
      text +=
        code == 0
        ? part.text + "\n"
        : "set +e; (set -eo pipefail\n\(part.text)\n); [ $? = \(code) ] || exit 99; set -e\n"
    }
    let file = "\(scratch.path)/script"
    try text.write(toFile: file, atomically: false, encoding: .utf8)
    let shell = try PseudoTerminal([file], variables: variables, name: "bash", program: "/bin/bash")
    try follow(shell, parts)
  }

  /// Answers the prompts of the parts, and checks their output.
  private func follow(_ shell: PseudoTerminal, _ parts: [DocumentScript.Part]) throws {
    var output = ""
    var answers: [Int: Int] = [:]
    while true {
      let (text, isPrompt) = shell.waitForPrompt()
      output += text
      guard isPrompt else { break }
      let pieces = output.components(separatedBy: Self.mark)
      let number = pieces.count - 2
      let given = answers[number, default: 0]
      guard number >= 0, given < parts[number].step.input.lines.count else {
        // What was read can end like a prompt by chance. Then there is more.
        if shell.writesMore(within: 3) { continue }
        shell.end(by: SIGKILL)
        _ = shell.finish()
        throw Failure(
          block: number < 0 ? "" : parts[number].text, reason: "a prompt without an answer",
          output: pieces.last ?? "")
      }
      shell.type(parts[number].step.input.lines[given] + "\n")
      answers[number] = given + 1
    }
    let code = shell.finish().code
    let pieces = output.components(separatedBy: Self.mark).dropFirst()
    for (number, (part, piece)) in zip(parts, pieces).enumerated() {
      let isLast = number == pieces.count - 1
      if isLast, code != 0 { throw Failure(block: part.text, reason: "exit code \(code)", output: piece) }
      if answers[number, default: 0] < part.step.input.lines.count {
        throw Failure(block: part.text, reason: "an answer without a prompt", output: piece)
      }
      // The first row is the number of the part.
      let rows = piece.split(whereSeparator: \.isNewline).dropFirst()
      for line in part.step.output.lines
      where !rows.contains(where: { Int(line) == nil ? $0.contains(line) : $0 == line }) {
        throw Failure(block: part.text, reason: "no output \(line)", output: piece)
      }
    }
    guard pieces.count == parts.count else {
      throw Failure(block: parts.first?.text ?? "", reason: "exit code \(code)", output: output)
    }
  }

  private var variables: [String: String] {
    [
      "PATH": "\(scratch.path)/bin:\(RealProgram.folders.joined(separator: ":"))", "TERM": "xterm",
      "LANG": "C.UTF-8",
      "TMPDIR": "\(scratch.path)/tmp", "WAYLAND_DISPLAY": "none", "S": scratch.path,
      "R": MarkdownDocument.root.path,
      "GIT_CONFIG_NOSYSTEM": "1",
    ]
  }

  /// The functions that the lines of a document's file may use, besides `$S`, the folder of all homes, and `$R`, the
  /// repository: `become PERSON`, `key "NAME <MAIL>"`, and `repository PATH`, which makes a bare one on the server.
  ///
  /// Each person has a GnuPG home that is not GnuPG's own default, because the sockets of that one may be in a folder
  /// of the user who runs the tests.
  private var prelude: String {
    #"""
    set -eo pipefail
    search=$PATH
    become() {
      export HOME=$S/$1 GNUPGHOME=$S/$1/gnupg XDG_RUNTIME_DIR=$S/$1/run PATH=$S/$1/.local/bin:$search
      unset KEYTREE_STORE
      if [ ! -d "$GNUPGHOME" ]; then
        mkdir -p "$HOME/.local/bin"
        mkdir -m 700 "$GNUPGHOME" "$XDG_RUNTIME_DIR"
        ln -s gnupg "$HOME/.gnupg"
        echo 'default-new-key-algo ed25519/cert,sign+cv25519/encr' > "$GNUPGHOME/gpg.conf"
        # With GnuPG's own count, each use of a key with a passphrase takes 0.1 s.
        printf '%s\n' 's2k-count 65536' "pinentry-program $S/bin/pinentry" > "$GNUPGHOME/gpg-agent.conf"
      fi
      cd "$HOME"
    }
    key() { gpg --batch --quiet --passphrase '' --quick-generate-key "$1" default default never; }
    repository() { git init --quiet --bare --initial-branch=main "$S/git/$1"; }
    become alice

    """#
  }
}
