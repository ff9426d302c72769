import Foundation
import Glibc
import Secrets
import Testing

@Suite(.serialized) struct SecretInputTests {
  // Writes the pieces to a pipe and calls the body with its read end.
  private func reading<R: Sendable>(
    _ pieces: [[UInt8]], _ body: (Int32) throws -> R
  ) throws -> R {
    let pipe = Pipe()
    let writer = Thread {
      for piece in pieces {
        // A reader that has reached its limit closes its end, so writing the rest fails, as expected.
        try? pipe.fileHandleForWriting.write(contentsOf: Data(piece))
        usleep(2000)
      }
      try? pipe.fileHandleForWriting.close()
    }
    signal(SIGPIPE, SIG_IGN)
    writer.start()
    return try body(pipe.fileHandleForReading.fileDescriptor)
  }

  private func bytes(_ descriptor: Int32, limit: Int) throws(SecretInputError) -> [UInt8] {
    let secret = try SecretInput.read(descriptor: descriptor, limit: limit)
    return unsafe secret.withBytes { unsafe Array($0) }
  }

  @Test(arguments: [0, 1, 4095, 4096, 4097, 70_000])
  func `all bytes up to the end are read`(count: Int) throws {
    let expected = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    let half = count / 2
    let result = try reading([Array(expected.prefix(half)), Array(expected.dropFirst(half))]) {
      try bytes($0, limit: count)
    }
    #expect(result == expected)
  }

  @Test(arguments: [0, 1, 4095, 4096])
  func `one byte over the limit is too long`(limit: Int) throws {
    #expect(throws: SecretInputError.tooLong(limit: limit)) {
      try reading([[UInt8](repeating: 1, count: limit + 1)]) { try bytes($0, limit: limit) }
    }
  }

  @Test func `line ends and NUL are part of the secret`() throws {
    #expect(try reading([[0, 10, 13, 0, 10]]) { try bytes($0, limit: 100) } == [0, 10, 13, 0, 10])
  }

  @Test func `an unreadable descriptor throws the system's error`() {
    #expect(throws: SecretInputError.readFailed(errno: EBADF)) { try bytes(-1, limit: 1) }
  }

  @Test func `a descriptor that is not a terminal gets no prompt`() throws {
    #expect(throws: SecretInputError.notATerminal) {
      try reading([Array("typed\n".utf8)]) { descriptor in
        _ = try SecretInput.readLine(terminal: descriptor, prompt: "?", limit: 10)
      }
    }
  }
}
