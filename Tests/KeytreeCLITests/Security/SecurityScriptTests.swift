import Foundation
import Glibc
import TestSupport
import Testing

/// The built program, linked under the name `security`, as scripts run it.
@Suite("Scripts that call security", .serialized)
struct SecurityScriptTests {
  private func world() throws -> ProcessesProgram {
    let program = try ProcessesProgram.withStore()
    let link = program.folder + "/security"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: ProcessesProgram.path)
    return program
  }

  private func environment(_ program: ProcessesProgram) -> [String: String] {
    [
      "PATH": program.folder + ":/usr/bin:/bin", "HOME": program.folder, "GNUPGHOME": program.gnupg.home,
      "XDG_RUNTIME_DIR": program.folder + "/run", "XDG_STATE_HOME": program.folder + "/state",
      "KEYTREE_STORE": program.store,
    ]
  }

  @Test("scripts for macOS run unchanged in bash")
  func scripts() throws {
    let program = try world()
    let script = #"""
      set -e
      security add-generic-password -a "$HOME" -s deploy -w 's3cret with $pace' 2>/dev/null
      pw=$(security find-generic-password -s deploy -a "$HOME" -w)
      echo "1 $pw"
      # as git and dotfiles of many do it
      security add-internet-password -a me -s git.example -r htps -w 'token-1' 2>/dev/null
      echo "2 $(security find-internet-password -gs git.example 2>&1 | sed -n 's/^password: "\(.*\)"$/\1/p')"
      echo "3 $(security find-internet-password -s git.example | awk -F'"' '/"acct"<blob>/ {print $4}')"
      # replaces, or adds
      security add-generic-password -U -a me -s rotated -w one 2>/dev/null
      security add-generic-password -U -a me -s rotated -w two 2>/dev/null || exit 9
      echo "4 $(security find-generic-password -wa me -s rotated login.keychain)"
      # no secret in the arguments
      security -i <<EOF
      add-generic-password -U -a me -s piped -w "from 'standard' input"
      add-generic-password -U -a you -s piped -X 00ff
      EOF
      echo "5 $(security find-generic-password -a me -s piped -w) $(security find-generic-password -a you -s piped -w)"
      # until there is none
      n=0
      while security delete-generic-password -s piped >/dev/null 2>&1; do n=$((n + 1)); done
      echo "6 $n"
      if security find-generic-password -s piped >/dev/null 2>&1; then exit 9; else echo "7 $?"; fi
      security find-generic-password -s piped 2>&1 | grep -q 'could not be found in the keychain' && echo 8
      set +e
      security add-generic-password -a me -s rotated -w x 2>/dev/null; echo "9 $?"
      printf 'typed\ntyped\n' | setsid security add-generic-password -a me -s asked -w 2>/dev/null; echo "10 $?"
      echo "11 $(security find-generic-password -s asked -w)"
      security dump-keychain | grep -c '^keychain: '
      security find-generic-password -s deploy -w | od -An -c | tail -1
      """#
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/bash")
    process.arguments = ["-c", script]
    process.environment = environment(program)
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let lines = text.split(separator: "\n").map(String.init)
    #expect(
      lines.dropLast() == [
        "1 s3cret with $pace", "2 token-1", "3 me", "4 two", "5 from 'standard' input 00ff", "6 2", "7 44",
        "8", "9 45",
        "10 0", "11 typed", "4",
      ])
    #expect(lines.last?.hasSuffix("\\n") == true)
    #expect(said == "")
  }

  @Test("a password among the arguments is removed from /proc before the command waits")
  func arguments() throws {
    let program = try world()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program.folder + "/security")
    // The second -w asks for a password, so the command waits.
    process.arguments = [
      "add-generic-password", "-a", "me", "-s", "waits", "-wMARKER1", "-X", "MARKER2", "-p", "MARKER3", "-w",
    ]
    process.environment = environment(program)
    let (input, errors) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = FileHandle.nullDevice
    process.standardError = errors
    try process.run()
    var said = ""
    while !said.contains("password data for new item: ") {
      let bytes = errors.fileHandleForReading.availableData
      if bytes.isEmpty { break }
      said += String(decoding: bytes, as: UTF8.self)
    }
    let shown = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(process.processIdentifier)/cmdline"))
    let words = String(decoding: shown, as: UTF8.self)
    #expect(words.contains("add-generic-password\0-a\0me\0-s\0waits\0-w\0"), "other arguments are kept")
    #expect(!words.contains("MARKER"))
    try input.fileHandleForWriting.write(contentsOf: Data("typed\ntyped\n".utf8))
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(said.contains("security: warning: a password in the arguments"))
    let found = try program.run(["get", "generic:waits/me"])
    #expect(found.text == "typed")
  }

  @Test("security asks on a terminal without echo")
  func terminal() throws {
    let world = try CommandFixture()
    let add = try PseudoTerminal(
      ["add-generic-password", "-a", "me", "-s", "pty", "-w"], variables: world.variables, name: "security")
    try add.wait(for: "password data for new item: ")
    add.type("tops3cret\n")
    try add.wait(for: "retype password for new item: ")
    add.type("tops3cret\n")
    let (said, code) = add.finish()
    #expect(code == 0)
    #expect(!said.contains("tops3cret"))
    let find = try PseudoTerminal(
      ["find-generic-password", "-w", "-s", "pty"], variables: world.variables, name: "security")
    #expect(find.finish() == ("tops3cret\r\n", 0))
  }
}
