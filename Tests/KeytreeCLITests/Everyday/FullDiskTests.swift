import Foundation
import Glibc
import TestSupport
import Testing

/// Read-only commands on a machine whose disk is full.
@Suite(
  "On a full disk", .enabled(if: MountTools.canMount, "needs unshare(1) and the right to mount"), .serialized)
struct FullDiskTests {
  /// Mounts a full file system on the runtime folder, and an empty one on every other folder that could hold the engine
  /// home.
  private static let script = """
    set -e
    for parent in /run/user/$(id -u):keytree /dev/shm:keytree-$(id -u) /tmp:keytree-$(id -u); do
      folder=${parent%:*}/${parent#*:}
      [ -d "${parent%:*}" ] || continue
      mkdir -p -m 700 "$folder"; mount -t tmpfs -o mode=700 none "$folder"
    done
    mount -t tmpfs -o size=16k,mode=700 none "$XDG_RUNTIME_DIR"
    cat /dev/zero >"$XDG_RUNTIME_DIR/fill" 2>/dev/null || true
    exec "$@"
    """

  private static var tracer: [String] {
    MountTools.unshare + ["/bin/sh", "-c", script, "sh"]
  }

  /// The same, and the command once more after the disk has room again. It prints the engine homes in memory.
  private static let recovery = """
    "$@" >/dev/null
    find /dev/shm/keytree-$(id -u) /tmp/keytree-$(id -u) -name ready 2>/dev/null | sed 's/^/full /'
    rm "$XDG_RUNTIME_DIR/fill"
    "$@" >/dev/null
    find /dev/shm/keytree-$(id -u) /tmp/keytree-$(id -u) -name ready 2>/dev/null | sed 's/^/free /'
    """

  @Test func `an engine home in memory is removed when its disk has room again`() throws {
    let program = try ProcessesProgram.withStore(["full.example/alice": "secret"])
    // Without the folder of the session, so that the memory of others is used.
    let script = Self.script.replacing("exec \"$@\"", with: Self.recovery)
      .replacing("size=16k", with: "size=4m").replacing("/run/user/$(id -u):keytree ", with: "")
    let hidden = "if [ -d /run/user ]; then mount -t tmpfs none /run/user; fi\n"
    let words = ["/bin/sh", "-c", script.replacing("set -e\n", with: "set -e\n\(hidden)"), "sh"]
    let outcome = try program.run(["get", "full.example/alice"], tracer: MountTools.unshare + words)
    #expect(outcome.status == 0, "\(outcome.errors)")
    let lines = outcome.text.split(separator: "\n")
    #expect(lines.count == 1 && lines[0].hasPrefix("full /dev/shm/keytree-"), "\(outcome.text)")
  }

  @Test(arguments: [
    ["get", "full.example/alice"], ["check"], ["check", "--decrypt"], ["verify"], ["find", "full.example"],
  ])
  func `a command that only reads works while the disk has no room for the engine`(_ words: [String]) throws {
    let program = try ProcessesProgram.withStore(["full.example/alice": "secret"])
    let expected = try program.run(words)
    #expect(expected.status == 0)
    let outcome = try program.run(words, tracer: Self.tracer)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output == expected.output)
  }
}

/// The tools that give a process its own mounts.
private enum MountTools {
  /// The words to put before a command.
  static let unshare = ["/usr/bin/unshare", geteuid() == 0 ? "-m" : "-rm"]

  /// A Boolean value that indicates whether this user may mount something in a new namespace.
  static var canMount: Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: unshare[0])
    process.arguments = unshare.dropFirst() + ["/bin/mount", "-t", "tmpfs", "none", "/tmp"]
    process.standardError = FileHandle.nullDevice
    // Without the program the test cannot run.
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}
