import Glibc
import TestSupport
import Testing

@testable import Subprocess

/// How a program ends, by itself and because it was told to.
@Suite struct EndingTests {
  @Test(arguments: 0...255)
  func `An exit status is told as it is`(status: Int32) throws {
    let outcome = try ProgramRun.script("exit \(status)").run()
    #expect(outcome.ending == .exited(status: status))
    #expect(outcome.succeeded == (status == 0))
    #expect(outcome.stop == nil)
  }

  @Test(arguments: [SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGKILL, SIGSEGV, SIGPIPE, SIGTERM, SIGUSR1])
  func `A signal is told as it is`(signal: Int32) throws {
    let outcome = try ProgramRun.script("kill -\(signal) $$; sleep 100").run()
    #expect(outcome.ending == .signaled(signal))
    #expect(!outcome.succeeded)
    #expect(outcome.stop == nil)
  }

  @Test(arguments: [true, false])
  func `A program without end is ended when its time is over`(usingDescriptor: Bool) throws {
    var run = ProgramRun("/bin/sleep", ["1000"], environment: plain)
    (run.timeout, run.usesDescriptor) = (.milliseconds(50), usingDescriptor)
    let outcome = try run.run()
    #expect(outcome.stop == .timeout)
    #expect(outcome.ending == .signaled(SIGTERM))
    #expect(!outcome.succeeded)
  }

  @Test(arguments: [true, false])
  func `The end is noticed without output`(usingDescriptor: Bool) throws {
    var run = ProgramRun.script("sleep 0.05; exit 7")
    (run.output, run.errors, run.usesDescriptor) = (.discarded, .discarded, usingDescriptor)
    let outcome = try run.run()
    #expect(outcome.ending == .exited(status: 7))
  }

  private static let whenStopped =
    "while ! grep -q '^State:.T' /proc/$$/status; do sleep 0.01; done && echo ready"

  /// Scripts that say when they are ready to be interrupted, and how that ends them.
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
  func `An interruption ends the program`(script: String, ending: ProcessOutcome.Ending) throws {
    let signal = TestPipe()
    var run = ProgramRun.script(script)
    run.output = .lines(limit: 100)
    run.interruption = signal.readEnd
    // Only what must be killed is not given all the time of the world.
    run.patience = ending == .signaled(SIGKILL) ? .milliseconds(100) : .seconds(100)
    let outcome = try run.run { _, line in
      if line.elementsEqual("ready".utf8) { signal.write() }
    }
    #expect(outcome.stop == .interruption)
    #expect(outcome.ending == ending)
    #expect(!outcome.succeeded)
  }

  @Test func `An interruption that is closed at its other end ends the program, too`() throws {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe(&ends) == 0)
    defer { close(ends[0]) }
    close(ends[1])
    var run = ProgramRun("/bin/sleep", ["1000"], environment: plain)
    run.interruption = ends[0]
    #expect(try run.run().stop == .interruption)
  }

  @Test func `The output before a stop is handed over`() throws {
    let signal = TestPipe()
    var run = ProgramRun.script("echo before; echo ready >&2; exec sleep 1000")
    run.errors = .lines(limit: 100)
    run.interruption = signal.readEnd
    let outcome = try run.run { _, _ in signal.write() }
    #expect(outcome.text == "before\n")
    #expect(outcome.isComplete)
  }

  @Test func `Output that is too much for a program that is being stopped is not complete`() throws {
    let signal = TestPipe()
    var run = ProgramRun.script(
      "trap 'head -c 200 /dev/zero; exit 1' TERM; echo ready >&2; while :; do :; done")
    (run.output, run.errors) = (.collected(limit: 100), .lines(limit: 100))
    (run.interruption, run.patience) = (signal.readEnd, .seconds(100))
    let outcome = try run.run { _, _ in signal.write() }
    #expect(outcome.stop == .interruption)
    #expect(!outcome.isComplete)
  }

  @Test func `What a program has left running is left alone, and does not hold up the outcome`() throws {
    let start = ContinuousClock.now
    let outcome = try ProgramRun.script("sleep 1000 & echo $!").run()
    let grandchild = try #require(pid_t(outcome.text.dropLast()))
    #expect(kill(grandchild, SIGKILL) == 0)
    #expect(outcome.succeeded)
    #expect(!outcome.isComplete)
    #expect(ContinuousClock.now - start < .seconds(60))
  }

  @Test func `What a program has left running does not matter when it holds no stream`() throws {
    var run = ProgramRun.script("sleep 1000 <&- >&- 2>&- & echo $!")
    let outcome = try run.run()
    #expect(kill(try #require(pid_t(outcome.text.dropLast())), SIGKILL) == 0)
    #expect(outcome.succeeded && outcome.isComplete)
    run = .script("sleep 1000 & kill $!; wait $!")
    #expect(try run.run().isComplete)
  }

  @Test func `All that the program wrote itself is there, however slowly it is taken`() throws {
    var run = ProgramRun.script("sleep 1000 & seq 9000; echo $! >&2")
    run.output = .lines(limit: 10)
    var lines = 0
    let outcome = try run.run { _, _ in
      // The first line takes longer than the grace; the pipe is full meanwhile.
      if lines == 0 { usleep(400_000) }
      lines += 1
    }
    _ = kill(try #require(pid_t(outcome.errorText.dropLast())), SIGKILL)
    #expect(lines == 9000)
  }

  /// Scripts whose child ends up with all the streams, and tells its number.
  private static let grandchildren = [
    "sleep 1000 & echo $!; sleep 1000", "(trap '' TERM; sleep 1000 & echo $!; exec sleep 1000)",
    "trap '' TERM; sleep 1000 & trap 'exit 0' TERM; echo $!; wait",
    "trap '' TERM; sleep 1000 >&- 2>&- & trap 'exit 0' TERM; echo $!; wait",
  ]

  @Test(arguments: grandchildren)
  func `What is stopped is ended with all of its group`(script: String) throws {
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
    // Whoever adopts it takes its status some time.
    var tries = 0
    while isRunning(number), tries < 3000 {
      usleep(10_000)
      tries += 1
    }
    #expect(!isRunning(number))
  }

  // A zombie does not run.
  private func isRunning(_ process: pid_t) -> Bool {
    let state = try? ProgramRun.script("cut -d')' -f2 /proc/\(process)/stat 2>&-").run().text
    return state?.isEmpty == false && state?.hasPrefix(" Z") == false
  }

  @Test func `A grandchild that has left the group does not hold up the outcome of a stop`() throws {
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

  @Test func `A program in the group of this process is ended alone`() throws {
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

  @Test func `No zombie is left`() throws {
    for script in ["echo $$", "echo $$; kill -9 $$", "echo $$; exec sleep 0.1"] {
      let process = try #require(pid_t(try ProgramRun.script(script).run().text.dropLast()))
      var facts = unsafe siginfo_t()
      let found = unsafe waitid(P_PID, id_t(process), &facts, WEXITED | WNOHANG | WNOWAIT)
      #expect(found == -1)
    }
  }

  @Test func `A status that somebody else has taken is an error, not a success`() throws {
    var run = ProgramRun.script("echo $$; exec 1>&-; exec sleep 0.2")
    run.output = .lines(limit: 100)
    #expect(throws: ProcessError.systemCall(action: "wait for", path: "/bin/sh", errno: ECHILD)) {
      try run.run { _, line in takeStatus(of: pid_t(String(decoding: line, as: UTF8.self)) ?? 0) }
    }
  }

  private func takeStatus(of process: pid_t) { _ = waitpid(process, nil, 0) }
}
