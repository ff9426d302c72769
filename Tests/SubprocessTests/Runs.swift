import Glibc
import Subprocess
import TestSupport

/// The variables of every program that the tests run.
let plain = ProcessEnvironment(["PATH": "/usr/bin:/bin"])

extension ProgramRun {
  /// Returns a run of a shell script that ends even if the test hangs.
  static func script(_ text: String, _ arguments: String...) -> ProgramRun {
    var run = ProgramRun("/bin/sh", ["-c", text, "sh"] + arguments, environment: plain)
    run.timeout = .seconds(120)
    return run
  }
}

extension ProcessOutcome {
  /// Its standard output as text.
  var text: String { String(decoding: output, as: UTF8.self) }
  /// Its standard error as text.
  var errorText: String { String(decoding: errors, as: UTF8.self) }
}

/// A pipe that is closed when the test releases it.
final class TestPipe: Sendable {
  let readEnd: Int32
  let writeEnd: Int32

  init() {
    var ends: [Int32] = [-1, -1]
    precondition(unsafe pipe(&ends) == 0, "cannot create a pipe")
    (readEnd, writeEnd) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  }

  deinit {
    close(readEnd)
    close(writeEnd)
  }

  /// Makes the pipe readable.
  func write(_ text: String = "!") {
    let bytes = Array(text.utf8)
    _ = unsafe Glibc.write(writeEnd, bytes, bytes.count)
  }

  /// Returns what was written, and waits until something was.
  func read() -> String {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe Glibc.read(readEnd, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }
}
