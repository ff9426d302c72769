import Glibc
import TestSupport
import Testing

@testable import Subprocess

/// Tests how a program ends, with and without being stopped.
@Suite(.serialized, .waits) struct EndingTests {
  @Test(arguments: 0...255)
  func `an exit status is reported unchanged`(status: Int32) throws {
    let outcome = try ProgramRun.script("exit \(status)").run()
    #expect(outcome.ending == .exited(status: status))
    #expect(outcome.succeeded == (status == 0))
    #expect(outcome.stop == nil)
  }

  @Test(arguments: [SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGKILL, SIGSEGV, SIGPIPE, SIGTERM, SIGUSR1])
  func `a signal is reported unchanged`(signal: Int32) throws {
    let outcome = try ProgramRun.script("kill -\(signal) $$; sleep 100").run()
    #expect(outcome.ending == .signaled(signal))
    #expect(!outcome.succeeded)
    #expect(outcome.stop == nil)
  }

  @Test(arguments: [true, false])
  func `a program that never ends is stopped at its timeout`(usingDescriptor: Bool) throws {
    var run = ProgramRun("/bin/sleep", ["1000"], environment: plain)
    (run.timeout, run.usesDescriptor) = (.milliseconds(50), usingDescriptor)
    let outcome = try run.run()
    #expect(outcome.stop == .timeout)
    #expect(outcome.ending == .signaled(SIGTERM))
    #expect(!outcome.succeeded)
  }

  @Test(arguments: [true, false])
  func `the end of a program without output is noticed`(usingDescriptor: Bool) throws {
    var run = ProgramRun.script("sleep 0.05; exit 7")
    (run.output, run.errors, run.usesDescriptor) = (.discarded, .discarded, usingDescriptor)
    let outcome = try run.run()
    #expect(outcome.ending == .exited(status: 7))
  }

  private static let whenStopped =
    "while ! grep -q '^State:.T' /proc/$$/status; do sleep 0.01; done && echo ready"

  /// Scripts that report when they are ready to be interrupted, and how the interruption ends them.
  private static let interrupted: [(String, ProcessOutcome.Ending)] = [
    ("echo ready; exec sleep 1000", .signaled(SIGTERM)),
    ("echo ready; sleep 1000", .signaled(SIGTERM)),
    ("trap 'exit 5' TERM; echo ready; while :; do :; done", .exited(status: 5)),
    ("trap 'echo end; exit 0' TERM; echo ready; while :; do :; done", .exited(status: 0)),
    ("trap '' TERM; echo ready; exec sleep 1000", .signaled(SIGKILL)),
    ("trap '' TERM; \(whenStopped) & kill -STOP $$; exec sleep 1000", .signaled(SIGKILL)),
    ("\(whenStopped) & kill -STOP $$; exec sleep 1000", .signaled(SIGTERM)),
    ("trap 'exit 6' TERM; \(whenStopped) & kill -STOP $$; sleep 1000", .exited(status: 6)),
    ("exec 2>&-; trap '' TERM; echo ready; exec 1>&-; while :; do :; done", .signaled(SIGKILL)),
  ]

  @Test(arguments: interrupted)
  func `an interruption ends the program`(script: String, ending: ProcessOutcome.Ending) throws {
    let signal = TestPipe()
    var run = ProgramRun.script(script)
    run.output = .lines(limit: 100)
    run.interruption = signal.readEnd
    // Only programs that have to be killed get little time.
    run.patience = ending == .signaled(SIGKILL) ? .milliseconds(100) : .seconds(100)
    let outcome = try run.run { _, line in
      if line.elementsEqual("ready".utf8) { signal.write() }
    }
    #expect(outcome.stop == .interruption)
    #expect(outcome.ending == ending)
    #expect(!outcome.succeeded)
  }

  @Test func `an interruption whose other end is closed ends the program, too`() throws {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe(&ends) == 0)
    defer { close(ends[0]) }
    close(ends[1])
    var run = ProgramRun("/bin/sleep", ["1000"], environment: plain)
    run.interruption = ends[0]
    #expect(try run.run().stop == .interruption)
  }

  @Test func `the output before a stop is returned`() throws {
    let signal = TestPipe()
    var run = ProgramRun.script("echo before; echo ready >&2; exec sleep 1000")
    run.errors = .lines(limit: 100)
    run.interruption = signal.readEnd
    let outcome = try run.run { _, _ in signal.write() }
    #expect(outcome.text == "before\n")
    #expect(outcome.isComplete)
  }

  @Test func `output over the limit from a program that is being stopped is not complete`() throws {
    let signal = TestPipe()
    var run = ProgramRun.script(
      "trap 'head -c 200 /dev/zero; exit 1' TERM; echo ready >&2; while :; do :; done")
    (run.output, run.errors) = (.collected(limit: 100), .lines(limit: 100))
    (run.interruption, run.patience) = (signal.readEnd, .seconds(100))
    let outcome = try run.run { _, _ in signal.write() }
    #expect(outcome.stop == .interruption)
    #expect(!outcome.isComplete)
  }

  @Test func `a process that a program left running is left alone and does not delay the outcome`() throws {
    let start = ContinuousClock.now
    let outcome = try ProgramRun.script("sleep 1000 & echo $!").run()
    let grandchild = try #require(pid_t(outcome.text.dropLast()))
    #expect(kill(grandchild, SIGKILL) == 0)
    #expect(outcome.succeeded)
    #expect(!outcome.isComplete)
    #expect(ContinuousClock.now - start < .seconds(60))
  }

  @Test func `a process that a program left running does not matter if it has no stream open`() throws {
    var run = ProgramRun.script("sleep 1000 <&- >&- 2>&- & echo $!")
    let outcome = try run.run()
    #expect(kill(try #require(pid_t(outcome.text.dropLast())), SIGKILL) == 0)
    #expect(outcome.succeeded && outcome.isComplete)
    run = .script("sleep 1000 & kill $!; wait $!")
    #expect(try run.run().isComplete)
  }

  @Test func `all output of the program itself is read, however slowly it is taken`() throws {
    var run = ProgramRun.script("sleep 1000 & seq 9000; echo $! >&2")
    run.output = .lines(limit: 10)
    var lines = 0
    let outcome = try run.run { _, _ in
      // The first line takes longer than the grace period, and the pipe fills up in that time.
      if lines == 0 { usleep(400_000) }
      lines += 1
    }
    _ = kill(try #require(pid_t(outcome.errorText.dropLast())), SIGKILL)
    #expect(lines == 9000)
  }

  /// Scripts whose child has all the streams in the end, and that print the child's process id.
  private static let grandchildren = [
    "sleep 1000 & echo $!; sleep 1000", "(trap '' TERM; sleep 1000 & echo $!; exec sleep 1000)",
    "trap '' TERM; sleep 1000 & trap 'exit 0' TERM; echo $!; wait",
    "trap '' TERM; sleep 1000 >&- 2>&- & trap 'exit 0' TERM; echo $!; wait",
  ]

  @Test(arguments: grandchildren)
  func `a program that is stopped is ended with its whole process group`(script: String) throws {
    let signal = TestPipe()
    var number: pid_t = 0
    var run = ProgramRun.script(script)
    run.output = .lines(limit: 100)
    run.interruption = signal.readEnd
    run.patience = .milliseconds(100)
    _ = try run.run { _, line in
      number = pid_t(String(decoding: line, as: UTF8.self)) ?? 0
      signal.write()
    }
    try #require(number > 0)
    // The process that adopts it may take some time to collect its status.
    var tries = 0
    while isRunning(number), tries < 3000 {
      usleep(10_000)
      tries += 1
    }
    #expect(!isRunning(number))
  }

  // A zombie does not count as running.
  private func isRunning(_ process: pid_t) -> Bool {
    let state = try? ProgramRun.script("cut -d')' -f2 /proc/\(process)/stat 2>&-").run().text
    return state?.isEmpty == false && state?.hasPrefix(" Z") == false
  }

  @Test func `a grandchild that has left the process group does not delay the outcome of a stop`() throws {
    let signal = TestPipe()
    var run = ProgramRun.script("setsid sh -c 'echo $$; exec sleep 1000' & wait; sleep 1000")
    run.output = .lines(limit: 100)
    run.interruption = signal.readEnd
    run.patience = .milliseconds(100)
    var number: pid_t = 0
    let outcome = try run.run { _, line in
      number = pid_t(String(decoding: line, as: UTF8.self)) ?? 0
      signal.write()
    }
    #expect(number > 0 && kill(number, SIGKILL) == 0)
    #expect(outcome.stop == .interruption)
    #expect(!outcome.isComplete)
  }

  @Test func `a program in the process group of this process is ended alone`() throws {
    let signal = TestPipe()
    var run = ProgramRun.script("sleep 1000 >&- 2>&- & echo $!; exec sleep 1000")
    run.group = .shared
    run.output = .lines(limit: 100)
    run.interruption = signal.readEnd
    var number: pid_t = 0
    let outcome = try run.run { _, line in
      number = pid_t(String(decoding: line, as: UTF8.self)) ?? 0
      signal.write()
    }
    #expect(outcome.ending == .signaled(SIGTERM))
    #expect(number > 0 && kill(number, SIGKILL) == 0)
  }

  @Test func `no zombie is left`() throws {
    for script in ["echo $$", "echo $$; kill -9 $$", "echo $$; exec sleep 0.1"] {
      let process = try #require(pid_t(try ProgramRun.script(script).run().text.dropLast()))
      var facts = unsafe siginfo_t()
      let found = unsafe waitid(P_PID, id_t(process), &facts, WEXITED | WNOHANG | WNOWAIT)
      #expect(found == -1)
    }
  }

  @Test func `a status that other code has collected is an error, not a success`() throws {
    var run = ProgramRun.script("echo $$; exec 1>&-; exec sleep 0.2")
    run.output = .lines(limit: 100)
    #expect(throws: ProcessError.systemCall(action: "wait for", path: "/bin/sh", errno: ECHILD)) {
      try run.run { _, line in takeStatus(of: pid_t(String(decoding: line, as: UTF8.self)) ?? 0) }
    }
  }

  private func takeStatus(of process: pid_t) { _ = waitpid(process, nil, 0) }
}
