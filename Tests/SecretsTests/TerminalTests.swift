import Foundation
import Glibc
import Secrets
import TestSupport
import Testing

/// Tests with a simulated user at the other end of a pseudo-terminal.
@Suite(.serialized) struct TerminalTests {
  private final class Terminal: Sendable {
    let person: Int32
    let program: Int32

    init() throws {
      var ends: (person: Int32, program: Int32) = (-1, -1)
      try #require(unsafe openpty(&ends.person, &ends.program, nil, nil, nil) == 0)
      (person, program) = ends
    }

    deinit {
      close(person)
      close(program)
    }

    var echoes: Bool {
      var settings = termios()
      return unsafe tcgetattr(program, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    // Returns the text that the terminal shows so far.
    func screen() -> String {
      var buffer = [UInt8](repeating: 0, count: 4096)
      var ready = pollfd(fd: person, events: Int16(POLLIN), revents: 0)
      var seen: [UInt8] = []
      while unsafe poll(&ready, 1, 50) > 0 {
        let got = unsafe read(person, &buffer, buffer.count)
        if got <= 0 { break }
        seen += buffer.prefix(got)
      }
      return String(decoding: seen, as: UTF8.self)
    }

    // Types as soon as the program waits for input, that is, when it has turned the echo off.
    func type(_ text: String, then action: @escaping @Sendable () -> Void = {}) {
      let typist = Thread { [self] in
        // There is no time limit: text that is typed too early is flushed and is not typed again.
        while echoes { usleep(2000) }
        let bytes = Array(text.utf8)
        _ = unsafe write(person, bytes, bytes.count)
        action()
      }
      typist.start()
    }
  }

  private func line(_ terminal: Terminal, limit: Int = 100) throws(SecretInputError) -> String {
    SignalTestLock.begin()
    defer { SignalTestLock.end() }
    let secret = try SecretInput.readLine(terminal: terminal.program, prompt: "Secret: ", limit: limit)
    return unsafe secret.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

  @Test func `a line is read without echo, and the terminal is restored`() throws {
    let terminal = try Terminal()
    #expect(terminal.echoes)
    terminal.type("pass wörd\n")
    #expect(try line(terminal) == "pass wörd")
    #expect(terminal.echoes)
    #expect(terminal.screen() == "Secret: \r\n")
  }

  @Test func `the erase and kill keys work on whole characters`() throws {
    let terminal = try Terminal()
    terminal.type("wrong\u{15}riö\u{7F}ght\n")
    #expect(try line(terminal) == "right")
  }

  @Test func `an empty line is an empty secret, and the end of input is an error`() throws {
    let terminal = try Terminal()
    terminal.type("\n")
    #expect(try line(terminal) == "")
    terminal.type("\u{4}")
    #expect(throws: SecretInputError.endOfInput) { try line(terminal) }
    #expect(terminal.echoes)
  }

  @Test func `a line as long as the limit is read, and a longer one is refused completely`()
    throws
  {
    let terminal = try Terminal()
    terminal.type("12345\n")
    #expect(try line(terminal, limit: 5) == "12345")
    for text in ["123456\n", "123456789\n"] {
      terminal.type(text)
      #expect(throws: SecretInputError.tooLong(limit: 5)) { try line(terminal, limit: 5) }
      #expect(terminal.echoes)
    }
    terminal.type("next\n")
    #expect(try line(terminal, limit: 5) == "next")
  }

  @Test func `a signal whose handler returns interrupts the read and restores the terminal`()
    throws
  {
    SignalTestLock.begin()
    defer { SignalTestLock.end() }
    let terminal = try Terminal()
    signal(SIGHUP) { _ in }
    defer { signal(SIGHUP, SIG_DFL) }
    // The threads that run tests block most signals.
    var hangup = sigset_t()
    var before = sigset_t()
    unsafe sigemptyset(&hangup)
    unsafe sigaddset(&hangup, SIGHUP)
    unsafe pthread_sigmask(SIG_UNBLOCK, &hangup, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    let reader = pthread_self()
    terminal.type("half") {
      usleep(20_000)
      pthread_kill(reader, SIGHUP)
    }
    #expect(throws: SecretInputError.interrupted) { try line(terminal) }
    #expect(terminal.echoes)
    #expect(!terminal.screen().contains("half"))
  }
}
