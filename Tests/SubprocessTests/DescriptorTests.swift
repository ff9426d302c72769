import Glibc
import TestSupport
import Testing

@testable import Subprocess

/// Tests that this process loses no descriptor, and that closed standard streams do no harm.
@Suite(.serialized) struct DescriptorTests {
  private static func oneOfEach(_ number: Int) {
    var run = ProgramRun.script(
      ["echo 1", "exit 3", "kill -9 $$", "cat", "head -c 2000000 /dev/zero"][number % 5])
    run.input = number % 2 == 0 ? .bytes([UInt8](repeating: 0, count: 100_000)) : .none
    if number % 3 == 0 { run.output = .lines(limit: 5) }
    if number % 7 == 0 { run.folder = "/nonexistent" }
    if number % 11 == 0 { run.program = "/nonexistent" }
    if number % 13 == 0 { run.errors = .descriptor(1000) }
    // Failing runs are part of the test.
    _ = try? run.run()
  }

  @Test func `no descriptor is left open after 200 runs of every kind`() throws {
    let numbers = try OwnDescriptors.run {
      for number in 0..<200 { Self.oneOfEach(number) }
      return OwnDescriptors.numbers
    }
    #expect(numbers == [0, 1, 2])
  }

  @Test(arguments: [[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]] as [[Int32]])
  func `standard streams that this process has closed do no harm`(closed: [Int32]) throws {
    let (outcome, listed) = try OwnDescriptors.run {
      for number in closed { close(number) }
      var run = ProgramRun.script("cat; echo errors >&2; ls /proc/self/fd")
      run.input = .bytes(Array("input\n".utf8))
      return (try run.run(), OwnDescriptors.numbers)
    }
    #expect(outcome.text == "input\n0\n1\n2\n3\n")
    #expect(outcome.errorText == "errors\n")
    #expect(listed == [0, 1, 2].filter { !closed.contains($0) })
  }

  @Test func `a stream that gets the number of a closed one is not confused with it`() throws {
    let links = try OwnDescriptors.run {
      let source = TestPipe()
      close(0)
      var run = ProgramRun.script("links=$(readlink /proc/$$/fd/0 /proc/$$/fd/1); echo \"$links\" >&2")
      (run.input, run.output) = (.descriptor(source.readEnd), .discarded)
      return try run.run().errorText.split(separator: "\n")
    }
    #expect(links.count == 2)
    #expect(links.first?.hasPrefix("pipe:") == true)
    #expect(links.last == "/dev/null")
  }

  @Test func `a closed descriptor cannot be passed on`() throws {
    for number: Int32 in [0, 1, 2] {
      let errors = try OwnDescriptors.run {
        close(number)
        return [ProgramRun.Input.descriptor(number)].map { input -> ProcessError? in
          var run = ProgramRun.script("true")
          run.input = input
          do throws(ProcessError) {
            _ = try run.run()
            return nil
          } catch {
            return error
          }
        }
      }
      #expect(errors == [.systemCall(action: "copy", path: "descriptor \(number)", errno: EBADF)])
    }
  }

  @Test func `the output streams can be swapped`() throws {
    let seen = try OwnDescriptors.run {
      let (first, second) = (TestPipe(), TestPipe())
      dup2(first.writeEnd, 1)
      dup2(second.writeEnd, 2)
      var run = ProgramRun.script("echo output; echo errors >&2")
      (run.output, run.errors) = (.descriptor(2), .descriptor(1))
      _ = try run.run()
      return [first.read(), second.read()]
    }
    #expect(seen == ["errors\n", "output\n"])
  }

  @Test(arguments: [[], [0], [1, 2], [0, 1, 2]] as [[Int32]])
  func `a run without free descriptors throws an error and loses none`(closed: [Int32]) throws {
    let results = try OwnDescriptors.run {
      // Use all descriptors up to the limit, and then free some of them.
      let source = dup(0)
      var last: Int32 = 0
      while case let next = dup(source), next >= 0 { last = next }
      let numbers = closed + (0..<16).map { last - $0 }
      return (0..<16).map { free -> (hasStarted: Bool, lost: Int) in
        for number in numbers.prefix(free) { close(number) }
        var run = ProgramRun.script("cat")
        run.input = .bytes([1])
        let outcome = try? run.run()
        var lost = free
        while dup(source) >= 0 { lost -= 1 }
        return (outcome?.output == [1], lost)
      }
    }
    #expect(results.map(\.lost) == [Int](repeating: 0, count: 16))
    // Three pipes need six descriptors above the standard streams; the descriptor that reports the end is optional.
    let needed = 6 + closed.count
    #expect(results.map(\.hasStarted) == (0..<16).map { $0 >= needed })
  }

  @Test func `many threads can run programs at once`() throws {
    try ThreadGroup.run(16) { thread in
      for round in 0..<10 {
        var run = ProgramRun("/bin/cat", [String](), environment: plain)
        let input = [UInt8](repeating: UInt8(thread * 10 + round), count: 200_000)
        run.input = .bytes(input)
        let outcome = try run.run()
        #expect(outcome.output == input)
        #expect(outcome.isComplete)
      }
    }
  }
}
