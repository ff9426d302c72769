import Foundation
import Glibc
import Secrets
import TestSupport
import Testing
@testable import CommandSupport
@testable import KeytreeCLI
@testable import Terminal

/// Serialized, because signal handlers belong to the whole process.
@Suite("The editor", .serialized)
final class EditorTests {
  private let base: String
  private let scripts: TemporaryFolder

  init() throws {
    scripts = try TemporaryFolder()
    base = "/dev/shm/kt-" + UUID().uuidString.prefix(8)
    try FileManager.default.createDirectory(atPath: base, withIntermediateDirectories: true)
  }

  deinit {
    // A leftover folder is no reason to fail.
    try? FileManager.default.removeItem(atPath: base)
  }

  private func edit(_ text: String, script: String, limit: Int = 100) throws -> String? {
    try edit(text, script: script, limit: limit, memory: MemoryConsole(isTerminal: true))
  }

  private func edit(
    _ text: String, script: String, limit: Int = 100, glance: Duration = .zero, memory: MemoryConsole
  ) throws -> String? {
    let path = scripts.path + "/editor.sh"
    // If the script cannot be written, the editor fails, and so does the test.
    try? script.write(toFile: path, atomically: true, encoding: .utf8)
    let environment = Environment([
      "EDITOR": "/bin/sh -e '\(path)'", "PATH": "/usr/bin:/bin", "TMPDIR": "/tmp", "BASE": base,
      "MARK": scripts.path + "/mark",
    ])
    let editor = Editor(
      environment: environment, folders: ["/nonexistent", "/proc", base], glance: glance)
    let old = SecretBytes(copying: Array(text.utf8))
    SignalTestLock.begin()
    defer { SignalTestLock.end() }
    guard let new = try editor.edit(old, limit: limit, console: memory.console) else { return nil }
    return String(decoding: new.revealed, as: UTF8.self)
  }

  private var left: [String] {
    // If the folder does not exist, nothing is left.
    (try? FileManager.default.contentsOfDirectory(atPath: base)) ?? []
  }

  @Test(
    "the editor returns the changed secret, or nil if it is unchanged",
    arguments: [
      ("old", #"printf 'new\n' > "$1""#, "new"),
      ("old", #"printf 'new\n\n' > "$1""#, "new\n"),
      ("old\n", #"printf 'new\n' > "$1""#, "new\n"),
      ("old\n", #"printf 'new' > "$1""#, "new"),
      ("old", "true", nil),
      ("old", #"printf '\n' >> "$1""#, nil),
      ("old", #"printf x > "$1.new"; mv "$1.new" "$1""#, "x"),
      ("old", #"cp "$1" "$1~"; mkdir -p "$TMPDIR/a/b"; cp "$1" "$TMPDIR/a/b/.swp"; printf x > "$1""#, "x"),
      ("old", #"ln -s /etc "$TMPDIR/link"; printf x > "$1""#, "x"),
      ("old", #"test "$(cat "$1")" = old; test "$(stat -c %a "$1" "$TMPDIR" | xargs)" = '600 700'"#, nil),
      ("old", #"test "$(dirname "$1")" = "$TMPDIR"; test "$(ls "$BASE" | wc -l)" = 1"#, nil),
    ] as [(String, String, String?)])
  func changes(old: String, script: String, new: String?) throws {
    #expect(try edit(old, script: script) == new)
    #expect(left == [])
  }

  @Test(
    "an error changes nothing and leaves nothing behind",
    arguments: [
      ("exit 3", .failed(program: "/bin/sh", status: 3)),
      ("kill -9 $$", .killed(program: "/bin/sh", signal: SIGKILL)),
      (#"rm "$1""#, .fileMissing),
      (#"ln -sf /etc/passwd "$1""#, .fileMissing),
      (#"rm "$1"; mkfifo "$1""#, .fileMissing),
      (#": > "$1""#, .empty),
      (#"printf '\n' > "$1""#, .empty),
      (#"printf '%0101d' 0 > "$1""#, .tooLong(limit: 100)),
      (#"printf '%0200d' 0 > "$1""#, .tooLong(limit: 100)),
    ] as [(String, EditorError)])
  func failures(script: String, failure: EditorError) {
    #expect(throws: failure) { try edit("old", script: script) }
    #expect(left == [])
  }

  /// Scripts for the first run of the editor, the reason why the result is not stored, and the error.
  private static let spoiled: [(String, String, EditorError)] = [
    (
      #"printf typed > "$1"; exit 3"#, #""/bin/sh" exited with status 3"#,
      .failed(program: "/bin/sh", status: 3)
    ),
    (
      #"printf typed > "$1"; kill -9 $$"#, #""/bin/sh" was killed by signal 9"#,
      .killed(program: "/bin/sh", signal: SIGKILL)
    ),
    (#": > "$1""#, "the edited secret is empty", .empty),
    (
      #"printf '%0101d' 0 > "$1""#, "the edited secret is longer than 100 bytes", .tooLong(limit: 100)
    ),
    (
      #"printf '%0200d' 0 > "$1""#, "the edited secret is longer than 100 bytes", .tooLong(limit: 100)
    ),
  ]

  @Test("the editor can be started again on text that cannot be stored", arguments: spoiled)
  func again(script: String, reason: String, failure: EditorError) throws {
    let memory = MemoryConsole(["y"], isTerminal: true, columns: 200)
    let second = #"cp "$1" "$MARK.seen"; printf good > "$1"; exit 0"#
    let new = try edit(
      "old", script: #"if test -e "$MARK"; then \#(second); fi; : > "$MARK"; \#(script)"#, memory: memory)
    #expect(new == "good")
    #expect(memory.talk.text.contains("Nothing is stored yet: \(reason). Edit again? [y/N] y\n"))
    let seen = try String(contentsOfFile: scripts.path + "/mark.seen", encoding: .utf8)
    #expect(seen != "old")
    #expect(left == [])
  }

  @Test(
    "the editor is not started again when the user answers no or does not answer", arguments: spoiled,
    [["n"], []])
  func notAgain(spoiled: (String, String, EditorError), answers: [String]) {
    let memory = MemoryConsole(answers, isTerminal: true)
    #expect(throws: spoiled.2) { try edit("old", script: spoiled.0, memory: memory) }
    #expect(memory.talk.text.components(separatedBy: "Edit again").count == 2)
    #expect(ErrorReport(spoiled.2).message == "nothing was stored: " + spoiled.1)
    #expect(left == [])
  }

  @Test("the editor is not offered again when the text is unchanged")
  func nothingTyped() {
    let memory = MemoryConsole(["y"], isTerminal: true)
    #expect(throws: EditorError.failed(program: "/bin/sh", status: 3)) {
      try edit("old", script: "exit 3", memory: memory)
    }
    #expect(!memory.talk.text.contains("Edit again"))
  }

  @Test(
    "the user is warned about an editor that ends soon without a change and may not have waited",
    arguments: [("true", 60, true), ("true", 0, false), (#"printf x > "$1""#, 60, false)])
  func didNotWait(script: String, seconds: Int, isTold: Bool) throws {
    let memory = MemoryConsole(isTerminal: true)
    _ = try edit("old", script: script, glance: .seconds(seconds), memory: memory)
    #expect(memory.talk.text.contains("The editor exited immediately.") == isTold)
    #expect(memory.talk.text.contains("`--wait`") == isTold)
  }

  @Test("editing leaves the mask of blocked signals unchanged")
  func mask() throws {
    var (term, before, after) = (sigset_t(), sigset_t(), sigset_t())
    unsafe sigemptyset(&term)
    unsafe sigaddset(&term, SIGTERM)
    unsafe pthread_sigmask(SIG_BLOCK, &term, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    #expect(try edit("old", script: #"printf x > "$1""#) == "x")
    unsafe pthread_sigmask(SIG_BLOCK, nil, &after)
    #expect(unsafe sigismember(&after, SIGTERM) == 1)
    #expect(unsafe sigismember(&after, SIGINT) == sigismember(&before, SIGINT))
  }

  @Test("editing removes what a killed process left, but nothing that is in use or belongs to others")
  func sweep() throws {
    let manager = FileManager.default
    for (name, mode) in [
      ("keytree-edit-stale", 0o700), ("keytree-edit-used", 0o700), ("keytree-edit-open", 0o755),
      ("other", 0o700),
    ] {
      try manager.createDirectory(
        atPath: base + "/" + name, withIntermediateDirectories: false, attributes: [.posixPermissions: mode])
      try "secret".write(toFile: base + "/" + name + "/secret", atomically: false, encoding: .utf8)
    }
    let used = unsafe open(base + "/keytree-edit-used", O_RDONLY | O_DIRECTORY)
    defer { close(used) }
    #expect(flock(used, LOCK_EX) == 0)
    _ = try edit("old", script: "true")
    #expect(left.sorted() == ["keytree-edit-open", "keytree-edit-used", "other"])
  }

  @Test("editing requires a folder in memory")
  func noMemory() {
    SignalTestLock.begin()
    defer { SignalTestLock.end() }
    let editor = Editor(environment: Environment(["EDITOR": "true"]), folders: ["/proc", "/nonexistent"])
    #expect(throws: EditorError.noMemoryFolder(tried: ["/proc", "/nonexistent"])) {
      try editor.edit(SecretBytes(copying: [1]), limit: 9, console: MemoryConsole(isTerminal: true).console)
        == nil
    }
  }

  @Test("editing requires a terminal")
  func noTerminal() {
    let editor = Editor(environment: Environment(["EDITOR": "true"]), folders: [base])
    #expect(throws: TerminalError.promptImpossible(question: "New secret", .noTerminal)) {
      try editor.edit(SecretBytes(copying: [1]), limit: 9, console: MemoryConsole().console) == nil
    }
  }

  @Test(
    "the editor command is split into words without a shell",
    arguments: [
      ("vim", ["vim"]), ("vim  -X ", ["vim", "-X"]), ("'a b' c", ["a b", "c"]), (#""a b"c"#, ["a bc"]),
      (#"a\ b"#, ["a b"]), (#""a\"b\n""#, [#"a"b\n"#]), (#"'a\b'"#, [#"a\b"#]),
      ("$(touch x) ; y", ["$(touch", "x)", ";", "y"]),
      ("''", [""]), ("", []), ("'a", nil), ("a\\", nil),
    ] as [(String, [String]?)])
  func words(text: String, words: [String]?) {
    #expect(ProgramCommand.split(text) == words)
  }

  @Test(
    "the editor gets the options that keep it from making copies",
    arguments: [
      ("vim", .vim, ["-n", "-i", "NONE", "-f"]),
      ("gvim", .vim, ["-n", "-i", "NONE", "-f"]),
      ("editor", .vim, ["-n", "-i", "NONE"]), ("nvim", .vim, ["-n"]),
      ("vi", .nvi, []), ("nano", .nano, ["-R"]), ("emacs-nox", .emacs, ["-Q", "--eval"]),
      ("emacsclient", .unknown, []), ("code", .unknown, []),
    ] as [(String, EditorCommand.Family, [String])])
  func options(name: String, family: EditorCommand.Family, options: [String]) throws {
    for program in ["vim.basic", "nvim", "vi", "nano", "emacs-nox", "emacsclient", "code"] {
      try "".write(toFile: scripts.path + "/" + program, atomically: false, encoding: .utf8)
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o755], ofItemAtPath: scripts.path + "/" + program)
    }
    for link in ["vim", "gvim", "editor"] {
      try FileManager.default.createSymbolicLink(
        atPath: scripts.path + "/" + link, withDestinationPath: scripts.path + "/vim.basic")
    }
    let command = try EditorCommand(name + " -X", searchPath: "relative:" + scripts.path, folder: "/f")
    #expect(command.family == family)
    #expect(command.path == scripts.path + "/" + name)
    #expect(command.words.starts(with: [name, "-X"] + options))
    #expect(command.variables.first == "TMPDIR=/f")
    #expect(command.variables.count == (family == .nvi ? 2 : 1))
  }

  @Test(
    "the editor must be a program",
    arguments: [
      ("'", .badCommand("'")), ("", .badCommand("")),
      ("nothing-of-that-name", .notFound(program: "nothing-of-that-name")),
      ("/etc/passwd", .notFound(program: "/etc/passwd")), ("/tmp", .notFound(program: "/tmp")),
    ] as [(String, EditorError)])
  func notAProgram(text: String, failure: EditorError) {
    #expect(throws: failure) { try EditorCommand(text, searchPath: "/usr/bin:/bin", folder: "/f") }
  }
}
