internal import FileSystem
internal import Glibc
package import Secrets
internal import Subprocess

/// A program that types text into the active window: wtype on Wayland, xdotool on X11.
package struct Typist {
  /// The reason why nothing can be typed.
  package enum Problem: Error, Equatable {
    /// There is neither a Wayland nor an X11 session.
    case noSession
    /// The program is not installed.
    case notInstalled(String)
    /// The text has several lines or control characters.
    case notOneLine
    /// The program failed.
    case failed(String)
  }

  private let program: String
  private let path: String
  private let arguments: [String]
  private let environment: Environment

  private static let patience = Duration.seconds(30)

  /// Finds the program for the session.
  ///
  /// - Throws: `noSession`; `notInstalled`.
  package init(_ environment: Environment) throws {
    if environment.text("WAYLAND_DISPLAY") != nil {
      (program, arguments) = ("wtype", ["-"])
    } else if environment.text("DISPLAY") != nil {
      (program, arguments) = ("xdotool", ["type", "--clearmodifiers", "--file", "-"])
    } else {
      throw Problem.noSession
    }
    guard let path = ProgramSearch.path(of: program, in: environment.searchPath) else {
      throw Problem.notInstalled(program)
    }
    self.path = path
    self.environment = environment
  }

  /// Types a text. The program receives it through a pipe.
  ///
  /// - Throws: `notOneLine`; `failed`.
  package func type(_ text: borrowing SecretBytes) throws {
    let isOneLine = unsafe text.withBytes { unsafe $0.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
    guard isOneLine else { throw Problem.notOneLine }
    var run = ProgramRun(
      path, arguments, environment: ProcessEnvironment(entries: environment.entries, locale: nil))
    run.output = .discarded
    run.errors = .discarded
    run.timeout = Self.patience
    guard let pipe = ClipboardPipe(holding: text) else { throw Problem.failed(program) }
    run.input = .descriptor(pipe.readEnd)
    do {
      guard try run.run().succeeded else { throw Problem.failed(program) }
    } catch is ProcessError {
      throw Problem.failed(program)
    }
  }
}
