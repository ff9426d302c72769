import Arguments
import CommandSupport
import Foundation
import Glibc
import KeytreeCLI
import TestSupport
import Testing

/// A process inherits the mask of blocked signals, so the mask can be set without the user's knowledge.
@Suite("Editing with signals blocked", .serialized, .slow)
struct BlockedSignalsTests {
  /// A shell command that replaces the secret with another one; both contain the path of the test's folder.
  private static let change = #"sed s/old/new/ "$1" > "$1.new"; mv "$1.new" "$1""#
  private static let all = [SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM]

  @Test("edit ends when the editor ends and leaves nothing behind", arguments: all.map { [$0] } + [all])
  func ends(blocked: [Int32]) throws {
    let world = try Self.world()
    let unchanged = try edit(in: world, editor: "true", blocked: blocked)
    #expect(unchanged.code == 0, "\(unchanged.text)")
    #expect(unchanged.text.contains("Nothing was changed in "), "\(unchanged.text)")
    let script = try Self.script("\(Self.change)", in: world)
    let changed = try edit(in: world, editor: script, blocked: blocked)
    #expect(changed.code == 0, "\(changed.text)")
    #expect(world.run("get", "notes.example").text == "new" + world.folder.path)
  }

  @Test("a signal sent to edit ends it", arguments: [SIGHUP, SIGTERM])
  func interrupted(signal: Int32) throws {
    let world = try Self.world()
    let script = try Self.script("\(Self.change); kill -\(signal) $PPID; exec sleep 600", in: world)
    let result = try edit(in: world, editor: script, blocked: Self.all)
    #expect(result.code == 3)
    #expect(result.text.contains("keytree was killed by signal \(signal)"))
    #expect(world.run("get", "notes.example").text == "old" + world.folder.path)
  }

  @Test("the keyboard's signals do not end edit while the editor runs")
  func keyboard() throws {
    let world = try Self.world()
    let script = try Self.script("kill -INT $PPID; kill -QUIT $PPID; \(Self.change)", in: world)
    let result = try edit(in: world, editor: script, blocked: [])
    #expect(result.code == 0, "\(result.text)")
    #expect(world.run("get", "notes.example").text == "new" + world.folder.path)
  }

  @Test("an editor that ignores SIGTERM is ended, too")
  func stubborn() throws {
    let world = try Self.world()
    let script = try Self.script("trap '' TERM; \(Self.change); kill -TERM $PPID; exec sleep 600", in: world)
    let result = try edit(in: world, editor: script, blocked: [])
    #expect(result.code == 3)
    #expect(result.text.contains("keytree was killed by signal \(SIGTERM)"))
    #expect(world.run("get", "notes.example").text == "old" + world.folder.path)
  }

  @Test("the editor starts with no signal blocked or ignored")
  func editorSignals() throws {
    let world = try Self.world()
    let seen = world.folder.path + "/seen"
    // The shell itself reads the file, because it blocks signals while it starts another program.
    let filter = "while read -r line; do case $line in SigBlk*|SigIgn*) echo \"$line\";; esac; done"
    let script = try Self.script("\(filter) < /proc/$$/status > '\(seen)'", in: world)
    #expect(try edit(in: world, editor: script, blocked: Self.all + [SIGPIPE, SIGUSR1]).code == 0)
    let sets = try String(contentsOfFile: seen, encoding: .utf8).split(separator: "\n").map { line in
      UInt64(line.suffix(16), radix: 16)
    }
    // glibc reserves signals 32 and 33, and ignores them in processes that posix_spawn(3) starts.
    #expect(sets.map { $0.map { $0 & 0x7FFF_FFFF } } == [0, 0])
  }

  @Test("the keyboard interrupts edit while it asks whether to edit again")
  func asked() throws {
    let world = try Self.world()
    var variables = world.variables
    variables["EDITOR"] = try Self.script("\(Self.change); exit 3", in: world)
    let edit = try PseudoTerminal(["edit", "notes.example/x"], variables: variables, blocked: Self.all)
    try edit.wait(for: "again? [y/N] ")
    #expect(Self.left(in: world).count == 1)
    edit.type("\u{3}")
    let (text, code) = edit.finish()
    // `doctor` would report leftover files in other tests.
    defer { for folder in Self.left(in: world) { try? FileManager.default.removeItem(atPath: folder) } }
    #expect(code == 1)
    #expect(text.contains("keytree: nothing was stored: "))
    #expect(Self.left(in: world) == [])
  }

  private static func world() throws -> CommandFixture {
    let world = try CommandFixture()
    #expect(world.run("add", "notes.example/x", input: Array(("old" + world.folder.path).utf8)).code == .done)
    return world
  }

  private func edit(
    in world: CommandFixture, editor: String, blocked: [Int32]
  ) throws -> (text: String, code: Int32) {
    var variables = world.variables
    variables["EDITOR"] = editor
    let edit = try PseudoTerminal(["edit", "notes.example/x"], variables: variables, blocked: blocked)
    let result = edit.finish()
    // An editor that gets no signal sleeps for ten minutes and keeps the terminal open. A time limit for the whole
    // command would fail on a busy machine.
    #expect(!edit.wasStuck, "\(result.text)")
    #expect(Self.left(in: world) == [])
    return result
  }

  /// The leftover folders that contain this test's secret; the others belong to tests that run concurrently.
  private static func left(in world: CommandFixture) -> [String] {
    [world.variables["XDG_RUNTIME_DIR"] ?? "", "/dev/shm"].flatMap { base in
      // If the folder does not exist, nothing is left.
      let names = (try? FileManager.default.contentsOfDirectory(atPath: base)) ?? []
      return names.filter { $0.hasPrefix("keytree-edit-") }.map { base + "/" + $0 }
    }
    .filter { folder in
      // A file that another test has removed in the meantime is not left over.
      let text = try? String(contentsOfFile: folder + "/secret", encoding: .utf8)
      return text?.contains(world.folder.path) == true
    }
  }

  private static func script(_ line: String, in world: CommandFixture) throws -> String {
    let path = world.folder.path + "/editor"
    try ExecutableFile.write("#!/bin/sh\n\(line)\n", to: path)
    return path
  }
}
