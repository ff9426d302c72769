import Glibc
import TestSupport
import Testing

@testable import Subprocess

/// Tests the streams of a program.
@Suite(.serialized) struct StreamTests {
  private static let fiveMebibytes: [UInt8] = {
    var state: UInt64 = 88_172_645_463_325_252
    return (0..<5 << 20).map { _ in
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return UInt8(truncatingIfNeeded: state)
    }
  }()

  @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 5 << 20])
  func `all bytes of the input come back`(count: Int) throws {
    var run = ProgramRun("/bin/cat", [String](), environment: plain)
    run.input = .bytes(Array(Self.fiveMebibytes.prefix(count)))
    run.output = .collected(limit: count)
    let outcome = try run.run()
    #expect(outcome.output == Array(Self.fiveMebibytes.prefix(count)))
    #expect(outcome.succeeded && outcome.isComplete && outcome.errors == [])
  }

  @Test func `both streams may carry more than a pipe holds, in any order`() throws {
    var run = ProgramRun.script(
      """
      for i in 1 2 3 4 5 6 7 8; do head -c 300000 /dev/zero; head -c 200000 /dev/zero >&2; done
      head -c 300000 /dev/zero >&2
      """)
    run.output = .collected(limit: 1 << 22)
    run.errors = .collected(limit: 1 << 22)
    let outcome = try run.run()
    #expect(outcome.output.count == 2_400_000)
    #expect(outcome.errors.count == 1_900_000)
    #expect(outcome.succeeded)
  }

  @Test func `feeding a program and reading both streams do not wait for each other`() throws {
    var run = ProgramRun.script("tee /dev/stderr")
    run.input = .bytes(Self.fiveMebibytes)
    run.output = .collected(limit: 1 << 23)
    run.errors = .collected(limit: 1 << 23)
    let outcome = try run.run()
    #expect(outcome.output == Self.fiveMebibytes)
    #expect(outcome.errors == Self.fiveMebibytes)
  }

  @Test(arguments: [
    ("head -c 3", "\u{1}\u{1}\u{1}"), ("exec 0<&-; echo done", "done\n"),
    ("exec 0<&-; head -c 100000 /dev/zero | wc -c", "100000\n"), ("true", ""), ("exec >&-; true", ""),
  ])
  func `a program may stop reading early`(script: String, output: String) throws {
    var run = ProgramRun.script(script)
    run.input = .bytes([UInt8](repeating: 1, count: 5 << 20))
    let outcome = try run.run()
    #expect(outcome.text == output)
    #expect(outcome.succeeded && outcome.isComplete)
  }

  @Test func `a broken pipe leaves no signal behind, and consumes none that is pending`() throws {
    let waiting = try OwnDescriptors.run {
      var (broken, all, before) = (sigset_t(), sigset_t(), [Int32]())
      unsafe sigemptyset(&broken)
      unsafe sigaddset(&broken, SIGPIPE)
      unsafe pthread_sigmask(SIG_BLOCK, &broken, nil)
      for isWaiting in [false, true] {
        if isWaiting { raise(SIGPIPE) }
        var run = ProgramRun.script("exec 0<&-; exec 1>&-; sleep 0.1")
        run.input = .bytes([UInt8](repeating: 1, count: 1 << 20))
        _ = try run.run()
        unsafe sigpending(&all)
        unsafe before.append(sigismember(&all, SIGPIPE))
      }
      var now = timespec()
      _ = unsafe sigtimedwait(&broken, nil, &now)
      return before
    }
    #expect(waiting == [0, 1])
  }

  @Test func `a program without input reads the end of the file at once`() throws {
    #expect(try ProgramRun.script("cat; readlink /proc/self/fd/0").run().text == "/dev/null\n")
  }

  @Test(arguments: [(9, true), (10, false), (11, false)])
  func `one byte more than the limit is an error`(limit: Int, isError: Bool) throws {
    for stream in [ProcessStream.output, .errors] {
      var run = ProgramRun.script(stream == .output ? "printf 0123456789" : "printf 0123456789 >&2")
      if stream == .output {
        run.output = .collected(limit: limit)
      } else {
        run.errors = .collected(limit: limit)
      }
      if isError {
        #expect(throws: ProcessError.tooMuchOutput(program: "/bin/sh", stream: stream, limit: limit)) {
          try run.run()
        }
      } else {
        let outcome = try run.run()
        #expect((stream == .output ? outcome.text : outcome.errorText) == "0123456789")
      }
    }
  }

  @Test(arguments: [
    "cat /dev/zero", "trap '' TERM; cat /dev/zero", "cat /dev/zero & wait",
  ])
  func `a program that never stops writing is stopped`(script: String) throws {
    #expect(throws: ProcessError.tooMuchOutput(program: "/bin/sh", stream: .output, limit: 1 << 20)) {
      try ProgramRun.script(script).run()
    }
  }

  @Test(
    arguments: [
      ("", []), ("one", ["one"]), ("one\\n", ["one"]), ("one\\ntwo", ["one", "two"]), ("\\n\\n", ["", ""]),
      ("\\none", ["", "one"]), ("one\\r\\ntwo\\n", ["one\r", "two"]),
    ] as [(String, [String])])
  func `lines are passed without their line feeds`(text: String, lines: [String]) throws {
    var run = ProgramRun.script("printf '\(text)'")
    run.output = .lines(limit: 10)
    var seen: [String] = []
    let outcome = try run.run { stream, line in
      #expect(stream == .output)
      seen.append(String(decoding: line, as: UTF8.self))
    }
    #expect(seen == lines)
    #expect(outcome.succeeded && outcome.output == [])
  }

  @Test func `lines of both streams are passed while the program runs, whole and in order`() throws {
    let answers = TestPipe()
    var run = ProgramRun.script(
      "echo ready; read answer; for i in $(seq 20000); do echo $i; done; printf \"$answer\" >&2")
    run.input = .descriptor(answers.readEnd)
    (run.output, run.errors) = (.lines(limit: 100), .lines(limit: 100))
    var (lines, errors) = ([String](), [String]())
    let outcome = try run.run { stream, line in
      let text = String(decoding: line, as: UTF8.self)
      if text == "ready" { answers.write("yes\n") }
      if stream == .output { lines.append(text) } else { errors.append(text) }
    }
    #expect(lines == ["ready"] + (1...20000).map(String.init))
    #expect(errors == ["yes"])
    #expect(outcome.succeeded)
  }

  @Test func `all bytes in a pipe at the end are read, in any number of reads`() throws {
    let pipe = TestPipe()
    let written: [UInt8] = (0..<60_000).map { $0 % 10 == 9 ? UInt8(ascii: "\n") : UInt8(ascii: "x") }
    try #require(unsafe write(pipe.writeEnd, written, written.count) == written.count)
    var reader = OutputReader(.output, as: .lines(limit: 10), from: try Descriptor.copying(pipe.readEnd))
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 512, alignment: 1)
    defer { unsafe buffer.deallocate() }
    var lines = 0
    unsafe reader.finish(with: buffer) { _, line in lines += line.count == 9 ? 1 : 0 }
    #expect(lines == 6000)
    let hasEnded = reader.hasEnded
    #expect(!hasEnded)
  }

  @Test(arguments: [(4, false), (3, true)])
  func `one byte more than the limit of a line is an error`(limit: Int, isError: Bool) throws {
    for text in ["1\\n1234\\n1", "1\\n1234"] {
      var run = ProgramRun.script("printf '\(text)'")
      run.output = .lines(limit: limit)
      if isError {
        #expect(throws: ProcessError.tooMuchOutput(program: "/bin/sh", stream: .output, limit: limit)) {
          try run.run()
        }
      } else {
        #expect(try run.run().succeeded)
      }
    }
  }

  @Test func `streams may be passed on, both to the same descriptor`() throws {
    let (source, target) = (TestPipe(), TestPipe())
    source.write("word\n")
    var run = ProgramRun.script("read word; echo $word; echo $word >&2; readlink /proc/self/fd/3 || true")
    run.input = .descriptor(source.readEnd)
    (run.output, run.errors) = (.descriptor(target.writeEnd), .descriptor(target.writeEnd))
    let outcome = try run.run()
    #expect(target.read() == "word\nword\n")
    #expect(outcome.succeeded && outcome.isComplete && outcome.output == [])
  }

  @Test func `discarded output is not returned`() throws {
    var run = ProgramRun.script("echo 1; echo 2 >&2")
    (run.output, run.errors) = (.discarded, .discarded)
    let outcome = try run.run()
    #expect(outcome.output == [] && outcome.errors == [] && outcome.succeeded)
  }

  /// Runs a program until it is stopped, with a stream of this process that fails.
  private func sleep(input: String = "/dev/null", output: String = "/dev/null") throws -> ProcessOutcome {
    var run = ProgramRun("/bin/sleep", ["10"], environment: plain)
    run.input = .bytes([1])
    let process = try run.spawn(
      input: try Descriptor.opening("/dev/null", O_RDONLY),
      output: try Descriptor.opening("/dev/null", O_WRONLY),
      errors: try Descriptor.opening("/dev/null", O_WRONLY))
    var exchange = Exchange(
      of: run, with: ChildWatch(process, of: run), signals: run.receivedSignals,
      input: try Descriptor.opening(input, O_WRONLY),
      output: try Descriptor.opening(output, O_RDONLY), errors: try Descriptor.opening("/dev/null", O_RDONLY))
    exchange.untilEnd { _, _ in }
    return try exchange.outcome()
  }

  @Test func `an error while feeding a program is not mistaken for the end of its input`() throws {
    // The device refuses every write, like a disk with an error.
    #expect(throws: ProcessError.systemCall(action: "write to", path: "/bin/sleep", errno: ENOSPC)) {
      try sleep(input: "/dev/full")
    }
  }

  @Test func `an error while reading from a program is not mistaken for the end of its output`() throws {
    #expect(throws: ProcessError.systemCall(action: "read from", path: "/bin/sleep", errno: EISDIR)) {
      try sleep(output: "/")
    }
  }
}
