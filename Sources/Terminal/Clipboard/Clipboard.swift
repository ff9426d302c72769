internal import Encoding
internal import FileSystem
internal import Glibc
package import Secrets
internal import Subprocess

/// The clipboard of the graphical session, accessed through the usual command-line programs.
///
/// It implements these rules (threat T32):
/// - A secret is passed to a program only through a pipe as its standard input, and is read back through a pipe.
/// - Programs are searched in absolute folders of `PATH`, and get at most a few seconds.
/// - Their standard output and error are discarded: they continue to run in the background and must not keep
///   descriptors of the caller open.
/// - wl-copy itself keeps the content in a file below /tmp, in a folder that only this user can enter. No option
///   changes that.
/// - If a program can mark the content as sensitive, it does, so that clipboard managers do not record it.
package struct Clipboard {
  /// A method of access to a clipboard.
  package enum Way: String, CaseIterable {
    /// wl-copy and wl-paste of wl-clipboard.
    case wayland
    case xclip
    case xsel
    /// Windows from within the Windows Subsystem for Linux: clip.exe, and PowerShell to read the clipboard.
    case windows

    /// The required programs.
    var programs: [String] {
      switch self {
      case .wayland: ["wl-copy", "wl-paste"]
      case .xclip: ["xclip"]
      case .xsel: ["xsel"]
      case .windows: ["clip.exe"]
      }
    }

    /// The variable that identifies the session.
    package var variable: String {
      switch self {
      case .wayland: "WAYLAND_DISPLAY"
      case .xclip, .xsel: "DISPLAY"
      case .windows: "WSL_DISTRO_NAME"
      }
    }
  }

  /// The method of access.
  package let way: Way
  /// The value of the variable that identifies the session.
  package let session: String
  private let environment: Environment

  /// The name that distinguishes sessions, for `ClipboardTurns`.
  package var turnSession: String { "\(way.variable)=\(session)" }

  /// The number of bytes that a pipe accepts without a reader; see `ClipboardPipe`.
  package static let limit = ClipboardPipe.capacity
  private static let patience = Duration.seconds(5)

  /// Finds the clipboard of the session: Wayland's first, then that of X11, then that of Windows.
  ///
  /// - Throws: `noSession`; `noProgram`.
  package init(_ environment: Environment) throws {
    let reachable = Way.allCases.filter { environment.text($0.variable) != nil }
    guard !reachable.isEmpty else { throw ClipboardError(.noSession, environment) }
    for way in reachable {
      guard let found = Clipboard(way, environment) else { continue }
      self = found
      return
    }
    // The error lists all programs, because a variable may be set without its session.
    throw ClipboardError(.noProgram(reachable), environment)
  }

  /// Returns the clipboards of the session, each with the first method that works.
  package static func all(_ environment: Environment) -> [Clipboard] {
    var sessions: Set<String> = []
    return Way.allCases.compactMap { way in
      guard let clipboard = Clipboard(way, environment) else { return nil }
      return sessions.insert(clipboard.turnSession).inserted ? clipboard : nil
    }
  }

  /// Creates the clipboard for one method, or returns nil if its session or its programs do not exist.
  package init?(_ way: Way, _ environment: Environment) {
    guard let session = environment.text(way.variable) else { return nil }
    for program in way.programs {
      guard ProgramSearch.path(of: program, in: environment.searchPath) != nil else { return nil }
    }
    (self.way, self.session, self.environment) = (way, session, environment)
  }

  /// Copies a secret to the clipboard, byte for byte.
  ///
  /// - Throws: `tooLong`; `notText`; `failed`; `timeout`.
  package func copy(_ secret: borrowing SecretBytes) throws {
    guard secret.count <= Self.limit else { throw ClipboardError(.tooLong(limit: Self.limit), environment) }
    switch way {
    case .wayland:
      let mark = isMarkKnown() ? ["--sensitive"] : []
      try run("wl-copy", mark + ["--type", "text/plain"], input: secret)
    case .xclip: try run("xclip", ["-selection", "clipboard", "-in"], input: secret)
    case .xsel: try run("xsel", ["--clipboard", "--input"], input: secret)
    case .windows:
      guard let text = WindowsText.encoded(secret) else { throw ClipboardError(.notText, environment) }
      try run("clip.exe", [], input: text)
    }
  }

  /// Returns the content of the clipboard, or nil if it is not text or cannot be read. Content longer than a secret can
  /// be is truncated.
  package func content() -> SecretBytes? {
    switch way {
    case .wayland: return read("wl-paste", ["--no-newline", "--type", "text/plain"])
    case .xclip: return read("xclip", ["-selection", "clipboard", "-out", "-target", "UTF8_STRING"])
    case .xsel: return read("xsel", ["--clipboard", "--output"])
    case .windows:
      let script =
        "[Console]::OutputEncoding=[Text.Encoding]::UTF8;[Console]::Out.Write((Get-Clipboard -Raw))"
      guard let text = read("powershell.exe", ["-NoProfile", "-NonInteractive", "-Command", script]) else {
        return nil
      }
      return WindowsText.withoutMark(text)
    }
  }

  /// True if the clipboard has content that is certainly not text, such as a picture.
  ///
  /// xclip and wl-paste exit with the same status for content without text and for failures. They are therefore asked
  /// for the available types.
  package var hasNoText: Bool {
    let kinds: [UInt8]?
    switch way {
    case .wayland: kinds = list("wl-paste", ["--list-types"])
    case .xclip: kinds = list("xclip", ["-selection", "clipboard", "-out", "-target", "TARGETS"])
    case .xsel, .windows: kinds = nil
    }
    guard let kinds, !kinds.isEmpty else { return false }
    let words = String(decoding: kinds, as: UTF8.self).uppercased()
    return !["TEXT", "STRING"].contains { words.contains(bytesOf: $0) }
  }

  /// True if the content of the clipboard can be read.
  package var isReadable: Bool {
    way != .windows || ProgramSearch.path(of: "powershell.exe", in: environment.searchPath) != nil
  }

  /// Empties the clipboard.
  ///
  /// - Throws: `failed`; `timeout`.
  package func clear() throws {
    let nothing = SecretBytes()
    switch way {
    case .wayland: try run("wl-copy", ["--clear"], input: nothing)
    case .xclip: try run("xclip", ["-selection", "clipboard", "-in"], input: nothing)
    case .xsel: try run("xsel", ["--clipboard", "--clear"], input: nothing)
    case .windows: try run("clip.exe", [], input: nothing)
    }
  }

  /// Returns true if wl-copy can mark content as sensitive, which version 2.3 introduced.
  private func isMarkKnown() -> Bool {
    ByteSearch.contains(list("wl-copy", ["--help"]) ?? [], Array("--sensitive".utf8))
  }

  /// Returns output of a program that is not the clipboard's content, or nil if the program fails.
  private func list(_ name: String, _ arguments: [String]) -> [UInt8]? {
    guard var program = program(name, arguments) else { return nil }
    program.output = .collected(limit: 1 << 16)
    guard let outcome = try? program.run(), outcome.succeeded else { return nil }
    return outcome.output
  }

  /// Returns a run of a program with the variables of this process, or nil if the program is not found.
  private func program(_ name: String, _ arguments: [String]) -> ProgramRun? {
    guard let path = ProgramSearch.path(of: name, in: environment.searchPath) else { return nil }
    let variables = ProcessEnvironment(entries: environment.entries, locale: nil)
    var run = ProgramRun(path, arguments, environment: variables)
    run.folder = "/"
    run.output = .discarded
    run.errors = .discarded
    run.timeout = Self.patience
    return run
  }

  private func run(
    _ name: String, _ arguments: [String], input: borrowing SecretBytes
  ) throws {
    let failure = ClipboardError(.failed(program: name, session: sessionForMessages), environment)
    guard var run = program(name, arguments), let pipe = ClipboardPipe(holding: input) else { throw failure }
    run.input = .descriptor(pipe.readEnd)
    guard let outcome = try? run.run() else { throw failure }
    if outcome.stop == .timeout {
      throw ClipboardError(.timeout(program: name, session: sessionForMessages), environment)
    }
    guard outcome.succeeded else { throw failure }
  }

  private func read(_ name: String, _ arguments: [String]) -> SecretBytes? {
    guard var run = program(name, arguments), let pipe = ClipboardPipe() else { return nil }
    run.output = .descriptor(pipe.writeEnd)
    guard let outcome = try? run.run() else { return nil }
    guard !outcome.succeeded else { return pipe.content() }
    // A program cannot end while it has more output than fits into the pipe.
    guard outcome.stop == .timeout, let beginning = pipe.content() else { return nil }
    guard beginning.count == ClipboardPipe.capacity else { return nil }
    return beginning
  }

  private var sessionForMessages: String? { way == .windows ? nil : session }
}
